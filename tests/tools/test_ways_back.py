"""Each way back that docs/reliability.md names is shown by a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`([a-z_/]+\.py)::(test_\w+)`")


def test_every_way_back_is_shown_by_a_test_that_is_there() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    section = page.partition("## The way back")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 20
    for row in rows:
        named = NAMED.findall(row)
        assert named, row
        for file, test in named:
            source = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert re.search(rf"def {test}\b", source), f"{file} has no {test}"
