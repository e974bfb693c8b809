"""The service in production: the only package that names production implementations.

`composition` puts the controller together, `daemon` serves it on a socket; `embedding`, which others import by its
own name, puts it within another program; `ready` is how others learn of a daemon. The rest turns configuration into
what the parts take.
"""

from runtime.service.daemon import serve
from runtime.service.ready import ReadyLine, StartRefused

__all__ = ["ReadyLine", "StartRefused", "serve"]
