"""`greenroom run -i`: a conversation at the terminal.

`conversation` holds it, `keyboard` and `editor` are the two ways words come in, `paper` is where the others go,
`asking` has the agent's questions answered, `beside` asks in a Side, `slash` reads commands. `command` puts them together.
"""
