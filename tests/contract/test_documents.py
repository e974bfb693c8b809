"""The committed documents are what the models say, to the byte, and hold together by themselves."""

import re
from pathlib import Path

import jsonschema
import orjson
import pytest

from runtime.wire.documents import documents, main, schema_document, write_documents
from runtime.wire.errors import ERRORS
from runtime.wire.methods import METHODS, UNBUILT_METHODS

COMMITTED = Path(__file__).parents[2] / "contract"
NAMES = [
    "errors.json",
    "errors.md",
    "events.asyncapi.json",
    "greenroom.openrpc.json",
    "greenroom.ts",
    "schema.json",
]


def committed(name):
    return orjson.loads((COMMITTED / name).read_bytes())


def references(node):
    """Every `$ref` below a JSON value."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def resolve(document, reference):
    """The value a local reference points to; raises KeyError when there is none."""
    assert reference.startswith("#/")
    for step in reference[2:].split("/"):
        document = document[step]
    return document


@pytest.mark.rule("AP-001")
def test_generating_again_gives_the_committed_bytes(tmp_path):
    write_documents(tmp_path / "new" / "folder")
    assert sorted(file.name for file in COMMITTED.iterdir()) == NAMES
    for name in NAMES:
        fresh = (tmp_path / "new" / "folder" / name).read_bytes()
        assert fresh == (COMMITTED / name).read_bytes(), f"{name} is stale: generate contract/ again"


def test_generating_twice_gives_the_same_bytes():
    assert documents() == documents()


def test_the_command_writes_the_documents(tmp_path):
    assert main(["--out", str(tmp_path)]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".json")])
def test_every_reference_inside_a_document_can_be_followed(name):
    document = committed(name)
    for reference in references(document):
        assert resolve(document, reference) is not None


def test_the_schemas_are_valid_json_schema():
    jsonschema.Draft202012Validator.check_schema(committed("schema.json"))


@pytest.mark.parametrize("name", ["greenroom.openrpc.json", "events.asyncapi.json"])
def test_each_document_defines_a_class_as_the_schemas_do(name):
    definitions = schema_document()["$defs"]
    for shape, schema in committed(name)["components"]["schemas"].items():
        local = orjson.dumps(schema).replace(b"#/components/schemas/", b"#/$defs/")
        assert orjson.loads(local) == definitions[shape], shape


def test_openrpc_lists_every_served_method_with_its_params_and_refusals():
    document = committed("greenroom.openrpc.json")
    listed = {method["name"]: method for method in document["methods"]}
    assert listed.keys() == METHODS.keys()
    assert set(document["x-unsupported"]) > UNBUILT_METHODS
    for name, method in listed.items():
        definition = document["components"]["schemas"][METHODS[name].params.__name__]
        assert [param["name"] for param in method["params"]] == list(definition["properties"])
        required = [param["name"] for param in method["params"] if param["required"]]
        assert required == definition.get("required", [])
        codes = [reference.rpartition("/")[2] for reference in references(method["errors"])]
        assert "internal" in codes
        assert set(codes) <= ERRORS.keys()


def test_asyncapi_has_one_message_for_each_event_of_the_contract():
    document = committed("events.asyncapi.json")
    titles = {message["title"] for message in document["components"]["messages"].values()}
    activity = (
        "commit checkpoint session_reset resync message_delta message_snapshot stream_gap runtime_activity"
    )
    assert titles == {
        *(f"agent.activity.updated: {name}" for name in activity.split()),
        "agent.side.updated: side",
        "agent.side.updated: side_gap",
        "host.updated: target | models | status | health",
        "host.updated: shutdown",
    }
    for operation in document["operations"].values():
        assert operation["action"] == "send"
        assert operation["messages"]


def test_changes_and_side_payloads_are_told_apart_by_the_contracts_words():
    definitions = committed("schema.json")["$defs"]

    def tags(union):
        names = [reference.rpartition("/")[2] for reference in references(definitions[union])]
        return [definitions[name]["properties"]["type"]["const"] for name in names]

    assert tags("Change") == [
        "session",
        "turn",
        "message",
        "interaction",
        "goal",
        "operation",
        "session_removed",
        "session_restored",
    ]
    payloads = {"opened", "turn", "message", "message_delta", "interaction", "error", "closed", "expired"}
    assert set(tags("SidePayload")) == payloads
    assert tags("ContentBlock") == ["text", "image", "resource_link", "plan", "notice"]
    assert tags("PromptBlock") == ["text", "image", "resource_link"]


def test_what_clients_send_is_closed_and_what_the_server_sends_is_open():
    definitions = committed("schema.json")["$defs"]
    for method in METHODS.values():
        assert definitions[method.params.__name__]["additionalProperties"] is False
        assert "additionalProperties" not in definitions[method.result.__name__]
    assert definitions["TextBlockInput"]["additionalProperties"] is False
    assert "additionalProperties" not in definitions["TextBlock"]


def test_the_error_documents_say_what_the_table_says():
    assert [entry["code"] for entry in committed("errors.json")] == list(ERRORS)
    table = (COMMITTED / "errors.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z._]+)` \|", table, re.MULTILINE) == list(ERRORS)
    for line in table.splitlines():
        assert line.count("|") in (0, 5), line


def test_the_typescript_types_have_every_definition_method_and_error_code():
    text = (COMMITTED / "greenroom.ts").read_text(encoding="utf-8")
    exported = re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE)
    assert sorted(exported) == sorted([*schema_document()["$defs"], "Methods", "ErrorCode"])
    table = text.partition("export interface Methods {")[2].partition("}\n\n")[0]
    assert re.findall(r'^  readonly "([^"]+)": \{ params: (\w+); result: (\w+) \};', table, re.MULTILINE) == [
        (method.name, method.params.__name__, method.result.__name__) for method in METHODS.values()
    ]
    assert re.findall(r'^  \| "([a-z._]+)"', text, re.MULTILINE) == list(ERRORS)


def test_the_typescript_types_say_what_may_be_left_out_what_may_be_null_and_how_members_are_told_apart():
    text = (COMMITTED / "greenroom.ts").read_text(encoding="utf-8")
    delta = text.partition("export interface MessageDelta {")[2].partition("\n}")[0]
    assert '  readonly type: "message_delta";' in delta
    assert '  readonly field: "text" | "output";' in delta
    interaction = text.partition("export interface Interaction {")[2].partition("\n}")[0]
    assert "  readonly resolvedAt: number | null;" in interaction
    assert "  readonly command?: string;" in text.partition("export interface ApprovalInput {")[2]
    assert "export type Answer = OptionAnswerInput | QuestionAnswerInput;" in text
    assert "readonly answersByQuestionId: Readonly<Record<string, string | ReadonlyArray<string>>>;" in text
    assert "readonly params: ({ readonly subscriptionId: number; }) & (Event);" in text


def test_prose_reaches_the_documents_without_references_to_rules():
    definitions = committed("schema.json")["$defs"]
    delta_seq = definitions["MessageDelta"]["properties"]["deltaSeq"]
    assert delta_seq["description"] == "Counts from 0 in each message, without holes."
    assert definitions["SideUpdated"]["description"].startswith("Something happened in a Side. Nothing")
    for name in NAMES:
        text = (COMMITTED / name).read_text(encoding="utf-8")
        assert not re.search(r"\b(RT|ST|PR|AP|FC)-\d|contract §|architecture rule", text), name
