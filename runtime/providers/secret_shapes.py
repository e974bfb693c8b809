"""What secrets and private places look like in words that somebody else wrote: keys, tokens, passwords, home folders.

Pure patterns over bytes. Each finds what is to be hidden as its group, or as a whole where it has none; the words
around it stay, so that a message still says what it is about. Whether a value of the environment is a secret is judged
in `redaction`.
"""

import re
from collections.abc import Iterable
from typing import Final

KEY_SHAPES: Final = (
    r"(?:sk-(?=[\w.+/=-]{12})|xox[a-z]-|gh[a-z]_|github_pat_|glpat-|AKIA|ASIA|AIza|ya29\.|1//0|eyJ|hvs\.|hvb\.|ATATT3|ATBB|tskey-)"
    r"[\w.+/=-]{8,}"
)
"""Keys whose beginning alone gives them away."""
_KEYS_WITH_DIGITS: Final = (
    r"(?:[spr]k_(?:live|test)_|whsec_|xapp-|pypi-|hf_|gsk_|xai-|pplx-|nvapi-|r8_|do[opr]_v1_|shp(?:at|ca|pa|ss)_|SG\."
    r"|sq0[a-z]{3}-|EAA|lin_(?:api|oauth)_|glsa_|glc_|sntry[su]_|PMAK-|figd_|dckr_[po]at_|dapi|sbp_|NRAK-|npm_|phc_|key-"
    r"|AGE-SECRET-KEY-|pul-|AC|SK|sess-|fw_)"
    r"(?=[\w.+/=-]*\d)[\w.+/=-]{24,}"
)
"""Others, which would be innocent words without their length and a digit."""
_VALUE: Final = r"[^\s\"',;&<>{}\[\]()\\]"
_QUOTE: Final = r"(?:\\*[\"'])?"
_BEFORE_VALUE: Final = rf"{_QUOTE}\s*(?:=>|[=:])\s*{_QUOTE}"
_SURE_NAMES: Final = r"(?:secret|passw(?:or)?d|passphrase|pwd|credentials?|private[_-]?key|account[_-]?key)"
_LIKELY_NAMES: Final = r"(?:key|token|signature|sig|session[_-]?id|auth|code|otp|cookie)"

_SECRETS: Final = (
    rf"(?<![\w-]){KEY_SHAPES}",
    rf"(?<![\w-]){_KEYS_WITH_DIGITS}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\Z)",
    r"(?i:(?<![a-z])bearer[ .])([\w.~+/=-]{8,})",
    rf"(?i:authorization{_BEFORE_VALUE}(?:(?:basic|token|digest|apikey|negotiate)\s+)?)(?!(?i:bearer)\s)({_VALUE}{{6,}})",
    r"(?i:cookie:\s*)([^\r\n]+)",
    rf"(?i:{_SURE_NAMES}{_BEFORE_VALUE})({_VALUE}{{4,}})",
    rf"(?i:{_LIKELY_NAMES}{_BEFORE_VALUE})(?={_VALUE}*\d)({_VALUE}{{8,}})",
    r"(?i:--[a-z-]*(?:token|key|secret|password)[= ])([^\s-]\S{5,})",
    r"://([^/@\s]*:[^/@\s]+)(?=@)",
    r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/(\S+)",
    r"(?<![\w:])(\d{8,10}:[\w-]{35})(?![\w-])",
)
_FOLDERS: Final = (
    r"(?:(?<=file://)|(?<![\w.:/~\\-]))((?:~[\w.-]*|/[\w.@+%-]+)(?:/[\w.@+%-]+)*/)(?=[\w.@+%~-])",
    r"(?<![\w])([A-Za-z]:\\(?:[\w.@+%~ -]+\\)+)(?=[\w.@+%~-])",
)

SECRETS: Final = tuple(re.compile(pattern.encode()) for pattern in _SECRETS)
"""Keys, tokens and passwords."""
FOLDERS: Final = tuple(re.compile(pattern.encode()) for pattern in _FOLDERS)
"""The folders of a path, up to its last name."""
LONGEST_BYTES: Final = 4096
"""So much of a shape is looked for before a cut; what is longer has been hidden at its beginning."""


def spans_in(patterns: Iterable[re.Pattern[bytes]], data: bytes) -> list[tuple[int, int]]:
    """What is to be hidden, in order; spans that touch are one."""
    found = sorted(
        match.span(match.re.groups)
        for pattern in patterns
        for match in pattern.finditer(data)
        if match.group()
    )
    joined: list[tuple[int, int]] = []
    for begin, end in found:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif begin < end:
            joined.append((begin, end))
    return joined
