"""How a Codex is asked what it is, without a conversation: its version, and the schema it writes of itself.

Owns the commands and the reading of what they give. Of the schema only what an ability needs is kept. A target whose
command does not say `app-server` is some other program around a Codex: its words cannot be varied, so it is known by its
handshake alone.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Final

import attrs

from runtime.providers.codex.attestation import FACTS, Ability, attest
from runtime.providers.jsonrpc.json_text import MalformedJsonError, decode
from runtime.providers.jsonrpc.members import Members, list_of, object_of, text_of
from runtime.providers.programs import ProgramReport
from store.canonical.common import Json
from store.canonical.session import SessionCapabilities

APP_SERVER: Final = "app-server"
CLIENT_REQUESTS: Final = "ClientRequest.json"
SERVER_REQUESTS: Final = "ServerRequest.json"

_VERSION: Final = re.compile(rb"^codex-cli (\d[\w.+-]{0,63})\s*$", re.MULTILINE)
_REFERENCE: Final = "#/definitions/"


@attrs.frozen
class CodexExamination:
    """Implements `ProgramExamination`."""

    revision: str = hashlib.sha256("\n".join(sorted(FACTS)).encode()).hexdigest()[:16]
    documents: tuple[str, ...] = (CLIENT_REQUESTS, SERVER_REQUESTS)

    def version_command(self, command: tuple[str, ...]) -> tuple[str, ...] | None:
        """`codex --version`."""
        program = _program_of(command)
        return (*program, "--version") if program is not None else None

    def documents_command(self, command: tuple[str, ...], folder: str) -> tuple[str, ...] | None:
        """The schema of everything, experimental parts too, as the handshake asks for them."""
        program = _program_of(command)
        if program is None:
            return None
        return (*program, APP_SERVER, "generate-json-schema", "--out", folder, "--experimental")

    def report(self, printed: bytes, documents: Mapping[str, bytes]) -> ProgramReport:
        """The version, and the facts of the schema if both its files are there."""
        found = _VERSION.search(printed)
        version = found.group(1).decode() if found is not None else None
        if not all(name in documents for name in self.documents):
            return ProgramReport(version)
        try:
            schemas = [object_of(decode(documents[name])) for name in self.documents]
        except MalformedJsonError:
            return ProgramReport(version)
        shown = frozenset().union(*map(schema_facts, schemas))
        return ProgramReport(version, shown & FACTS)

    def capabilities(self, report: ProgramReport) -> SessionCapabilities | None:
        """Those of the attestation; null when only the list of methods in the handshake would tell."""
        attested = attest(report.version, report.facts)
        return attested.capabilities() if attested.basis != "nothing" else None

    def abilities(self, report: ProgramReport) -> Mapping[str, bool]:
        """Every ability, and whether it is attested."""
        attested = attest(report.version, report.facts)
        if attested.basis == "nothing":
            return {}
        return {ability.value: ability in attested.abilities for ability in Ability}


def schema_facts(schema: Members) -> frozenset[str]:
    """The methods of a schema of requests, and `method.member` for the members of their params."""
    definitions = object_of(schema.get("definitions"))
    facts: set[str] = set()
    for request in map(object_of, list_of(schema.get("oneOf"))):
        properties = object_of(request.get("properties"))
        reference = text_of(object_of(properties.get("params")).get("$ref")) or ""
        params = object_of(definitions.get(reference.removeprefix(_REFERENCE)))
        members = object_of(params.get("properties"))
        for method in _names(object_of(properties.get("method"))):
            facts.add(method)
            facts.update(f"{method}.{member}" for member in members)
    return frozenset(facts)


def _names(method: Members) -> list[str]:
    names: list[Json] = [*list_of(method.get("enum")), method.get("const")]
    return [name for name in names if isinstance(name, str)]


def _program_of(command: tuple[str, ...]) -> tuple[str, ...] | None:
    if APP_SERVER not in command[1:]:
        return None
    return command[: command.index(APP_SERVER, 1)]
