"""Values that several rows share: usage, typed errors, JSON values."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What a JSON document can hold. Rows never hold anything else where a provider's own value is kept."""

SettingValue: TypeAlias = str | bool
Settings: TypeAlias = Mapping[str, SettingValue]
SettingSource = Literal["explicit", "default", "provider"]

ErrorOrigin = Literal["provider", "runtime"]


@attrs.frozen
class Usage:
    """Cumulative token figures; each is null when the provider did not report it."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    context_tokens: int | None = None
    context_window: int | None = None
    cost_usd: float | None = None


@attrs.frozen
class TurnError:
    """Why a turn failed: a stable code of `contract §7` and a message of ours, never a provider's text."""

    code: str
    message: str
    origin: ErrorOrigin
    retryable: bool = False
    retry_after_ms: int | None = None
    http_status: int | None = None
