"""The variables that say of a process, and of all its descendants, whose it is.

They are the daemon's own (`environment.OWN_PREFIX`), so no configuration can forge or remove them.
"""

from __future__ import annotations

INSTANCE_MARK = "GREENROOM_INSTANCE"
"""Value: the instance id of the daemon."""
LAUNCH_MARK = "GREENROOM_LAUNCH"
"""Value: the number of the launch within its instance."""
