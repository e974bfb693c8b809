"""What an ephemeral fork is told about itself: the boundary after what it inherited, and the rules of its turns.

Owns the words. The fork's own developer instructions never reach the model of Codex, so the boundary is put into the
conversation and the rules go with every turn (RT-129, PR-009).
"""

from typing import Final

from runtime.providers.codex.settings import ThreadSettings
from store.canonical.common import Json

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


def boundary_item(rules: str) -> Json:
    """What is put between the inherited and the new: a message of the developer, which the model sees."""
    text = f"{BOUNDARY}\n\n{rules}"
    return {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": text}]}


def collaboration(held: ThreadSettings, rules: str) -> Json:
    """`collaborationMode` of a turn: the rules once more, and the model and effort that hold anyway."""
    return {
        "mode": "default",
        "settings": {
            "model": held.model,
            "reasoning_effort": held.effort,
            "developer_instructions": rules,
        },
    }
