"""What the clients of a run do: one plan each, drawn from the seed, and prompts that make agents do everything."""

import random
from typing import Final

import attrs

from runtime.simulation import operations as op
from runtime.simulation.edits import some_edit
from runtime.simulation.options import RunOptions, session_name
from runtime.simulation.removals import some_removal
from runtime.simulation.scheduler import Chances

_SETTINGS: Final[tuple[tuple[tuple[str, str | bool], ...], ...]] = (
    (),
    (("model", "demo-large"),),
    (("mode", "auto"), ("dedicatedProcess", True)),
)
_CODEX_SETTINGS: Final[tuple[tuple[tuple[str, str | bool], ...], ...]] = (
    (),
    (("sandbox", "read-only"), ("model", "large")),
    (("approvalPolicy", "never"), ("dedicatedProcess", True)),
)
"""One for each of those above: what they are about, in the words of Codex."""
_ORDINARY: Final = (
    "",
    "[[stream 6 delay=5 size=20]]",
    "[[stream 12 delay=1]]",
    "[[stream 24 delay=15 size=24]]",
    "[[think 10 delay=12]] [[stream 12 delay=12]]",
    "[[think 2 delay=3]] [[say done]]",
    "[[tool build output=done]] [[say built]]",
    "[[edit notes.txt]] [[say edited]]",
    "[[plan look;write;test]] [[stream 3 delay=4]]",
    "[[ask allow_once,reject_once]] [[say asked]]",
    "[[ask allow_once,allow_always,reject_once]] [[ask allow_once,reject_once]]",
    "[[sleep 40]] [[say late]]",
    "[[recall]]",
    "[[usage used=100]] [[title A title]] [[say titled]]",
    "[[say one]] [[tool two status=failed output=bad]] [[say three]]",
)
_UNRULY: Final = (
    "[[hang]]",
    "[[stream 2 delay=5]] [[crash]]",
    "[[stream 3 delay=2]] [[die]]",
    "[[error -32603]]",
    "[[refuse]]",
    "[[stop max_tokens]]",
    "[[silent-end]]",
    "[[late 30]] [[say early]]",
    "[[twice]] [[say twice]]",
    "[[garbage {{{]] [[say clean]]",
    "[[banner]] [[badutf8]] [[say hello]]",
    "[[stray]] [[unknown-id]] [[say mine]]",
    "[[ignore-cancel]] [[sleep 3000]]",
    "[[cancel-late 200]] [[sleep 400]]",
    "[[bytes]] [[stream 5 delay=3]]",
    "[[surrogate]]",
    "[[request demo/unknown]] [[say answered]]",
    "[[close-stdin]] [[stream 3 delay=10]]",
    "[[stderr 200000]] [[say loud]]",
)
_OF_CODEX: Final = (
    "[[early]] [[stream 6 delay=4]]",
    "[[patch notes.txt]] [[say patched]]",
    "[[ask]] [[elicit tool]] [[say asked]]",
    "[[background 60]] [[say left it running]]",
    "[[background 60]] [[goal 2]] [[say mine]]",
    "[[review]] [[say reviewed]]",
    "[[output 6 delay=5]] [[retry 2]] [[say whole]]",
    "[[wrong-id]] [[sleep 3000]]",
    "[[wrong-id refuses=2]] [[sleep 3000]]",
    "[[withdrawn 20]] [[say alone]]",
    "[[child]] [[elicit fields]] [[say answered]]",
    "[[unload]] [[say nobody hears]]",
    "[[fail usageLimitExceeded]]",
    "[[reject thread not found: elsewhere]]",
    "[[silent-start]] [[say begun without an answer]]",
)
_DELEGATING: Final = (
    '[[spawn digger does="sleep 60;say found"]] [[say they work]]',
    '[[spawn one called does="stream 6 delay=5"]] [[spawn two does="ask;say done"]] [[sleep 40]]',
    '[[spawn one does="sleep 4000"]] [[spawn late after=60 does="sleep 900"]] [[cancel-late 100]] [[sleep 3000]]',
    '[[spawn digger does="ignore-cancel;sleep 3000"]] [[say they work]]',
    '[[spawn digger does="sleep 5;error"]] [[stream 6 delay=4]]',
    '[[spawn digger unshown does="say nobody hears"]] [[sleep 20]]',
)
"""Prompts whose agent begins sub-agents, some of which outlast its own response."""


