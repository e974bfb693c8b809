"""A web API of one's own over Greenroom: every user has a workspace, and sees nothing of anybody else's.

The parameters of its paths have the client's own names, so that a request says of itself what it is about.
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import Body, Depends, FastAPI, Header, Request
from fastapi.responses import JSONResponse, StreamingResponse

import greenroom_client as greenroom


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    options = greenroom.ClientOptions(name="api", reconnect=greenroom.FOREVER)
    data_dir = os.environ.get("GREENROOM_DATA_DIR")
    async with greenroom.connect_to_daemon(data_dir, options=options) as app.state.client:
        yield


async def signed_in(request: Request, x_user: Annotated[str, Header()]) -> dict[str, Any]:
    return {**request.path_params, "workspace_id": f"user-{x_user}"}  # your sign-in stands here


app = FastAPI(lifespan=lifespan)
Mine = Annotated[dict[str, Any], Depends(signed_in)]
Key = Annotated[str, Header(alias="Idempotency-Key")]
Text = Annotated[str, Body(embed=True)]


@app.exception_handler(greenroom.ClientError)
async def refused(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, greenroom.GreenroomError):
        return JSONResponse({"code": "unavailable"}, 503)  # the same key again takes effect once
    status = 404 if error.code.endswith(".not_found") else 409
    return JSONResponse({"code": error.code, "message": error.message}, status)


@app.post("/sessions")
async def create(mine: Mine, key: Key) -> Any:
    return await app.state.client.session_create(**mine, agent_target_id="demo", client_submit_id=key)


@app.post("/sessions/{agent_session_id}/prompts")
async def send(mine: Mine, key: Key, text: Text) -> Any:
    return await app.state.client.session_send(**mine, client_submit_id=key, content=greenroom.prompt(text))


@app.get("/sessions/{agent_session_id}/turns/{turn_id}/stream")
async def stream(mine: Mine) -> StreamingResponse:
    await app.state.client.turn_get(**mine)
    return StreamingResponse(events(mine), media_type="text/event-stream")


async def events(mine: dict[str, Any]) -> AsyncIterator[str]:
    async with greenroom.stream_turn(app.state.client, **mine) as pieces:
        async for piece in pieces:
            if isinstance(piece, greenroom.TextPiece):
                yield f"event: text\ndata: {json.dumps(piece.text)}\n\n"
            elif isinstance(piece, greenroom.Asked):
                yield f"event: asked\ndata: {json.dumps(piece.interaction)}\n\n"
        yield f"event: end\ndata: {json.dumps(pieces.turn)}\n\n"


@app.get("/approvals")
async def approvals(mine: Mine) -> Any:
    return await app.state.client.interaction_list(**mine, status="pending")


@app.post("/sessions/{agent_session_id}/turns/{turn_id}/approvals/{request_id}")
async def approve(mine: Mine, option: Text) -> Any:
    return await app.state.client.interaction_respond(**mine, answer={"optionId": option})
