"""Pages of lists that are whole in memory: a cursor is the place of the first item of the next page."""

from runtime.refusal import Refusal


def page_start(cursor: str | None, count: int) -> int | Refusal:
    """Where the page begins, or that the cursor is none of ours."""
    if cursor is None:
        return 0
    if cursor.isascii() and cursor.isdigit() and int(cursor) <= count:
        return int(cursor)
    return Refusal("request.invalid", details={"path": "params.cursor", "problem": "is not a cursor of ours"})
