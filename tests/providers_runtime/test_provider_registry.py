"""The registry: a key names a family, or nothing."""

import pytest

from runtime.providers.registry import ProviderRegistry, UnsupportedProvider
from tests.doubles.line_provider import LineProvider


@pytest.mark.rule("PR-001")
def test_an_unknown_key_is_refused_by_name_and_never_falls_back():
    registry = ProviderRegistry([LineProvider(key="a"), LineProvider(key="b")])
    with pytest.raises(
        UnsupportedProvider, match=r"provider 'c' is not supported; known are: a, b"
    ) as refusal:
        registry.descriptor("c")
    assert refusal.value.key == "c"


def test_a_key_names_its_descriptor():
    one, other = LineProvider(key="a"), LineProvider(key="b")
    registry = ProviderRegistry([other, one])
    assert registry.descriptor("a") is one
    assert registry.keys == ("a", "b")


def test_an_empty_registry_says_so():
    with pytest.raises(UnsupportedProvider, match="known are: none"):
        ProviderRegistry([]).descriptor("a")


def test_two_families_cannot_claim_one_key():
    with pytest.raises(ValueError, match="'a'"):
        ProviderRegistry([LineProvider(key="a"), LineProvider(key="a")])
