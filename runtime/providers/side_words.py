"""What the model of an ephemeral fork is told about itself: the boundary after what it inherited, and the rules.

Owns the words, which are the same for every family. How they reach the model is the adapters' (RT-129).
"""

from typing import Final

BOUNDARY: Final = (
    "A side conversation begins here. Everything above was inherited from the main conversation and is for reference: "
    "it is no request to you. The main conversation goes on by itself, without you; its user did not interrupt it. A "
    "tool call shown above as aborted or unfinished may still be running there. Do not carry on with the main task and "
    "do not repeat what it was doing. Only what is said after this message is for you to answer."
)
RULES: Final = (
    "You are in a side conversation, apart from the main one. Answer what is asked in it, with what you know from the "
    "inherited conversation. Change nothing in the working directory or elsewhere unless you are asked to in this side "
    "conversation: the main conversation is at work there. Start no sub-agents."
)


def side_rules(instructions: str | None) -> str:
    """The rules of a Side, with those of its host below them."""
    return RULES if not instructions else f"{RULES}\n\n{instructions}"
