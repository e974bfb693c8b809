"""Switches failpoints on for a daemon that was started for faults, and for no other (`contract §1`, `--enable-faults`).

Owns the environment variable and what is said of it. The places are `runtime.failpoints`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import structlog

from runtime.config import Configuration
from runtime.failpoints import VARIABLE, failpoints
from runtime.service.ready import EXIT_CONFIGURATION, StartRefused
from runtime.system_ports import SystemRandomness
from supervisor.failpoints import BadArming, UnknownFailpoint

log = structlog.get_logger(__name__)


@contextmanager
def faults_as_configured(config: Configuration, environment: Mapping[str, str]) -> Iterator[None]:
    """Failpoints are on within, if the flag says so, with those armed that the variable spells.

    Raises `StartRefused` for a name that there is not, or for an action that makes no sense.
    """
    spelled = environment.get(VARIABLE, "")
    if not config.enable_faults:
        if spelled:
            log.warning("failpoints are ignored without --enable-faults", variable=VARIABLE)
        yield
        return
    failpoints.switch_on(SystemRandomness().fraction)
    try:
        failpoints.arm_all(spelled)
    except (UnknownFailpoint, BadArming) as error:
        failpoints.switch_off()
        raise StartRefused(EXIT_CONFIGURATION, f"{VARIABLE}: {error}") from error
    log.warning("faults are enabled: this daemon can be told to fail", armed=spelled or None)
    try:
        yield
    finally:
        failpoints.switch_off()
