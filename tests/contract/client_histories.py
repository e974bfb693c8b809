"""Recorded conversations of clients of v1: how they are written down, and what today's daemon owes them.

A file of `tests/histories/client_v1` is JSON lines. The first says which daemon was talked to; each further one is a
frame with who said it, in the order of the client's connection. Owns the files' form, the daemons by name (a name
keeps its meaning for ever) and the schema old frames are held to; it starts nothing and records nothing.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import jsonschema

from runtime.wire.documents import schema_document
from tests.contract.played_frames import REST
from tests.doubles.guided_agent import guided_target
from tests.doubles.scripted_codex import scripted_target
from tests.end_to_end.daemon import Daemon
from tests.end_to_end.fixtures import agent
from tools.files import ROOT

Json: TypeAlias = dict[str, Any]

FOLDER = ROOT / "tests" / "histories" / "client_v1"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ID_MEMBERS = ("Id", "Cursor")
"""How the names of members end whose values the server may make anew in each run."""
_WORDS = {
    "turn": ("type", "phase", "outcome", "code"),
    "interaction": ("type", "status", "kind"),
    "message": ("type", "role", "kind", "status", "sequence"),
}
_NAMED_BY = ("agentSessionId", "turnId", "messageId", "requestId")
_HINTS = ("target", "models", "status", "health")
"""Events to read again by, which come when something outside happens to change."""
_ERROR_WORDS = ("id", "code", "delivery", "retryable")
"""What has to be said again with the same word or number; of anything else only that it is there."""


def plain_daemon(folder: Path) -> Json:
    """The demo agent, and some that fail in their ways."""
    return {
        "limits": {"checkpointSeconds": 0.2, "cancelGraceSeconds": 1, "settingsTimeoutSeconds": 1},
        "targets": [
            agent("forgetful", folder, DEMO_NO_LOAD="1"),
            agent("blind", folder, DEMO_NO_IMAGES="1"),
            agent("sign-in", folder, DEMO_NEEDS_SIGN_IN="1"),
            {"id": "missing", "provider": "acp", "command": ["no-such-agent-program"]},
            {**agent("disabled", folder), "enabled": False},
        ],
    }


def guided_daemon(folder: Path) -> Json:
    """An agent that takes guidance."""
    return {"limits": {"guideTimeoutSeconds": 1}, "targets": [guided_target(folder)]}


def forking_daemon(folder: Path) -> Json:
    """An agent whose conversations can be forked."""
    return {"limits": {"cancelGraceSeconds": 1}, "targets": [scripted_target(folder)]}


def narrow_daemon(folder: Path) -> Json:
    """Room for one session, and little for what one of them says."""
    return {"limits": {"maxSessions": 1, "maxMessageBytes": 4096}}


def stopping_daemon(folder: Path) -> Json:
    """Its agent does not end when asked to, so that there is time to be refused while the daemon stops."""
    return {
        "limits": {"shutdownGraceSeconds": 3},
        "targets": [agent("stubborn", folder, DEMO_STUBBORN="1")],
    }


def faulty_daemon(folder: Path) -> Json:
    """Started for faults."""
    return {}


DAEMONS: Mapping[str, Callable[[Path], Json]] = {
    "plain": plain_daemon,
    "guided": guided_daemon,
    "forking": forking_daemon,
    "narrow": narrow_daemon,
    "stopping": stopping_daemon,
    "faulty": faulty_daemon,
}
OPTIONS: Mapping[str, tuple[str, ...]] = {"faulty": ("--enable-faults",)}
"""Further arguments of `serve`."""


def prepare(name: str, daemon: Daemon) -> None:
    """Make a daemon that was not started yet the one of this name."""
    daemon.settings = DAEMONS[name](daemon.folder)
    daemon.options = OPTIONS.get(name, ())


@attrs.frozen
class Line:
    """One thing that was said, or done to the daemon."""

    by: str
    """`client`, `server`, or `operator`, who sends signals."""
    said: Any
    """A frame; of a client also text that is none."""

    @property
    def event(self) -> Json | None:
        """The event that this frame is."""
        if self.by == "server" and self.said.get("method") == "event":
            params: Json = self.said["params"]
            return params
        return None


@attrs.frozen
class History:
    """One conversation."""

    name: str
    daemon: str
    lines: tuple[Line, ...]

    def requests(self) -> Iterator[Json]:
        """The well-formed requests of the client."""
        for line in self.lines:
            if line.by == "client" and isinstance(line.said, dict) and "id" in line.said:
                yield line.said

    def replies(self) -> Iterator[tuple[Json, Json]]:
        """Requests with their replies, in the order of the replies."""
        asked = {request["id"]: request for request in self.requests()}
        for line in self.lines:
            if line.by == "server" and line.event is None and line.said["id"] is not None:
                yield asked[line.said["id"]], line.said


def write(path: Path, daemon: str, lines: list[Line]) -> None:
    """A new file; one that is there is never written over."""
    texts = [json.dumps({"daemon": daemon})]
    texts += [json.dumps({line.by: line.said}, ensure_ascii=False) for line in lines]
    with path.open("x", encoding="utf-8") as file:
        file.write("\n".join(texts) + "\n")


def histories() -> list[History]:
    """All of them, by name."""
    return [_read(path) for path in sorted(FOLDER.glob("*.jsonl"))]


def _read(path: Path) -> History:
    head, *rest = (json.loads(text) for text in path.read_text(encoding="utf-8").splitlines())
    return History(path.stem, head["daemon"], tuple(Line(*line) for entry in rest for line in entry.items()))


# --- what old frames are held to ----------------------------------------------------------------------------------


@cache
def lasting_schema() -> Json:
    """Today's definitions as an old frame is judged: what is new may be missing, what is gone is missed."""
    schema: Json = lasting(schema_document())
    return schema


