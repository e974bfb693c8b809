"""Subscriptions: the reply precedes the events, replay meets live without a hole, all in one step (FC-14)."""

from typing import Literal

import attrs

from runtime.api.requests_context import Handled, Request
from runtime.api.subscription import Subscription, SubscriptionFilter
from runtime.refusal import Refusal
from runtime.wire import replies, requests
from store.canonical.identifiers import SessionId

ANY_WORKSPACE = "*"
ACTIVITY_TOPIC = "agent.activity.updated"
SIDE_TOPIC = "agent.side.updated"
HOST_TOPIC = "host.updated"


def subscribe(request: Request[requests.EventsSubscribeParams]) -> Handled:
    """`events/subscribe`: everything after `afterCommitSeq` once and in order, or an explicit gap."""
    params, services, client = request.params, request.services, request.client
    if params.workspace_id == ANY_WORKSPACE and client.principal.workspaces is not None:
        return Refusal("auth.forbidden")
    if len(client.subscriptions) >= services.limits.max_subscriptions_per_connection:
        return Refusal("limit.exceeded", details={"limit": "maxSubscriptionsPerConnection"})
    head = services.writer.head_commit_seq
    gap = _gap(request, head)
    replays = params.after_commit_seq is not None and not gap
    subscription = Subscription(
        subscription_id=client.next_subscription_id(),
        workspace_id=params.workspace_id,
        filter=_filter(params),
        queue=client.queue,
        reader=services.reader,
        tails=services.tails,
        figures=services.hub.figures,
        frame_bytes_max=services.limits.max_server_frame_bytes,
        cursor=params.after_commit_seq if replays and params.after_commit_seq is not None else head,
    )
    client.subscriptions[subscription.subscription_id] = subscription
    request.sink.reply(
        replies.EventsSubscribeReply(subscription_id=subscription.subscription_id, commit_seq=head, gap=gap)
    )
    if HOST_TOPIC in params.topics:
        services.hub.add_of_host(subscription)
    if SIDE_TOPIC in params.topics:
        services.hub.add_of_sides(subscription)
    if ACTIVITY_TOPIC in params.topics:
        services.hub.add(subscription)
        subscription.begin(head)
    return None


def update(request: Request[requests.EventsUpdateParams]) -> Handled:
    """`events/update`: what follows the reply is of the new scope; nothing of what stays in scope is lost."""
    params = request.params
    subscription = request.client.subscriptions.get(params.subscription_id)
    if subscription is None:
        problem = {"path": "params.subscriptionId", "problem": "is no subscription of this connection"}
        return Refusal("request.invalid", details=problem)
    request.sink.reply(replies.VoidReply(commit_seq=request.services.writer.head_commit_seq))
    subscription.change(_changed(subscription.filter, params))
    return None


def unsubscribe(request: Request[requests.EventsUnsubscribeParams]) -> Handled:
    """`events/unsubscribe`: nothing of it comes after the reply; an unknown one is gone already."""
    subscription = request.client.subscriptions.pop(request.params.subscription_id, None)
    if subscription is not None:
        request.services.hub.remove(subscription)
    request.sink.reply(replies.VoidReply(commit_seq=request.services.writer.head_commit_seq))
    return None


def _gap(request: Request[requests.EventsSubscribeParams], head: int) -> bool:
    """Whether what came after the client's number cannot be replayed from this store."""
    after = request.params.after_commit_seq
    if after is None:
        return False
    reader = request.services.reader
    other_store = request.params.store_id is not None and request.params.store_id != reader.store_id()
    return other_store or after > head or not reader.log_reaches(after)


def _filter(params: requests.EventsSubscribeParams) -> SubscriptionFilter:
    sessions = None if params.agent_session_ids is None else frozenset(params.agent_session_ids)
    return _with_deltas(SubscriptionFilter(sessions), params.deltas)


def _changed(before: SubscriptionFilter, params: requests.EventsUpdateParams) -> SubscriptionFilter:
    after = before
    if params.agent_session_ids is not None:
        named = params.agent_session_ids
        after = attrs.evolve(after, sessions=None if named == "all" else frozenset(named))
    return after if params.deltas is None else _with_deltas(after, params.deltas)


def _with_deltas(
    scope: SubscriptionFilter, deltas: Literal["all", "none"] | tuple[SessionId, ...]
) -> SubscriptionFilter:
    named = frozenset(deltas) if isinstance(deltas, tuple) else frozenset()
    return attrs.evolve(scope, deltas_all=deltas == "all", delta_sessions=named)
