"""What is known of the agents themselves, beside their sessions: sign-in, models, skills, usage.

Snapshots of what providers tell (ADR 0028), and the evidence that decides how a sign-in stands. Nothing here admits a prompt
or refuses one (PR-043).
"""
