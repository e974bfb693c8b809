"""Fifty kinds of keys, tokens, passwords and places that must never be seen outside the agent that let them out.

None of them was ever valid. They are put together here so that no scanner takes one for a leak.
"""

_A = "Q7mZ4kT9wX2bV8nL1cR6yH3sD5fG0jPa"
_HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
_KEY_TEXT = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3"


def _key(beginning: str, body: str = _A) -> str:
    return beginning + body


BARE = {
    "openai": _key("sk-proj-"),
    "anthropic": _key("sk-ant-" + "api03-"),
    "openrouter": _key("sk-or-v1-", _HEX),
    "stripe live": _key("sk_" + "live_"),
    "stripe restricted": _key("rk_" + "live_"),
    "stripe webhook": _key("whsec_"),
    "github classic": _key("ghp_"),
    "github fine": _key("github_pat_"),
    "github app": _key("ghs_"),
    "gitlab": _key("glpat-"),
    "slack bot": _key("xoxb-", "2023-4711-" + _A),
    "slack app": _key("xapp-", "1-A02-4711-" + _HEX),
    "aws key id": _key("AKIA", "Q7MZ4KT9WX2BV8NL"),
    "aws session id": _key("ASIA", "Q7MZ4KT9WX2BV8NL"),
    "google api": _key("AIza", "SyD-" + _A),
    "google access": _key("ya29.", "a0Af_" + _A),
    "google refresh": _key("1//0", "g" + _A),
    "jwt": ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NSJ9", _A)),
    "npm": _key("npm_", _A + "abcd"),
    "pypi": _key("pypi-", "AgEIcHlwaS5vcmc" + _A),
    "hugging face": _key("hf_"),
    "groq": _key("gsk_"),
    "xai": _key("xai-"),
    "nvidia": _key("nvapi-"),
    "replicate": _key("r8_"),
    "digital ocean": _key("dop_v1_", _HEX * 2),
    "shopify": _key("shpat_", _HEX),
    "sendgrid": _key("SG.", _A[:22] + "." + _A),
    "linear": _key("lin_api_"),
    "grafana": _key("glsa_", _A + "_1a2b3c4d"),
    "sentry": _key("sntrys_"),
    "docker": _key("dckr_pat_"),
    "databricks": _key("dapi", _HEX),
    "vault": _key("hvs."),
    "tailscale": _key("tskey-", "auth-" + _A),
    "age": _key("AGE-SECRET-KEY-", "1" + _A.upper()),
    "telegram": "4711081500:" + "AAF" + _A,
}
"""What gives itself away wherever it stands."""

TOLD = {
    "bearer": ("Authorization: Bearer {}", "mF_9.B5f-4.1JqM"),
    "basic": ("Authorization: Basic {}", "dXNlcjpvcGVuIHNlc2FtZQ=="),
    "api key header": ("x-api-key: {}", "7c1f8a2e9b"),
    "cookie": ("Cookie: {}", "sid=s%3A4711.abcdef; theme=dark"),
    "password": ("password={}", "correct-horse"),
    "client secret": ('{{"client_secret": "{}"}}', "battery-staple"),
    "aws secret": ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
    "azure": ("AccountName=x;AccountKey={};", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50u"),
    "database": ("postgres://app:{}@db.internal/main", "s3cr3t-words"),
    "query": ("GET https://host/v1?alt=json&key={}&x=1", "4711abcdef0815"),
    "option": ("agent --api-key {} --verbose", "k-4711-abcdef"),
    "private key": (
        "-----BEGIN RSA " + "PRIVATE KEY-----\n{}\n-----END RSA " + "PRIVATE KEY-----",
        _KEY_TEXT,
    ),
    "slack hook": ("https://hooks.slack.com/services/{}", "T0/B0/" + _A),
}
"""What is a secret for the words before it: those, and the secret."""

PLACES = {
    "home": "/home/ada/.codex/auth.json",
    "mac home": "/Users/ada/Library/Application/agent.log",
    "root": "/root/.ssh/id_ed25519",
    "tilde": "~ada/.aws/credentials",
    "windows": "C:\\Users\\ada\\.claude\\credentials.json",
}
"""Places on the machine; the last name of each may be told."""

HIDDEN = {
    **BARE,
    **{name: secret for name, (_, secret) in TOLD.items()},
    **{place: path.replace("\\", "/").rpartition("/")[0] for place, path in PLACES.items()},
}
"""What must not be found, by kind."""

SAID = {
    **{name: f"the agent failed with {secret} in hand" for name, secret in BARE.items()},
    **{name: f"it said: {words.format(secret)}" for name, (words, secret) in TOLD.items()},
    **{place: f"cannot read {path}: no such file" for place, path in PLACES.items()},
}
"""The words of an agent with each, by kind."""


def found_in(text: str) -> list[str]:
    """The kinds that can be seen in a text, whatever way its slashes lean or are escaped."""
    plain = text.replace("\\\\", "\\")
    both = plain + "\n" + plain.replace("\\", "/")
    return [kind for kind, secret in HIDDEN.items() if secret in both]
