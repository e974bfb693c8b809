"""What is said to the agent, as Codex takes it: text, pictures as data, links as text."""

from runtime.providers.port import ImageData, PromptBlock
from store.canonical.common import Json
from store.canonical.message import ResourceLinkBlock, TextBlock


def prompt_input(content: tuple[PromptBlock, ...]) -> Json:
    """The `input` of `turn/start` and `turn/steer`."""
    return [_input_item(block) for block in content]


def _input_item(block: PromptBlock) -> Json:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text, "text_elements": []}
        case ResourceLinkBlock():
            # Codex knows links to its own skills and apps alone; any other is something to read.
            return {"type": "text", "text": f"[{block.name}]({block.uri})", "text_elements": []}
        case ImageData():
            return {"type": "image", "url": f"data:{block.media_type};base64,{block.data}"}
