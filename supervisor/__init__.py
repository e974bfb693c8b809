"""Generic actor kernel: cells, actors, mailboxes, references, supervision, lifecycle locks, process guard.

Knows no Session, no SQL and no provider; imports nothing of ours outside itself. To read it, begin with
`actor` (what an actor is), then `mailbox`, `cell` and `directory` (how it lives), then `tree`. The process
guard is a package of its own, `supervisor.process_guard`.
"""

from supervisor.actor import Behaviour as Behaviour
from supervisor.back_off import BackOff as BackOff
from supervisor.cell import BehaviourFactory as BehaviourFactory
from supervisor.cell import Cell as Cell
from supervisor.cell import CellHooks as CellHooks
from supervisor.cell import CellPolicy as CellPolicy
from supervisor.child_spec import ChildSpec as ChildSpec
from supervisor.child_spec import RestartKind as RestartKind
from supervisor.child_spec import StopRequest as StopRequest
from supervisor.directory import Directory as Directory
from supervisor.directory import DirectoryStatistics as DirectoryStatistics
from supervisor.errors import ActorStopped as ActorStopped
from supervisor.errors import AskTimedOut as AskTimedOut
from supervisor.errors import ChildStartFailed as ChildStartFailed
from supervisor.errors import LifecycleOrderViolation as LifecycleOrderViolation
from supervisor.errors import LifecycleTimeout as LifecycleTimeout
from supervisor.errors import MailboxFull as MailboxFull
from supervisor.errors import RestartIntensityExceeded as RestartIntensityExceeded
from supervisor.errors import StopTimedOut as StopTimedOut
from supervisor.errors import SupervisorError as SupervisorError
from supervisor.exit_reason import Crashed as Crashed
from supervisor.exit_reason import ExitReason as ExitReason
from supervisor.exit_reason import Normal as Normal
from supervisor.exit_reason import Shutdown as Shutdown
from supervisor.lifecycle_locks import LifecycleHolding as LifecycleHolding
from supervisor.lifecycle_locks import LifecycleIdentity as LifecycleIdentity
from supervisor.lifecycle_locks import LifecycleLocks as LifecycleLocks
from supervisor.mailbox import Mailbox as Mailbox
from supervisor.mailbox import MailboxLimits as MailboxLimits
from supervisor.mailbox import MailboxStatistics as MailboxStatistics
from supervisor.reference import ActorReference as ActorReference
from supervisor.reference import ReplySlot as ReplySlot
from supervisor.resource_sweeper import AdoptedResource as AdoptedResource
from supervisor.resource_sweeper import ResourceSweeper as ResourceSweeper
from supervisor.resource_sweeper import SweeperLimits as SweeperLimits
from supervisor.restart_intensity import RestartIntensity as RestartIntensity
from supervisor.tree import Supervisor as Supervisor
from supervisor.work_lane import PlaceMark as PlaceMark
