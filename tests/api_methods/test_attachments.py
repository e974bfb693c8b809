"""`attachment/put` and `attachment/get`, and prompts that show what was put."""

import json
from base64 import b64encode
from typing import Any

import pytest

from tests.end_to_end.client import Client, connected
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import Connect, MakeDaemon, token_of
from tests.end_to_end.talk import start, text

PICTURE = b"\x89PNG\r\n\x1a\n and the rest of a picture"
BASE64 = b64encode(PICTURE).decode()


async def put(client: Client, workspace: str, data: bytes = PICTURE, kind: str = "image/png") -> Any:
    """Put a picture; the image block that shows it."""
    reply = await client.request(
        "attachment/put", workspaceId=workspace, mediaType=kind, data=b64encode(data).decode()
    )
    return {"type": "image", **{name: reply[name] for name in ("mediaType", "bytes", "attachmentId")}}


def told(daemon: Daemon, target: str) -> list[Any]:
    """The blocks of each prompt that agents of a target were told."""
    lines = (daemon.folder / f"{target}.jsonl").read_text().splitlines()
    frames = [json.loads(line) for line in lines]
    return [frame["params"]["prompt"] for frame in frames if frame.get("method") == "session/prompt"]


async def test_what_was_put_is_got_and_equal_content_is_stored_once(client: Client, workspace: str) -> None:
    image = await put(client, workspace)
    assert (image["mediaType"], image["bytes"]) == ("image/png", len(PICTURE))
    got = await client.request("attachment/get", workspaceId=workspace, attachmentId=image["attachmentId"])
    assert {**got, "commitSeq": 0} == {
        "attachmentId": image["attachmentId"],
        "mediaType": "image/png",
        "bytes": len(PICTURE),
        "data": BASE64,
        "commitSeq": 0,
    }
    assert await put(client, workspace) == image
    assert await put(client, workspace, PICTURE + b".") != image
    assert await put(client, f"{workspace}-x") != image