def plans_of(options: RunOptions, chance: random.Random) -> list[list[op.Operation]]:
    """One plan for each client. Every session is made by one of them, early in its plan."""
    plans: list[list[op.Operation]] = [[] for _ in options.clients]
    sent: list[tuple[str, str, str]] = []
    created: list[op.CreateSession] = []
    # Drawn apart, so that a run without Codex is the one it was before there was a choice.
    dialects = Chances(options.seed).source("dialects of sessions")
    delegations = Chances(options.seed).source("sub-agents of sessions")
    codex: set[str] = set()
    edits = Chances(options.seed).source("edits of sessions")
    removals = Chances(options.seed).source("removals of sessions")
    for number in range(options.sessions):
        prompt = _prompt(chance) if chance.random() < 0.4 else None
        settings, target = chance.choice(_SETTINGS), op.DEMO
        if dialects.random() < options.codex_share:
            settings, target = _CODEX_SETTINGS[_SETTINGS.index(settings)], op.CODEX
            codex.add(session_name(number))
        create = op.CreateSession(session_name(number), f"create-{number}", prompt, settings, target)
        plans[number % len(plans)].append(create)
        created.append(create)
    for number in range(options.operations):
        plan = chance.choice(plans)
        session = session_name(chance.randrange(options.sessions))
        if chance.random() < 0.06:
            plan.append(
                op.CreateAgain(chance.choice(created), chance.choice(("nothing", "content", "submit id")))
            )
        operation = _operation(session, f"submit-{number}", sent, chance)
        if session in codex and isinstance(operation, op.SendPrompt) and dialects.random() < 0.7:
            operation = attrs.evolve(operation, prompt=dialects.choice(_OF_CODEX))
            sent[:] = [known for known in sent if known[1] != operation.submit_id]
            if delegations.random() < 0.3:
                operation = attrs.evolve(operation, prompt=delegations.choice(_DELEGATING))
        plan.append(operation)
        if session in codex and dialects.random() < 0.6:
            plan.append(op.GuideActive(session, f"guide-{number}"))
        if edits.random() < 0.3:
            edits.choice(plans).append(some_edit(session, edits))
        if removals.random() < 0.12:
            removals.choice(plans).append(some_removal(session, number, removals))
        if chance.random() < 0.5:
            plan.append(op.Pause(chance.random() * 0.15))
    return plans


def _operation(
    session: str, submit_id: str, sent: list[tuple[str, str, str]], chance: random.Random
) -> op.Operation:
    match chance.choices(
        ("send", "cancelled", "read", "pipelined", "repeat", "stop", "runtime", "lag", "reconnect"),
        (8, 3, 2, 2, 2, 1, 2, 1, 2),
    )[0]:
        case "send":
            prompt = _prompt(chance)
            sent.append((session, submit_id, prompt))
            return op.SendPrompt(
                session,
                submit_id,
                prompt,
                waits_seconds=chance.choice((0.0, 0.1, 0.6)),
                reads_while_running=chance.random() < 0.3,
            )
        case "cancelled":
            return op.SendPrompt(
                session, submit_id, _prompt(chance), cancel_after_seconds=0.001 + chance.random() * 0.2
            )
        case "pipelined":
            return op.SendAndRead(session, submit_id, _prompt(chance))
        case "repeat" if sent:
            return op.Repeat(*chance.choice(sent), other_prompt=chance.random() < 0.3)
        case "stop":
            return op.CancelActive(session)
        case "runtime":
            return op.ChangeRuntime(session, chance.choice(("session/close", "session/resume")))
        case "lag":
            return op.Lag(chance.choice((0.3, 1.5, 4.0)))
        case "reconnect":
            return op.Reconnect(cut=chance.random() < 0.5)
        case _:
            return op.Read(session)


def _prompt(chance: random.Random) -> str:
    return chance.choice(_ORDINARY if chance.random() < 0.7 else _UNRULY)