def judge(definition: str, document: Json | None = None) -> jsonschema.Draft202012Validator:
    """A validator of one definition."""
    definitions = (document or lasting_schema())["$defs"]
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": definitions})


def lasting(schema: Any) -> Any:
    """A schema as old values are judged by it."""
    if isinstance(schema, list):
        return [lasting(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if not isinstance(schema.get("properties"), dict):
        return {("anyOf" if key == "oneOf" else key): lasting(value) for key, value in schema.items()}
    # Which of several members is given is a rule for requests; they are judged by the schema as it is.
    kept = {key: value for key, value in schema.items() if key not in ("required", "oneOf", "not")}
    members = {name: lasting(member) for name, member in schema["properties"].items()}
    return {"additionalProperties": False, **kept, "properties": members}


# --- what today's daemon owes -------------------------------------------------------------------------------------


def owed(line: Line) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What a daemon of today has to say as well, each with a key under which something later may take its place.

    Each reply; where a turn or an interaction has come to; and of each other kind of event one, with all its members.
    """
    event = line.event
    if event is None:
        refused = line.said.get("error", {})
        words = _ERROR_WORDS if refused else ("id",)
        yield ("reply", str(line.said["id"]), str(refused.get("message"))), shown(line.said, words)
        return
    if event["type"] in _HINTS:
        return
    if event["type"] == "side":
        payload = event["payload"]
        kind = payload["type"]
        key = (event["sideAgentSessionId"], *_named(kind, payload.get(kind, payload)))
        # The Side's own count has the name of a message's place.
        yield key, shown(event, tuple(word for word in _WORDS.get(kind, ("type",)) if word != "sequence"))
        return
    if event["type"] != "commit":
        yield _named(event["type"], event), shown(event, ("type",))
        return
    for change in event["changes"]:
        yield _named(change["type"], change["row"]), shown(change, _WORDS.get(change["type"], ("type",)))


def _named(kind: str, row: Json) -> tuple[str, ...]:
    return (kind, *(str(row.get(name)) for name in _NAMED_BY))


def shown(value: Any, words: tuple[str, ...], name: str = "") -> Any:
    """A recorded value as `played_frames` compares it: its ids by name, its members, and of the rest only `words`."""
    match value:
        case dict():
            return {REST: 0, **{key: shown(member, words, key) for key, member in value.items()}}
        case list():
            # Lists without ids (figures, options) may have other lengths each time.
            listed = value if _ID.search(json.dumps(value)) else value[:1]
            return [*(shown(item, words, name) for item in listed), REST]
        case str() if _is_id(value, name):
            return f"${value}"
        case str() | int() | None if name in words:
            return value
        case _:
            return REST


def asked_again(value: Any, names: Mapping[str, Any]) -> Any:
    """A recorded request with its ids by the names they have got today."""
    match value:
        case dict():
            return {key: asked_again(member, names) for key, member in value.items()}
        case list():
            return [asked_again(item, names) for item in value]
        case str():
            return f"${value}" if f"${value}" in names else value
        case _:
            return value


def _is_id(value: str, name: str) -> bool:
    return bool(_ID.fullmatch(value)) or name.endswith(_ID_MEMBERS)
