"""Which variables a provider process gets to see.

Owns the allow-list of `contract §1`. Pure: mappings in, mapping out. It must not know any provider: the
names by which agents mark what runs inside them are declared by the providers and passed in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

ALWAYS_INHERITED = frozenset({"PATH", "HOME", "USER", "SHELL", "LANG", "TZ", "TMPDIR"})
LOCALE_PREFIX = "LC_"
OWN_PREFIX = "GREENROOM_"
"""The daemon's own configuration, tokens and marks."""


def provider_environment(
    daemon_environment: Mapping[str, str],
    *,
    inherit_names: Collection[str],
    target_environment: Mapping[str, str],
    nesting_markers: Collection[str],
) -> dict[str, str]:
    """The complete environment of a provider process.

    An allow-list, so that neither the daemon's secrets nor the markers of an agent that happens to have
    started the daemon reach a provider, which would then believe to be nested and save nothing (FC-51).

    Args:
        daemon_environment: what the daemon was started with.
        inherit_names: `inheritEnv` of the configuration, exact names. A nesting marker or a name of our
            own in it is passed over.
        target_environment: `env` of the target; wins over what is inherited. Names of our own are
            passed over, since a forged mark would put foreign processes into the care of the sweep.
        nesting_markers: every variable by which any known agent marks what runs inside it.
    """
    wanted = ALWAYS_INHERITED | set(inherit_names)
    inherited = {
        name: value
        for name, value in daemon_environment.items()
        if (name in wanted or name.startswith(LOCALE_PREFIX))
        and name not in nesting_markers
        and not name.startswith(OWN_PREFIX)
    }
    chosen = {name: value for name, value in target_environment.items() if not name.startswith(OWN_PREFIX)}
    return inherited | chosen