async def test_an_agent_is_shown_the_picture_and_the_row_holds_its_name_alone(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    image = await put(client, workspace, b"a picture of its own")
    talk = await start(client, workspace, "[[say hello]]", target="logged")
    await client.settled(talk.turn)
    sent = await client.request(
        "session/send", **talk.key, clientSubmitId="see", content=[*text("[[say I see]]"), image]
    )
    assert (await client.settled(sent["turn"]))["outcome"] == "completed"
    prompt = (await talk.messages())[-2]
    assert prompt["content"] == [*text("[[say I see]]"), image]
    data = b64encode(b"a picture of its own").decode()
    assert told(daemon, "logged")[-1][1] == {"type": "image", "mimeType": "image/png", "data": data}
    assert not any(data in json.dumps(event) for event in client.events())


async def test_a_first_prompt_shows_pictures_too(client: Client, workspace: str, daemon: Daemon) -> None:
    image = await put(client, workspace, b"the very first picture", "image/webp")
    created = await client.request(
        "session/create",
        workspaceId=workspace,
        agentTargetId="logged",
        clientSubmitId="create",
        initialContent=[image],
    )
    await client.settled(created["turn"])
    assert [block["mimeType"] for block in told(daemon, "logged")[-1]] == ["image/webp"]
    again = await client.request(
        "session/create",
        workspaceId=workspace,
        agentTargetId="logged",
        clientSubmitId="create",
        initialContent=[image],
    )
    assert again["turn"]["turnId"] == created["turn"]["turnId"]


async def test_an_agent_that_takes_no_pictures_gets_none_and_the_prompt_is_not_sent_without(
    client: Client, workspace: str, daemon: Daemon
) -> None:
    image = await put(client, workspace)
    talk = await start(client, workspace, target="blind")
    content = [*text("[[say blind]]"), image]
    # Before it was ever asked nobody knows: the turn tells, and from then on the command does.
    sent = await client.request("session/send", **talk.key, clientSubmitId="one", content=content)
    settled = await client.settled(sent["turn"])
    assert (settled["outcome"], settled["delivery"]) == ("failed", "rejected")
    assert settled["error"]["code"] == "attachment.unsupported"
    refused = await client.refused("session/send", **talk.key, clientSubmitId="two", content=content)
    assert refused["code"] == "attachment.unsupported"
    assert told(daemon, "blind") == []
    assert (await talk.say("[[say words]]"))["outcome"] == "completed"


@pytest.mark.rule("RT-137")
async def test_another_workspace_or_session_does_not_find_it(client: Client, workspace: str) -> None:
    image = await put(client, workspace, b"somebody's picture")
    name = image["attachmentId"]
    talk, other = await start(client, workspace), await start(client, workspace)
    named = {"workspaceId": workspace, "attachmentId": name}
    for params in (
        {"workspaceId": f"{workspace}-x", "attachmentId": name},
        {**named, "agentSessionId": talk.session_id},
        {**named, "attachmentId": "unknown"},
    ):
        assert (await client.refused("attachment/get", **params))["code"] == "attachment.not_found"
    sent = await client.request("session/send", **talk.key, clientSubmitId="one", content=[image])
    await client.settled(sent["turn"])
    got = await client.request("attachment/get", **named, agentSessionId=talk.session_id)
    assert got["bytes"] == image["bytes"]
    refused = await client.refused("attachment/get", **named, agentSessionId=other.session_id)
    assert refused["code"] == "attachment.not_found"
    elsewhere = await start(client, f"{workspace}-x")
    refused = await client.refused("session/send", **elsewhere.key, clientSubmitId="one", content=[image])
    assert (refused["code"], refused["details"]) == ("attachment.not_found", {"attachmentId": name})
    assert (await client.request("turn/list", **elsewhere.key))["items"] == []


async def test_a_block_other_than_what_was_put_is_refused(client: Client, workspace: str) -> None:
    image = await put(client, workspace)
    talk = await start(client, workspace)
    for change in ({"bytes": 1}, {"mediaType": "image/gif"}):
        refused = await client.refused(
            "session/send", **talk.key, clientSubmitId="one", content=[*text("see"), {**image, **change}]
        )
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.content[1]")


async def test_a_prompt_shows_no_more_than_the_limit_says(client: Client, workspace: str) -> None:
    image = await put(client, workspace)
    talk = await start(client, workspace)
    refused = await client.refused("session/send", **talk.key, clientSubmitId="one", content=[image] * 9)
    assert (refused["code"], refused["details"]) == ("limit.exceeded", {"limit": "maxAttachmentsPerPrompt"})
    sent = await client.request("session/send", **talk.key, clientSubmitId="one", content=[image] * 8)
    assert (await client.settled(sent["turn"]))["outcome"] == "completed"


async def test_what_cannot_be_stored_is_refused(client: Client, connect: Connect, workspace: str) -> None:
    put_it = {"workspaceId": workspace, "mediaType": "image/png", "data": BASE64}
    for kind in ("image/svg+xml", "text/plain", "IMAGE/PNG"):
        refused = await client.refused("attachment/put", **{**put_it, "mediaType": kind})
        assert refused["code"] == "attachment.unsupported"
    for data in ("", "no base64!", BASE64[:-1], f" {BASE64}", "ü"):
        refused = await client.refused("attachment/put", **{**put_it, "data": data})
        assert (refused["code"], refused["details"]["path"]) == ("request.invalid", "params.data")
    for name in ("reader", "tenant"):
        async with connect(token=token_of(name)) as other:
            assert (await other.refused("attachment/put", **put_it))["code"] == "auth.forbidden"
    refused = await client.refused("attachment/get", workspaceId=workspace)
    assert refused["code"] == "request.invalid"


async def test_one_of_the_largest_size_goes_both_ways_and_a_larger_one_does_not(
    client: Client, workspace: str
) -> None:
    largest = bytes(10 * 1024 * 1024)
    image = await put(client, workspace, largest)
    got = await client.request("attachment/get", workspaceId=workspace, attachmentId=image["attachmentId"])
    assert got["data"] == b64encode(largest).decode()
    data = b64encode(largest + b".").decode()
    refused = await client.refused("attachment/put", workspaceId=workspace, mediaType="image/png", data=data)
    assert (refused["code"], refused["details"]) == ("request.too_large", {"limit": "maxAttachmentBytes"})


async def test_too_much_that_no_prompt_shows_is_refused_until_some_is_used(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon({"limits": {"maxUnusedAttachmentBytes": 100}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        image = await put(client, "w", bytes(80))
        data = b64encode(b"x" * 30).decode()
        more = {"workspaceId": "w", "mediaType": "image/png", "data": data}
        refused = await client.refused("attachment/put", **more)
        assert (refused["code"], refused["details"]) == (
            "limit.exceeded",
            {"limit": "maxUnusedAttachmentBytes"},
        )
        talk = await start(client, "w")
        sent = await client.request("session/send", **talk.key, clientSubmitId="one", content=[image])
        await client.settled(sent["turn"])
        await client.request("attachment/put", **more)


async def test_unused_ones_go_and_used_ones_stay_until_their_session_is_purged(
    make_daemon: MakeDaemon,
) -> None:
    daemon = make_daemon({"limits": {}})
    async with connected(daemon) as client:
        await client.subscribe("w")
        unused, used = await put(client, "w", b"unused"), await put(client, "w", b"used")
        talk = await start(client, "w", agentSessionId="mine")
        sent = await client.request("session/send", **talk.key, clientSubmitId="one", content=[used])
        await client.settled(sent["turn"])
    daemon.stop()
    daemon.settings = {"limits": {"attachmentUnusedSeconds": 0.001}}
    daemon.start()
    async with connected(daemon) as client:
        assert await gone(client, unused)
        got = await client.request("attachment/get", workspaceId="w", attachmentId=used["attachmentId"])
        assert got["bytes"] == 4
        for method in ("session/delete", "session/purge"):
            await client.request(method, workspaceId="w", agentSessionIds=["mine"])
    daemon.restart()
    async with connected(daemon) as client:
        assert await gone(client, used)


async def gone(client: Client, image: dict[str, Any]) -> bool:
    """Whether an attachment is gone, after many looks."""
    for _ in range(200):
        sent = await client.send("attachment/get", workspaceId="w", attachmentId=image["attachmentId"])
        answer = await client.wait(lambda sent=sent: sent.answer, "the reply")  # type: ignore[misc]
        if "error" in answer:
            return bool(answer["error"]["data"]["code"] == "attachment.not_found")
    return False
