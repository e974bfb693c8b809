"""What is known of the agents themselves, beside their sessions: sign-in, models, skills, usage.

Snapshots of what providers tell (`docs/decisions/0031-catalogues-are-snapshots.md`), and the evidence that decides how a sign-in stands. Nothing here admits a prompt
or refuses one (PR-043).
"""
