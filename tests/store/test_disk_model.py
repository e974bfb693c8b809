"""The model of the disk that power cuts are made with."""

import random

import pytest

from runtime.simulation.disk_model import (
    Created,
    Deleted,
    DiskModel,
    FolderSynced,
    Replaced,
    Synced,
    SyncFailed,
    Truncated,
    Written,
)

SEEDS = range(200)


def images(*operations, start=None):
    """Every distinct image that 200 cuts after these operations leave."""
    model = DiskModel(start)
    for operation in operations:
        model.apply(operation)
    found = {tuple(sorted(model.image_after_cut(random.Random(seed)).items())) for seed in SEEDS}
    return [dict(image) for image in found]


def test_what_is_synchronised_is_always_kept():
    assert images(Created("a"), Written("a", 0, b"hello"), Synced("a", folder=True)) == [{"a": b"hello"}]


def test_what_is_not_may_be_lost_kept_or_torn():
    written = Written("a", 0, b"x" * 2_000)
    found = images(written, start={"a": b""})
    assert {"a": b""} in found
    assert {"a": b"x" * 2_000} in found
    assert any(len(image["a"]) > 0 and b"\0" in image["a"] for image in found), "torn into sectors"
    assert any(set(image["a"]) - {0, ord("x")} for image in found), "rubbish in a sector"


def test_later_writes_may_survive_earlier_ones():
    found = images(Written("a", 0, b"1"), Written("a", 1, b"2"), start={"a": b"--"})
    assert {"a": b"-2"} in found
    assert {"a": b"1-"} in found


def test_pages_of_a_failed_synchronisation_never_come_back():
    found = images(
        Written("a", 0, b"lost"),
        SyncFailed("a"),
        Written("a", 4, b"kept"),
        Synced("a", folder=False),
        start={"a": b"----"},
    )
    assert found == [{"a": b"----kept"}]


def test_a_name_is_durable_with_its_folder():
    made = [Created("a"), Written("a", 0, b"x"), Synced("a", folder=False)]
    assert sorted(map(len, images(*made))) == [0, 1]
    assert images(*made, FolderSynced()) == [{"a": b"x"}]
    assert sorted(map(len, images(Deleted("a", folder_synced=False), start={"a": b""}))) == [0, 1]
    assert images(Deleted("a", folder_synced=True), start={"a": b""}) == [{}]


def test_names_come_in_the_order_they_were_made():
    found = images(Created("a"), Created("b"))
    assert sorted(map(sorted, found)) == [[], ["a"], ["a", "b"]]


def test_a_file_can_be_cut_and_lengthened():
    cut = [Truncated("a", 2), Synced("a", folder=False)]
    assert images(*cut, start={"a": b"hello"}) == [{"a": b"he"}]
    assert images(Truncated("a", 3), Synced("a", folder=False), start={"a": b""}) == [{"a": b"\0\0\0"}]


def test_a_replaced_file_is_whole_whatever_happens():
    assert images(Written("a", 0, b"dirty"), Replaced("a", b"new"), start={"a": b"old"}) == [{"a": b"new"}]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same_seed_leaves_the_same_image(seed):
    model = DiskModel({"a": b"0" * 1_500})
    model.apply(Written("a", 100, b"1" * 1_200))
    model.apply(Truncated("a", 900))
    first = model.image_after_cut(random.Random(seed))
    assert model.image_after_cut(random.Random(seed)) == first
