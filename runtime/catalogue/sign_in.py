"""How a target's sign-in stands, reduced from typed facts alone (PR-025 to PR-029).

Owns the evidence, what each piece of it proves, and when a proof has grown old. No text of a provider is evidence, and
neither is a failure that is not typed as one of the sign-in. Pure: the clock's reading is handed in.
"""

from typing import Final, Literal, TypeAlias

import attrs

from runtime.providers.catalogue import AccountKind

PROOF_FRESH_SECONDS: Final = 900.0
"""How long a success proves a subscription (PR-029). A key is not checked again: it holds until it is refused."""

Standing: TypeAlias = Literal["unknown", "configured", "authenticated", "required"]


@attrs.frozen
class CredentialsSeen:
    """What lies on this machine, by a mark that changes with it; null when nothing does."""

    mark: str | None


@attrs.frozen
class AccountTold:
    """The agent itself says what account it has. It may not have asked anybody about it."""

    kind: AccountKind


@attrs.frozen
class RequestSucceeded:
    """The provider did something for this account: a turn, or an answer that only an account gets."""


@attrs.frozen
class SignInRefused:
    """The provider said, in a typed way, that it wants another sign-in."""


@attrs.frozen
class Inconclusive:
    """Something failed that is no word on the sign-in: limits, quota, 403, a server's or the network's trouble."""


Evidence: TypeAlias = CredentialsSeen | AccountTold | RequestSucceeded | SignInRefused | Inconclusive


@attrs.frozen
class SignIn:
    """Where the evidence so far has led."""

    standing: Standing = "unknown"
    kind: AccountKind | None = None
    mark: str | None = None
    """Of the credentials this is about."""
    looked: bool = False
    """Whether they were looked for yet."""
    refused: bool = False
    """The provider itself refused: nothing that lies here outranks that until it changes (PR-027)."""
    proven_at_seconds: float = 0.0
    """When a request last succeeded."""

    def shown(self, now_seconds: float) -> Standing:
        """What it is worth now: an old proof of a subscription shows no more than that there is one."""
        ages = self.kind not in ("key", "not_needed")
        old = now_seconds - self.proven_at_seconds > PROOF_FRESH_SECONDS
        return "configured" if self.standing == "authenticated" and ages and old else self.standing


def reduce(sign_in: SignIn, evidence: Evidence, now_seconds: float) -> SignIn:
    """What is known once this is known too."""
    match evidence:
        case CredentialsSeen(mark):
            return _seen(sign_in, mark)
        case AccountTold(kind):
            return _told(sign_in, kind)
        case RequestSucceeded():
            return attrs.evolve(
                sign_in, standing="authenticated", refused=False, proven_at_seconds=now_seconds
            )
        case SignInRefused():
            return attrs.evolve(sign_in, standing="required", refused=True)
        case Inconclusive():
            return sign_in


def evidence_of_failure(code: str, origin: str) -> SignInRefused | Inconclusive:
    """What a typed error proves: the code of the contract decides, never a text or a status (PR-025)."""
    refused = code == "provider.auth_required" and origin == "provider"
    return SignInRefused() if refused else Inconclusive()


def _seen(sign_in: SignIn, mark: str | None) -> SignIn:
    """The first look finds what was there all along; from then on a change is another sign-in, of which nothing is known."""
    known = attrs.evolve(sign_in, mark=mark, looked=True)
    if sign_in.looked and mark != sign_in.mark:
        known = SignIn(mark=mark, looked=True)
    if known.standing == "unknown" and mark is not None:
        return attrs.evolve(known, standing="configured")
    return known


def _told(sign_in: SignIn, kind: AccountKind) -> SignIn:
    known = attrs.evolve(sign_in, kind=kind)
    if kind == "none":
        return attrs.evolve(known, standing="required")
    if sign_in.refused or sign_in.standing == "authenticated":
        return known
    return attrs.evolve(known, standing="configured")
