"""How a sign-in stands, by what was seen and told: pieces of evidence in their order, and what is shown then."""

import pytest

from runtime.catalogue.sign_in import (
    PROOF_FRESH_SECONDS,
    AccountTold,
    CredentialsSeen,
    Evidence,
    Inconclusive,
    RequestSucceeded,
    SignIn,
    SignInRefused,
    Standing,
    evidence_of_failure,
    reduce,
)

SEEN, CHANGED, GONE = CredentialsSeen("a"), CredentialsSeen("b"), CredentialsSeen(None)
KEY, SUBSCRIPTION = AccountTold("key"), AccountTold("subscription")
NONE, NOT_NEEDED = AccountTold("none"), AccountTold("not_needed")
OK, REFUSED, TROUBLE = RequestSucceeded(), SignInRefused(), Inconclusive()


def after(*evidence: Evidence) -> SignIn:
    sign_in = SignIn()
    for piece in evidence:
        sign_in = reduce(sign_in, piece, 0.0)
    return sign_in


@pytest.mark.rule("PR-026")
@pytest.mark.parametrize(
    ("evidence", "standing"),
    [
        ([], "unknown"),
        ([GONE], "unknown"),
        ([SEEN], "configured"),
        ([SEEN, SEEN], "configured"),
        ([KEY], "configured"),
        ([SUBSCRIPTION], "configured"),
        ([NOT_NEEDED], "configured"),
        ([NONE], "required"),
        ([SEEN, NONE], "required"),
        ([NONE, KEY], "configured"),
        ([SEEN, OK], "authenticated"),
        ([OK], "authenticated"),
        ([OK, KEY], "authenticated"),
        ([OK, SEEN, SEEN], "authenticated"),
        ([SEEN, OK, GONE], "unknown"),
        ([SEEN, OK, CHANGED], "configured"),
    ],
)
def test_a_marker_proves_configured_and_a_success_proves_more(
    evidence: list[Evidence], standing: Standing
) -> None:
    assert after(*evidence).shown(0.0) == standing


@pytest.mark.rule("PR-027")
@pytest.mark.parametrize(
    ("evidence", "standing"),
    [
        ([SEEN, REFUSED], "required"),
        ([SEEN, REFUSED, SEEN], "required"),
        ([SEEN, REFUSED, KEY], "required"),
        ([SEEN, REFUSED, SUBSCRIPTION], "required"),
        ([SEEN, OK, REFUSED], "required"),
        ([SEEN, REFUSED, CHANGED], "configured"),
        ([SEEN, REFUSED, GONE], "unknown"),
        ([SEEN, REFUSED, OK], "authenticated"),
        ([SEEN, REFUSED, CHANGED, KEY], "configured"),
    ],
)
def test_a_refusal_outranks_what_lies_here_until_it_changes_or_a_request_succeeds(
    evidence: list[Evidence], standing: Standing
) -> None:
    assert after(*evidence).shown(0.0) == standing


@pytest.mark.rule("PR-025", "PR-029")
@pytest.mark.parametrize("before", [[], [SEEN], [SEEN, OK], [SEEN, REFUSED], [NONE]])
def test_trouble_that_is_no_word_on_the_sign_in_changes_nothing(before: list[Evidence]) -> None:
    assert after(*before, TROUBLE) == after(*before)


@pytest.mark.rule("PR-025")
@pytest.mark.parametrize(
    ("code", "origin", "evidence"),
    [
        ("provider.auth_required", "provider", REFUSED),
        ("provider.auth_required", "runtime", TROUBLE),
        ("provider.quota", "provider", TROUBLE),
        ("provider.rate_limited", "provider", TROUBLE),
        ("provider.rejected", "provider", TROUBLE),
        ("provider.model_unavailable", "provider", TROUBLE),
        ("provider.unavailable", "provider", TROUBLE),
        ("provider.lost", "provider", TROUBLE),
        ("provider.timeout", "provider", TROUBLE),
    ],
)
def test_of_failures_only_the_typed_one_is_a_refusal(code: str, origin: str, evidence: Evidence) -> None:
    assert evidence_of_failure(code, origin) == evidence


@pytest.mark.rule("PR-029")
def test_an_old_proof_of_a_subscription_shows_configured_and_a_key_keeps_its_own() -> None:
    subscription, key = after(SUBSCRIPTION, OK), after(KEY, OK)
    assert subscription.shown(PROOF_FRESH_SECONDS) == "authenticated"
    assert subscription.shown(PROOF_FRESH_SECONDS + 1) == "configured"
    assert key.shown(PROOF_FRESH_SECONDS * 100) == "authenticated"
    again = reduce(subscription, OK, PROOF_FRESH_SECONDS)
    assert again.shown(PROOF_FRESH_SECONDS + 1) == "authenticated"
    refused = reduce(subscription, REFUSED, 0.0)
    assert refused.shown(PROOF_FRESH_SECONDS * 2) == "required", "a refusal does not grow old"
