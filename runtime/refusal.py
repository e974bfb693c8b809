"""A refusal: the expected no of a command, as a value. It is decided purely and travels like a result.

Faults of other parties are exceptions of their packages; bugs crash an actor (`architecture rule 9`).
"""

from collections.abc import Mapping

import attrs

from store.canonical.turn import Delivery


@attrs.frozen
class Refusal:
    """Why a command is not carried out: a code of `contract §7`, and what is known of its delivery.

    `delivery` other than `not_dispatched` means that the provider may have seen the command. `details` holds
    JSON values and canonical rows only: never a provider's text, a path or a credential.
    """

    code: str
    delivery: Delivery = "not_dispatched"
    details: Mapping[str, object] = attrs.field(factory=dict)
    retry_after_ms: int | None = None
