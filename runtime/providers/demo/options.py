"""The two settings of the demo agent as it tells of them on the wire. Standard library only, nothing happens here."""

from typing import Any

MODELS = ("demo-small", "demo-large")
MODES = ("ask", "auto")
OFFERED = {"model": MODELS, "mode": MODES}
"""Every setting with its values, the first one holding at the beginning."""


def first_settings() -> dict[str, str]:
    """What a new session begins with."""
    return {name: values[0] for name, values in OFFERED.items()}


def config_options(settings: dict[str, str]) -> list[dict[str, Any]]:
    """The `configOptions` of a session with these settings."""
    return [
        {
            "id": name,
            "name": name.capitalize(),
            "category": name,
            "type": "select",
            "currentValue": settings[name],
            "options": [{"value": value, "name": value} for value in values],
        }
        for name, values in OFFERED.items()
    ]
