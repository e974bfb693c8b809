"""Which provider families this program speaks: a key of the configuration names a descriptor, or nothing.

Owns the lookup only. There is no default family: a key nobody registered is refused by name (PR-001), and
nothing outside a family's own folder looks at the key again (PR-002).
"""

from collections.abc import Iterable

from runtime.providers.port import ProviderDescriptor


class UnsupportedProvider(Exception):
    """No provider family is registered under this key. Not a program that is missing: that is found at launch."""

    def __init__(self, key: str, known: tuple[str, ...]) -> None:
        super().__init__(f"provider {key!r} is not supported; known are: {', '.join(known) or 'none'}")
        self.key = key
        self.known = known


class ProviderRegistry:
    """The descriptors by their keys, fixed when the service is composed."""

    def __init__(self, descriptors: Iterable[ProviderDescriptor]) -> None:
        """Raises ValueError when two descriptors claim one key."""
        self._descriptors: dict[str, ProviderDescriptor] = {}
        for descriptor in descriptors:
            if descriptor.key in self._descriptors:
                raise ValueError(f"two provider families claim the key {descriptor.key!r}")
            self._descriptors[descriptor.key] = descriptor

    @property
    def keys(self) -> tuple[str, ...]:
        """Every known key, sorted."""
        return tuple(sorted(self._descriptors))

    def descriptor(self, key: str) -> ProviderDescriptor:
        """The family of this key.

        Raises:
            UnsupportedProvider: nobody registered it (PR-001).
        """
        descriptor = self._descriptors.get(key)
        if descriptor is None:
            raise UnsupportedProvider(key, self.keys)
        return descriptor
