"""How a thread opens when the model's name holds directives: refused, answered with other settings, or not at all.

A person can choose the model of a session, so a test can say so what opening it shall come to. `only=resume` keeps a
directive for one way of opening; `thread ephemeral false` changes what the answer says of the thread itself. Pure.
"""

from runtime.providers.demo.script import Step
from runtime.simulation.scripted_codex.texts import INVALID_REQUEST, Frame, Refused


def obey_opening(script: list[Step], way: str, result: Frame) -> Frame | None:
    """The answer to `thread/start`, `thread/resume` or `thread/fork`; None for silence. Raises Refused."""
    answer: Frame | None = result
    for step in script:
        if step.options.get("only", way) != way:
            continue
        if step.word == "reject":
            raise Refused(step.text, step.number("code", INVALID_REQUEST))
        if step.word == "silent":
            answer = None
        if step.word == "answer" and answer is not None:
            # The answer says something else of this member than what was asked for.
            name, _, value = step.text.partition(" ")
            answer = {**answer, name: {"type": value} if name == "sandbox" else value}
        if step.word == "thread" and answer is not None:
            name, _, value = step.text.partition(" ")
            answer = {**answer, "thread": {**answer["thread"], name: False if value == "false" else value}}
    return answer
