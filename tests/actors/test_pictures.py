"""Pictures are put into what a connection is told in the last step, and into nothing else."""

from base64 import b64encode
from pathlib import Path

import pytest

from runtime.actors.pictures import with_pictures
from runtime.lifecycle.prompt_blocks import prompt_blocks
from runtime.providers.port import CancelTurn, GuideTurn, ImageData, Scope, StartTurn
from store.canonical.attachment import Attachment
from store.canonical.identifiers import TurnId
from store.canonical.message import ImageBlock, NoticeBlock, ResourceLinkBlock, TextBlock
from store.group import AttachmentJob
from store.open import Store
from tests.store.builders import W, ignore, open_in

SCOPE = Scope("session", "w", "s")
LINK = ResourceLinkBlock("file:///a", "a")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = open_in(tmp_path)
    picture = Attachment(W, "one", "image/png", 1, b"a picture")
    opened.committer.commit([AttachmentJob(picture, 1_000, ignore)])
    return opened


def test_a_prompt_keeps_its_blocks_in_their_order_with_pictures_by_name() -> None:
    blocks = prompt_blocks((TextBlock("see"), ImageBlock("image/png", 9, "one"), LINK))
    assert blocks == (TextBlock("see"), ImageData("image/png", "", "one"), LINK)
    with pytest.raises(ValueError, match="notice"):
        prompt_blocks((NoticeBlock("a.code", "info", "text"),))


def test_prompts_and_guidance_are_told_with_the_content(store: Store) -> None:
    content = prompt_blocks((TextBlock("see"), ImageBlock("image/png", 9, "one")))
    whole = (TextBlock("see"), ImageData("image/png", b64encode(b"a picture").decode(), "one"))
    turn = TurnId("t")
    for command in (StartTurn(SCOPE, turn, content), GuideTurn(SCOPE, turn, "g", content)):
        told = with_pictures(command, store.reader, W)
        assert isinstance(told, StartTurn | GuideTurn)
        assert told.content == whole
        assert command.content == content, "what the machine holds stays as it is"


def test_what_shows_no_picture_is_told_as_it_is(store: Store) -> None:
    for command in (CancelTurn(SCOPE, TurnId("t")), StartTurn(SCOPE, TurnId("t"), (TextBlock("x"), LINK))):
        assert with_pictures(command, store.reader, W) is command
