"""How a process is told what it is for: one conversation, new or found again, or an ephemeral fork of one.

Owns the words of the command line. A fork keeps nothing, and does nothing that would leave files behind when it is gone:
sub-agents, background commands and lists of tasks write some that Claude Code itself never removes.
"""

from typing import Final

from runtime.providers.claude_code.settings import launched_with
from runtime.providers.hosting import ConversationLaunch, HostedConversation

NOT_KEPT: Final = "--no-session-persistence"
_LEAVING_FILES: Final = (
    *("Agent", "Task", "Workflow", "SendMessage"),
    *("TaskCreate", "TaskUpdate", "TodoWrite", "EnterPlanMode", "EnterWorktree"),
    *("ScheduleWakeup", "CronCreate", "Monitor"),
)
_FORK_ARGUMENTS: Final = (
    "--fork-session",
    NOT_KEPT,
    "--system-prompt-snapshot=off",  # else the rules of the fork would give way to the prompt of its source
    f"--disallowedTools={','.join(_LEAVING_FILES)}",
)
_FORK_ENVIRONMENT: Final = {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}


def launch_of(conversation: HostedConversation) -> ConversationLaunch:
    """Which conversation a process is for, and under what it begins."""
    held, fork = launched_with(conversation), conversation.fork
    which = "--resume" if conversation.resumes else "--session-id"
    words = [f"{which}={conversation.session_id}"]
    if fork is not None:
        words += [f"--session-id={fork.fork_id}", *_FORK_ARGUMENTS]
    words.append(f"--permission-mode={held.mode}")
    for value, option in ((held.model, "--model"), (held.effort, "--effort")):
        if value is not None:
            words.append(f"{option}={value}")
    return ConversationLaunch(tuple(words), _FORK_ENVIRONMENT if fork is not None else {})


def is_kept(conversation: HostedConversation) -> bool:
    """Whether Claude Code writes it down: a target's own command may say that it does not."""
    return NOT_KEPT not in conversation.command
