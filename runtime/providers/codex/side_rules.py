"""How the words of a Side reach the model of Codex.

Owns their places. The fork's own developer instructions never reach the model, so the boundary is put into the
conversation and the rules go with every turn (RT-129, PR-009).
"""

from runtime.providers.codex.settings import ThreadSettings
from runtime.providers.side_words import BOUNDARY
from store.canonical.common import Json


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
