"""The notifications of Codex that this program knows and deliberately makes nothing of. Data only.

A notification in no list is counted as unknown: so a new version shows what it has to say.
"""

from typing import Final

QUIET: Final = frozenset(
    [
        "account/gatewayOAuth/changed",
        "account/login/completed",
        "account/rateLimits/updated",
        "account/updated",
        "app/list/updated",
        "autoApprovalReview/strictReviewRequired",
        "command/exec/outputDelta",
        "deprecationNotice",
        "externalAgentConfig/import/completed",
        "externalAgentConfig/import/progress",
        "fs/changed",
        "hook/completed",
        "hook/started",
        "item/autoApprovalReview/completed",
        "item/autoApprovalReview/started",
        "item/commandExecution/terminalInteraction",
        "item/mcpToolCall/progress",
        "item/reasoning/summaryPartAdded",
        "mcpServer/event/stream/notification",
        "mcpServer/oauthLogin/completed",
        "model/safetyBuffering/updated",
        "model/verification",
        "modelProvider/authRecoveryCompleted",
        "modelProvider/authRecoveryStarted",
        "process/exited",
        "process/outputDelta",
        "project/changed",
        "remoteControl/status/changed",
        "skills/changed",
        "thread/archived",
        "thread/attachment/updated",
        "thread/compacted",
        "thread/environment/connected",
        "thread/environment/disconnected",
        "thread/goal/cleared",
        "thread/goal/updated",
        "thread/prediction/updated",
        "thread/project/updated",
        "thread/queue/changed",
        "thread/readState/changed",
        "thread/reverted",
        "thread/section/changed",
        "thread/started",
        "thread/unarchived",
        "turn/diff/updated",
        "turn/moderationMetadata",
        "windows/worldWritableWarning",
        "windowsSandbox/setupCompleted",
    ]
)
