"""How a Codex is asked what it is, and what is read out of the schema it writes."""

import json

import pytest

from runtime.providers.codex.attestation import FACTS, Ability
from runtime.providers.codex.examination import (
    CLIENT_REQUESTS,
    SERVER_REQUESTS,
    CodexExamination,
    schema_facts,
)
from runtime.providers.programs import ProgramReport

EXAMINATION = CodexExamination()
VERSION = b"codex-cli 0.999.0\n"


def schema(facts: frozenset[str] = FACTS, name: str = "enum") -> bytes:
    """A schema of requests that shows these facts, as Codex writes one."""
    requests, definitions = [], {}
    for method in sorted(fact for fact in facts if "." not in fact):
        members = {fact.partition(".")[2]: {} for fact in facts if fact.startswith(f"{method}.")}
        definitions[f"{method}Params"] = {"properties": members}
        named = {"enum": [method]} if name == "enum" else {"const": method}
        params = {"$ref": f"#/definitions/{method}Params"}
        requests.append({"properties": {"method": named, "params": params}})
    return json.dumps({"oneOf": requests, "definitions": definitions}).encode()


def documents(client: bytes) -> dict[str, bytes]:
    return {CLIENT_REQUESTS: client, SERVER_REQUESTS: schema(frozenset({"item/tool/requestUserInput"}))}


@pytest.mark.parametrize(
    ("command", "program"),
    [
        (("codex", "app-server"), ("codex",)),
        (("npx", "codex", "app-server", "-c", "x=1"), ("npx", "codex")),
        (("app-server", "app-server"), ("app-server",)),
    ],
)
def test_the_words_before_app_server_are_the_program(
    command: tuple[str, ...], program: tuple[str, ...]
) -> None:
    assert EXAMINATION.version_command(command) == (*program, "--version")
    assert EXAMINATION.documents_command(command, "/f") == (
        *program,
        "app-server",
        "generate-json-schema",
        "--out",
        "/f",
        "--experimental",
    )


@pytest.mark.parametrize("command", [("codex",), ("my-codex", "--serve"), ("app-server",)])
def test_a_program_around_codex_cannot_be_asked(command: tuple[str, ...]) -> None:
    assert EXAMINATION.version_command(command) is None
    assert EXAMINATION.documents_command(command, "/f") is None


@pytest.mark.parametrize("name", ["enum", "const"])
def test_what_the_schema_shows_is_what_was_looked_for_and_no_more(name: str) -> None:
    facts = FACTS | {"thread/other", "thread/other.member"}
    report = EXAMINATION.report(VERSION, documents(schema(facts, name)))
    assert report == ProgramReport("0.999.0", FACTS)
    assert EXAMINATION.abilities(report) == dict.fromkeys(map(str, Ability), True)
    capabilities = EXAMINATION.capabilities(report)
    assert capabilities is not None
    assert capabilities.guidance


@pytest.mark.rule("RT-109")
def test_an_older_schema_closes_what_it_does_not_show() -> None:
    report = EXAMINATION.report(
        VERSION, documents(schema(FACTS - {"thread/fork.ephemeral", "thread/revert"}))
    )
    missing = {name for name, attested in EXAMINATION.abilities(report).items() if not attested}
    assert missing == {"side", "revert"}


@pytest.mark.parametrize("broken", [b"", b"[]x", b"\xff", b"{" * 10])
def test_a_schema_that_cannot_be_read_is_none(broken: bytes) -> None:
    report = EXAMINATION.report(VERSION, documents(broken))
    assert report == ProgramReport("0.999.0", None)
    assert EXAMINATION.capabilities(report) is None
    assert EXAMINATION.abilities(report) == {}


@pytest.mark.parametrize("left", [CLIENT_REQUESTS, SERVER_REQUESTS])
def test_half_a_schema_is_none(left: str) -> None:
    half = {name: text for name, text in documents(schema()).items() if name == left}
    assert EXAMINATION.report(VERSION, half).facts is None


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"oneOf": 1},
        {"oneOf": [1, {"properties": {"method": {"enum": [1]}}}]},
        {"oneOf": [{}], "definitions": []},
    ],
)
def test_a_schema_of_another_shape_shows_nothing(shape: dict) -> None:
    assert schema_facts(shape) == frozenset()


@pytest.mark.parametrize("printed", [b"", b"codex 0.1.0", b"codex-cli next", b"codex-cli 1." + b"0" * 100])
def test_a_version_that_cannot_be_read_is_unknown(printed: bytes) -> None:
    assert EXAMINATION.report(printed, {}) == ProgramReport(None, None)


def test_a_warning_beside_the_version_does_no_harm() -> None:
    assert EXAMINATION.report(b"WARNING: proceeding\ncodex-cli 0.171.0\n", {}).version == "0.171.0"
    attested = EXAMINATION.abilities(ProgramReport("0.171.0", None))
    assert all(attested.values()), "a tested version needs no schema"
