"""A web API of one's own over Greenroom: every user has a workspace, and sees nothing of anybody else's."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, NamedTuple

from fastapi import Body, Depends, FastAPI, Header, Request
from fastapi.responses import JSONResponse, StreamingResponse

import greenroom_client as greenroom


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    options = greenroom.ClientOptions(name="api", reconnect=greenroom.FOREVER)
    async with greenroom.connect_to_daemon(os.environ.get("GREENROOM_DATA_DIR"), options=options) as client:
        app.state.client = client
        yield


class User(NamedTuple):
    client: greenroom.Client
    workspace: str


async def signed_in(request: Request, x_user: Annotated[str, Header()]) -> User:
    return User(request.app.state.client, f"user-{x_user}")  # your sign-in stands here


app = FastAPI(lifespan=lifespan)
Me = Annotated[User, Depends(signed_in)]
Key = Annotated[str, Header(alias="Idempotency-Key")]
Text = Annotated[str, Body(embed=True)]


@app.exception_handler(greenroom.ClientError)
async def refused(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, greenroom.GreenroomError):
        return JSONResponse(
            {"code": "unavailable"}, 503
        )  # asked again with the same key, it takes effect once
    status = 404 if error.code.endswith(".not_found") else 409
    return JSONResponse({"code": error.code, "message": error.message}, status)


@app.post("/sessions")
async def create(me: Me, key: Key) -> Any:
    return await me.client.session_create(
        workspace_id=me.workspace, agent_target_id="demo", client_submit_id=key
    )


@app.post("/sessions/{session}/prompts")
async def send(me: Me, session: str, key: Key, text: Text) -> Any:
    content = greenroom.prompt(text)
    return await me.client.session_send(
        workspace_id=me.workspace, agent_session_id=session, client_submit_id=key, content=content
    )


@app.get("/sessions/{session}/turns/{turn}/stream")
async def stream(me: Me, session: str, turn: str) -> StreamingResponse:
    await me.client.turn_get(workspace_id=me.workspace, agent_session_id=session, turn_id=turn)
    return StreamingResponse(events(me, session, turn), media_type="text/event-stream")


async def events(me: User, session: str, turn: str) -> AsyncIterator[str]:
    async with greenroom.stream_turn(
        me.client, workspace_id=me.workspace, agent_session_id=session, turn_id=turn
    ) as pieces:
        async for piece in pieces:
            if isinstance(piece, greenroom.TextPiece):
                yield f"event: text\ndata: {json.dumps(piece.text)}\n\n"
            elif isinstance(piece, greenroom.Asked):
                yield f"event: asked\ndata: {json.dumps(piece.interaction)}\n\n"
        yield f"event: end\ndata: {json.dumps(pieces.turn)}\n\n"


@app.get("/approvals")
async def approvals(me: Me) -> Any:
    return await me.client.interaction_list(workspace_id=me.workspace, status="pending")


@app.post("/sessions/{session}/turns/{turn}/approvals/{asked}")
async def approve(me: Me, session: str, turn: str, asked: str, option: Text) -> Any:
    return await me.client.interaction_respond(
        workspace_id=me.workspace,
        agent_session_id=session,
        turn_id=turn,
        request_id=asked,
        answer={"optionId": option},
    )
