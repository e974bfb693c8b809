"""One typed call for each method. Generated from contract/greenroom.openrpc.json; do not edit.

A param that is left out, or None, is not sent: the server's default holds.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from greenroom_client.contract.models import (
    Answer,
    AttachmentGetReply,
    AttachmentPutReply,
    ClientSubmitId,
    ConversationsPlacement,
    DebugSessionReply,
    FaultInjectReply,
    FaultListReply,
    HealthReadReply,
    InitialGoalControl,
    InteractionListReply,
    InteractionReply,
    MessageId,
    MetricsReadReply,
    OperationReply,
    ProjectPlacement,
    PromptBlock,
    ProviderModelsReply,
    ProviderSkillsReply,
    ProviderStatusReply,
    ProviderUsageReply,
    RequestId,
    SessionCreateReply,
    SessionGetReply,
    SessionId,
    SessionListDeletedReply,
    SessionListReply,
    SessionMessagesReply,
    SessionPurgeReply,
    SessionReply,
    SessionSearchReply,
    SessionsReply,
    SideCapabilitiesReply,
    SideGetReply,
    SideListReply,
    SideReply,
    SurfaceAttachReply,
    SurfaceDisposeReply,
    TargetId,
    TargetListReply,
    TurnId,
    TurnListReply,
    TurnReply,
    VoidReply,
    WorkspaceId,
    WorkspaceListReply,
    WorktreeIsolation,
)

READ_METHODS = frozenset(
    [
        "attachment/get",
        "events/subscribe",
        "events/unsubscribe",
        "events/update",
        "health/read",
        "initialize",
        "interaction/list",
        "operation/get",
        "provider/models",
        "provider/skills",
        "provider/status",
        "provider/usage",
        "session/get",
        "session/list",
        "session/listDeleted",
        "session/messages",
        "session/search",
        "side/capabilities",
        "side/get",
        "side/list",
        "target/list",
        "turn/get",
        "turn/list",
        "workspace/list",
    ]
)
"""Methods that change nothing: asking again is always safe."""


class Methods(ABC):
    """The methods of the contract as calls; each raises what `request` raises."""

    @abstractmethod
    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """The result of one request."""

    async def session_create(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_target_id: TargetId,
        client_submit_id: ClientSubmitId,
        agent_session_id: SessionId | None = None,
        cwd: str | None = None,
        title: str | None = None,
        settings: Mapping[str, str | bool] | None = None,
        isolation: WorktreeIsolation | None = None,
        rail_placement: ConversationsPlacement | ProjectPlacement | None = None,
        initial_content: Sequence[PromptBlock] | None = None,
        initial_goal_control: InitialGoalControl | None = None,
    ) -> SessionCreateReply:
        """Create a session, with its first prompt or without.

        client_submit_id: Repeating it with equal params answers with the same session and creates nothing.
        agent_session_id: A name of the caller's choice; without it the server makes one.
        cwd: The working directory; without it the session gets one of its own.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        submit.conflict, session.exists, session.deleted, session.quarantined, session.cwd_missing,
        target.not_found, target.disabled, settings.invalid, capability.unsupported, isolation.refused,
        provider.timeout, request.too_large, attachment.unsupported, attachment.not_found, store.full,
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionCreateReply = await self.request(
            "session/create",
            _given(
                workspace_id=workspace_id,
                agent_target_id=agent_target_id,
                client_submit_id=client_submit_id,
                agent_session_id=agent_session_id,
                cwd=cwd,
                title=title,
                settings=settings,
                isolation=isolation,
                rail_placement=rail_placement,
                initial_content=initial_content,
                initial_goal_control=initial_goal_control,
            ),
        )
        return result

    async def session_get(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        projection: Literal["full", "summary"] | None = None,
    ) -> SessionGetReply:
        """Read a session, its newest turns and its pending interactions.

        projection: A summary has the session, its newest turn and what waits for an answer in its tree: no
        older turns, no children.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: SessionGetReply = await self.request(
            "session/get",
            _given(workspace_id=workspace_id, agent_session_id=agent_session_id, projection=projection),
        )
        return result

    async def session_list(
        self,
        *,
        workspace_id: WorkspaceId,
        cursor: str | None = None,
        limit: int | None = None,
        order: Literal["recent", "created"] | None = None,
        agent_target_id: TargetId | None = None,
        active: bool | None = None,
        pinned: bool | None = None,
    ) -> SessionListReply:
        """List the root sessions of a workspace.

        cursor: `nextCursor` of the page before; without it, the first page.
        order: By the start of the newest turn, or by creation; newest first.
        active: Only those with an unsettled turn, or only those without.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionListReply = await self.request(
            "session/list",
            _given(
                workspace_id=workspace_id,
                cursor=cursor,
                limit=limit,
                order=order,
                agent_target_id=agent_target_id,
                active=active,
                pinned=pinned,
            ),
        )
        return result

    async def session_messages(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        after_version: int | None = None,
        before_sequence: int | None = None,
        message_ids: Sequence[MessageId] | None = None,
        include_retracted: bool | None = None,
        limit: int | None = None,
    ) -> SessionMessagesReply:
        """Read messages of a session: what changed, a window, or by id.

        include_retracted: Also the messages of turns that were retracted.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: SessionMessagesReply = await self.request(
            "session/messages",
            _given(
                workspace_id=workspace_id,
                agent_session_id=agent_session_id,
                after_version=after_version,
                before_sequence=before_sequence,
                message_ids=message_ids,
                include_retracted=include_retracted,
                limit=limit,
            ),
        )
        return result

    async def session_send(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        client_submit_id: ClientSubmitId,
        content: Sequence[PromptBlock],
        display_prompt: str | None = None,
    ) -> TurnReply:
        """Start a turn with a prompt.

        display_prompt: What clients show in place of the content.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, store.full, capability.unsupported,
        session.busy, session.not_resumable, submit.conflict, request.too_large, attachment.unsupported,
        attachment.not_found, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: TurnReply = await self.request(
            "session/send",
            _given(
                workspace_id=workspace_id,
                agent_session_id=agent_session_id,
                client_submit_id=client_submit_id,
                content=content,
                display_prompt=display_prompt,
            ),
        )
        return result

    async def session_close(self, *, workspace_id: WorkspaceId, agent_session_id: SessionId) -> SessionReply:
        """End the session's runtime; a running turn first.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, store.full, capability.unsupported,
        provider.timeout, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionReply = await self.request(
            "session/close", _given(workspace_id=workspace_id, agent_session_id=agent_session_id)
        )
        return result

    async def session_resume(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId, mode: Literal["fresh"] | None = None
    ) -> SessionReply:
        """Make the session live now.

        mode: `fresh` starts an empty conversation where the provider lost the old one.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, session.busy, session.not_resumable,
        session.cwd_missing, target.not_found, target.disabled, capability.unsupported,
        provider.unavailable, provider.auth_required, provider.rejected, provider.timeout, provider.lost,
        provider.protocol, provider.model_unavailable, settings.invalid, store.full, request.invalid,
        auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded, store.unavailable,
        shutdown.in_progress, internal.
        """
        result: SessionReply = await self.request(
            "session/resume", _given(workspace_id=workspace_id, agent_session_id=agent_session_id, mode=mode)
        )
        return result

    async def session_rename(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId, title: str
    ) -> SessionReply:
        """Give a session a title of the user's, or take it away.

        title: Empty takes the title away: the provider may give one again.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, store.full, capability.unsupported,
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionReply = await self.request(
            "session/rename",
            _given(workspace_id=workspace_id, agent_session_id=agent_session_id, title=title),
        )
        return result

    async def session_pin(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId, pinned: bool
    ) -> SessionReply:
        """Keep a session at the top of lists, or no longer.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, store.full, capability.unsupported,
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionReply = await self.request(
            "session/pin", _given(workspace_id=workspace_id, agent_session_id=agent_session_id, pinned=pinned)
        )
        return result

    async def session_update_settings(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        settings: Mapping[str, str | bool | None],
    ) -> SessionReply:
        """Change settings of a session.

        settings: Null unsets: what holds then is up to the target and its agent.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, store.full, capability.unsupported,
        target.not_found, target.disabled, settings.invalid, settings.launch_only,
        provider.model_unavailable, provider.unavailable, provider.auth_required, provider.rejected,
        provider.timeout, provider.lost, provider.protocol, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: SessionReply = await self.request(
            "session/updateSettings",
            _given(workspace_id=workspace_id, agent_session_id=agent_session_id, settings=settings),
        )
        return result

    async def session_delete(
        self, *, workspace_id: WorkspaceId, agent_session_ids: Sequence[SessionId]
    ) -> SessionsReply:
        """Delete sessions with all below them; what runs in them is ended first.

        agent_session_ids: Naming one twice is naming it once.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.quarantined, capability.unsupported, store.full, session.not_found, provider.timeout,
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionsReply = await self.request(
            "session/delete", _given(workspace_id=workspace_id, agent_session_ids=agent_session_ids)
        )
        return result

    async def session_restore(
        self, *, workspace_id: WorkspaceId, agent_session_ids: Sequence[SessionId]
    ) -> SessionsReply:
        """Bring deleted sessions back, as they were.

        agent_session_ids: Naming one twice is naming it once.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.quarantined, capability.unsupported, store.full, session.not_found, provider.timeout,
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionsReply = await self.request(
            "session/restore", _given(workspace_id=workspace_id, agent_session_ids=agent_session_ids)
        )
        return result

    async def session_purge(
        self, *, workspace_id: WorkspaceId, agent_session_ids: Sequence[SessionId]
    ) -> SessionPurgeReply:
        """Take deleted sessions away for good.

        agent_session_ids: Naming one twice is naming it once.

        Needs a token of scope `admin`. Raises `GreenroomError` with one of:
        session.quarantined, capability.unsupported, store.full, session.exists, provider.timeout,
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionPurgeReply = await self.request(
            "session/purge", _given(workspace_id=workspace_id, agent_session_ids=agent_session_ids)
        )
        return result

    async def session_search(
        self, *, workspace_id: WorkspaceId, query: str, cursor: str | None = None, limit: int | None = None
    ) -> SessionSearchReply:
        """Find sessions by words of their titles, prompts and answers.

        cursor: `nextCursor` of the page before; without it, the first page.
        query: Words as a person types them; one of three letters or more finds what begins with it. There
        is no syntax.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionSearchReply = await self.request(
            "session/search", _given(workspace_id=workspace_id, query=query, cursor=cursor, limit=limit)
        )
        return result

    async def session_list_deleted(
        self,
        *,
        workspace_id: WorkspaceId,
        cursor: str | None = None,
        limit: int | None = None,
        agent_session_ids: Sequence[SessionId] | None = None,
        title: str | None = None,
        rail_placement: ConversationsPlacement | ProjectPlacement | None = None,
    ) -> SessionListDeletedReply:
        """List the deleted sessions of a workspace.

        cursor: `nextCursor` of the page before; without it, the first page.
        agent_session_ids: Only these.
        title: Only those whose title has these words as they stand, in any case.
        rail_placement: Only those of this project, or of none. The project need not be there any more.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SessionListDeletedReply = await self.request(
            "session/listDeleted",
            _given(
                workspace_id=workspace_id,
                cursor=cursor,
                limit=limit,
                agent_session_ids=agent_session_ids,
                title=title,
                rail_placement=rail_placement,
            ),
        )
        return result

    async def turn_get(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId, turn_id: TurnId
    ) -> TurnReply:
        """Read one turn.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, turn.not_found, request.invalid,
        auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded, store.unavailable,
        shutdown.in_progress, internal.
        """
        result: TurnReply = await self.request(
            "turn/get", _given(workspace_id=workspace_id, agent_session_id=agent_session_id, turn_id=turn_id)
        )
        return result

    async def turn_list(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> TurnListReply:
        """List the turns of a session, newest first.

        cursor: `nextCursor` of the page before; without it, the first page.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: TurnListReply = await self.request(
            "turn/list",
            _given(workspace_id=workspace_id, agent_session_id=agent_session_id, cursor=cursor, limit=limit),
        )
        return result

    async def turn_guide(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        turn_id: TurnId,
        client_submit_id: ClientSubmitId,
        content: Sequence[PromptBlock],
    ) -> TurnReply:
        """Say more within exactly this turn.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, store.full, capability.unsupported,
        turn.not_found, turn.settled, turn.mismatch, submit.conflict, submit.delivery_unknown,
        provider.rejected, request.too_large, attachment.unsupported, attachment.not_found, request.invalid,
        auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded, store.unavailable,
        shutdown.in_progress, internal.
        """
        result: TurnReply = await self.request(
            "turn/guide",
            _given(
                workspace_id=workspace_id,
                agent_session_id=agent_session_id,
                turn_id=turn_id,
                client_submit_id=client_submit_id,
                content=content,
            ),
        )
        return result

    async def turn_cancel(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId, turn_id: TurnId
    ) -> TurnReply:
        """Stop exactly this turn.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, turn.not_found, capability.unsupported,
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: TurnReply = await self.request(
            "turn/cancel",
            _given(workspace_id=workspace_id, agent_session_id=agent_session_id, turn_id=turn_id),
        )
        return result

    async def operation_get(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId, operation_id: ClientSubmitId
    ) -> OperationReply:
        """Read one durable operation.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, operation.not_found, request.invalid,
        auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded, store.unavailable,
        shutdown.in_progress, internal.
        """
        result: OperationReply = await self.request(
            "operation/get",
            _given(workspace_id=workspace_id, agent_session_id=agent_session_id, operation_id=operation_id),
        )
        return result

    async def interaction_respond(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        turn_id: TurnId,
        request_id: RequestId,
        answer: Answer,
    ) -> InteractionReply:
        """Answer a pending interaction.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, turn.not_found, interaction.not_found,
        interaction.not_pending, interaction.unsupported_answer, provider.rejected, provider.timeout,
        provider.lost, session.busy, session.not_resumable, target.not_found, target.disabled,
        settings.invalid, store.full, request.invalid, auth.forbidden, protocol.uninitialized,
        limit.exceeded, overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: InteractionReply = await self.request(
            "interaction/respond",
            _given(
                workspace_id=workspace_id,
                agent_session_id=agent_session_id,
                turn_id=turn_id,
                request_id=request_id,
                answer=answer,
            ),
        )
        return result

    async def interaction_list(
        self,
        *,
        workspace_id: WorkspaceId,
        cursor: str | None = None,
        limit: int | None = None,
        status: Literal["pending", "answered", "superseded"] | None = None,
    ) -> InteractionListReply:
        """List the interactions of a workspace.

        cursor: `nextCursor` of the page before; without it, the first page.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: InteractionListReply = await self.request(
            "interaction/list", _given(workspace_id=workspace_id, cursor=cursor, limit=limit, status=status)
        )
        return result

    async def side_capabilities(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId
    ) -> SideCapabilitiesReply:
        """Say whether a Side of this session can be opened.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: SideCapabilitiesReply = await self.request(
            "side/capabilities", _given(workspace_id=workspace_id, agent_session_id=agent_session_id)
        )
        return result

    async def side_open(
        self,
        *,
        workspace_id: WorkspaceId,
        agent_session_id: SessionId,
        side_agent_session_id: SessionId,
        surface_id: str,
        instructions: str | None = None,
    ) -> SideReply:
        """Fork a live conversation into one that is never stored.

        side_agent_session_id: A name of the caller's choice, that no session and no other Side has.
        surface_id: The place in the client that shows it; it ends with that place.
        instructions: What its agent is to keep to, beside the rules every Side has.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        session.not_found, session.deleted, session.quarantined, side.exists, side.expired,
        capability.unsupported, session.cwd_missing, target.not_found, target.disabled, settings.invalid,
        provider.model_unavailable, provider.unavailable, provider.auth_required, provider.rejected,
        provider.timeout, provider.lost, provider.protocol, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: SideReply = await self.request(
            "side/open",
            _given(
                workspace_id=workspace_id,
                agent_session_id=agent_session_id,
                side_agent_session_id=side_agent_session_id,
                surface_id=surface_id,
                instructions=instructions,
            ),
        )
        return result

    async def side_send(
        self,
        *,
        workspace_id: WorkspaceId,
        side_agent_session_id: SessionId,
        client_submit_id: ClientSubmitId,
        content: Sequence[PromptBlock],
    ) -> TurnReply:
        """Start a turn of a Side.

        client_submit_id: Repeating it answers with the same turn as long as the Side lives; it binds
        nothing outside of it.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        side.not_found, side.expired, session.busy, submit.conflict, request.too_large,
        attachment.unsupported, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: TurnReply = await self.request(
            "side/send",
            _given(
                workspace_id=workspace_id,
                side_agent_session_id=side_agent_session_id,
                client_submit_id=client_submit_id,
                content=content,
            ),
        )
        return result

    async def side_cancel(
        self, *, workspace_id: WorkspaceId, side_agent_session_id: SessionId, turn_id: TurnId
    ) -> TurnReply:
        """Stop exactly this turn of a Side.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        side.not_found, side.expired, turn.not_found, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: TurnReply = await self.request(
            "side/cancel",
            _given(workspace_id=workspace_id, side_agent_session_id=side_agent_session_id, turn_id=turn_id),
        )
        return result

    async def side_respond(
        self,
        *,
        workspace_id: WorkspaceId,
        side_agent_session_id: SessionId,
        turn_id: TurnId,
        request_id: RequestId,
        answer: Answer,
    ) -> InteractionReply:
        """Answer a pending interaction of a Side.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        side.not_found, side.expired, interaction.not_found, interaction.not_pending,
        interaction.unsupported_answer, provider.rejected, provider.timeout, provider.lost, request.invalid,
        auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded, store.unavailable,
        shutdown.in_progress, internal.
        """
        result: InteractionReply = await self.request(
            "side/respond",
            _given(
                workspace_id=workspace_id,
                side_agent_session_id=side_agent_session_id,
                turn_id=turn_id,
                request_id=request_id,
                answer=answer,
            ),
        )
        return result

    async def side_close(self, *, workspace_id: WorkspaceId, side_agent_session_id: SessionId) -> SideReply:
        """End a Side; its source goes on.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        side.not_found, side.expired, provider.timeout, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: SideReply = await self.request(
            "side/close", _given(workspace_id=workspace_id, side_agent_session_id=side_agent_session_id)
        )
        return result

    async def side_get(self, *, workspace_id: WorkspaceId, side_agent_session_id: SessionId) -> SideGetReply:
        """Read a Side.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        side.not_found, side.expired, request.invalid, auth.forbidden, protocol.uninitialized,
        limit.exceeded, overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: SideGetReply = await self.request(
            "side/get", _given(workspace_id=workspace_id, side_agent_session_id=side_agent_session_id)
        )
        return result

    async def side_list(
        self,
        *,
        workspace_id: WorkspaceId,
        cursor: str | None = None,
        limit: int | None = None,
        agent_session_id: SessionId | None = None,
    ) -> SideListReply:
        """List the open Sides of a workspace.

        cursor: `nextCursor` of the page before; without it, the first page.
        agent_session_id: Only those forked from this session.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SideListReply = await self.request(
            "side/list",
            _given(workspace_id=workspace_id, cursor=cursor, limit=limit, agent_session_id=agent_session_id),
        )
        return result

    async def surface_dispose(self, *, workspace_id: WorkspaceId, surface_id: str) -> SurfaceDisposeReply:
        """Close the Sides shown in a place of this client.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        provider.timeout, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: SurfaceDisposeReply = await self.request(
            "surface/dispose", _given(workspace_id=workspace_id, surface_id=surface_id)
        )
        return result

    async def surface_attach(self, *, workspace_id: WorkspaceId, surface_id: str) -> SurfaceAttachReply:
        """Take over the Sides shown in a place.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: SurfaceAttachReply = await self.request(
            "surface/attach", _given(workspace_id=workspace_id, surface_id=surface_id)
        )
        return result

    async def attachment_put(
        self, *, workspace_id: WorkspaceId, media_type: str, data: str
    ) -> AttachmentPutReply:
        """Store a picture that prompts can show.

        media_type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        data: Base64, with its padding.

        Needs a token of scope `control`. Raises `GreenroomError` with one of:
        request.too_large, attachment.unsupported, store.full, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: AttachmentPutReply = await self.request(
            "attachment/put", _given(workspace_id=workspace_id, media_type=media_type, data=data)
        )
        return result

    async def attachment_get(
        self, *, workspace_id: WorkspaceId, attachment_id: str, agent_session_id: SessionId | None = None
    ) -> AttachmentGetReply:
        """Read a picture.

        agent_session_id: Only if this session shows it.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        attachment.not_found, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: AttachmentGetReply = await self.request(
            "attachment/get",
            _given(workspace_id=workspace_id, attachment_id=attachment_id, agent_session_id=agent_session_id),
        )
        return result

    async def health_read(self) -> HealthReadReply:
        """Read how the service is.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: HealthReadReply = await self.request("health/read", _given())
        return result

    async def metrics_read(self) -> MetricsReadReply:
        """Read the figures of the service.

        Needs a token of scope `admin`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: MetricsReadReply = await self.request("metrics/read", _given())
        return result

    async def debug_session(
        self, *, workspace_id: WorkspaceId, agent_session_id: SessionId
    ) -> DebugSessionReply:
        """Look into one session.

        Needs a token of scope `admin`. Raises `GreenroomError` with one of:
        session.not_found, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: DebugSessionReply = await self.request(
            "debug/session", _given(workspace_id=workspace_id, agent_session_id=agent_session_id)
        )
        return result

    async def fault_inject(
        self,
        *,
        name: str,
        action: Literal["kill", "exit", "raise", "delay", "pause"],
        on_pass: int | None = None,
        probability: float | None = None,
        delay_ms: int | None = None,
    ) -> FaultInjectReply:
        """Put a fault at a failpoint, for tests.

        action: kill: the daemon gets SIGKILL. exit: it ends at once. raise: the error that can happen
        there. delay: it takes so long. pause: it waits until the failpoint is cleared or armed anew.
        on_pass: Only the pass of this number, counted from now.
        probability: Above 0 and at most 1; each pass is drawn anew. Without it, each pass.
        delay_ms: Of a delay, and of nothing else.

        Needs a token of scope `admin`. Raises `GreenroomError` with one of:
        capability.unsupported, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: FaultInjectReply = await self.request(
            "fault/inject",
            _given(name=name, action=action, on_pass=on_pass, probability=probability, delay_ms=delay_ms),
        )
        return result

    async def fault_list(self, *, cursor: str | None = None, limit: int | None = None) -> FaultListReply:
        """List the failpoints, armed or not, and how often each was passed.

        cursor: `nextCursor` of the page before; without it, the first page.

        Needs a token of scope `admin`. Raises `GreenroomError` with one of:
        capability.unsupported, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: FaultListReply = await self.request("fault/list", _given(cursor=cursor, limit=limit))
        return result

    async def fault_clear(self, *, name: str | None = None) -> VoidReply:
        """Disarm one failpoint or all; whoever is paused there goes on.

        Needs a token of scope `admin`. Raises `GreenroomError` with one of:
        capability.unsupported, request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded,
        overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: VoidReply = await self.request("fault/clear", _given(name=name))
        return result

    async def target_list(self, *, cursor: str | None = None, limit: int | None = None) -> TargetListReply:
        """List the agents that can be talked to.

        cursor: `nextCursor` of the page before; without it, the first page.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: TargetListReply = await self.request("target/list", _given(cursor=cursor, limit=limit))
        return result

    async def provider_status(
        self, *, agent_target_id: TargetId, refresh: bool | None = None
    ) -> ProviderStatusReply:
        """Read how an agent's program and sign-in stand.

        refresh: Ask the agent now, and wait for it; one that is being asked already is waited for. Needs an
        `admin` token.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        target.not_found, target.disabled, request.invalid, auth.forbidden, protocol.uninitialized,
        limit.exceeded, overloaded, store.unavailable, shutdown.in_progress, internal.
        """
        result: ProviderStatusReply = await self.request(
            "provider/status", _given(agent_target_id=agent_target_id, refresh=refresh)
        )
        return result

    async def provider_models(
        self, *, agent_target_id: TargetId, refresh: bool | None = None
    ) -> ProviderModelsReply:
        """Read the models an agent offers.

        refresh: Ask the agent now, and wait for it; one that is being asked already is waited for. Needs an
        `admin` token.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        target.not_found, target.disabled, provider.unavailable, provider.auth_required, provider.rejected,
        provider.timeout, provider.lost, provider.protocol, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: ProviderModelsReply = await self.request(
            "provider/models", _given(agent_target_id=agent_target_id, refresh=refresh)
        )
        return result

    async def provider_skills(
        self, *, agent_target_id: TargetId, refresh: bool | None = None
    ) -> ProviderSkillsReply:
        """Read the skills an agent's prompts can call for.

        refresh: Ask the agent now, and wait for it; one that is being asked already is waited for. Needs an
        `admin` token.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        target.not_found, target.disabled, provider.unavailable, provider.auth_required, provider.rejected,
        provider.timeout, provider.lost, provider.protocol, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: ProviderSkillsReply = await self.request(
            "provider/skills", _given(agent_target_id=agent_target_id, refresh=refresh)
        )
        return result

    async def provider_usage(
        self, *, agent_target_id: TargetId, refresh: bool | None = None
    ) -> ProviderUsageReply:
        """Read what is left of an agent's account.

        refresh: Ask the agent now, and wait for it; one that is being asked already is waited for. Needs an
        `admin` token.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        target.not_found, target.disabled, provider.unavailable, provider.auth_required, provider.rejected,
        provider.timeout, provider.lost, provider.protocol, request.invalid, auth.forbidden,
        protocol.uninitialized, limit.exceeded, overloaded, store.unavailable, shutdown.in_progress,
        internal.
        """
        result: ProviderUsageReply = await self.request(
            "provider/usage", _given(agent_target_id=agent_target_id, refresh=refresh)
        )
        return result

    async def workspace_list(
        self, *, cursor: str | None = None, limit: int | None = None
    ) -> WorkspaceListReply:
        """List the workspaces that hold sessions.

        cursor: `nextCursor` of the page before; without it, the first page.

        Needs a token of scope `read`. Raises `GreenroomError` with one of:
        request.invalid, auth.forbidden, protocol.uninitialized, limit.exceeded, overloaded,
        store.unavailable, shutdown.in_progress, internal.
        """
        result: WorkspaceListReply = await self.request("workspace/list", _given(cursor=cursor, limit=limit))
        return result


def _given(**params: Any) -> dict[str, Any]:
    """The params that were given, by their names on the wire."""
    return {_wire_name(name): value for name, value in params.items() if value is not None}


def _wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
