"""The daemon in production: the only package that names production implementations.

`daemon` composes and runs, `ready` is how others learn of it; the rest turns configuration into what the parts take.
"""

from runtime.service.daemon import serve
from runtime.service.ready import ReadyLine, StartRefused

__all__ = ["ReadyLine", "StartRefused", "serve"]
