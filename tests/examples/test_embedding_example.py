"""The embedding example runs as it stands, as a program."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.files import ROOT


@pytest.mark.rule("RT-145")
def test_the_embedding_example_answers_two_prompts_at_once(tmp_path: Path):
    finished = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "embedding.py"), str(tmp_path / "data")],
        env={"HOME": str(tmp_path), "PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    one, two = finished.stdout.splitlines()
    assert sorted((one, two))[1].endswith("one")
    assert sorted((one, two))[0].startswith("[[ask allow_once]] [[say two]]: ")
    assert sorted((one, two))[0].endswith("two")
