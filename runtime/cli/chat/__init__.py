"""`greenroom run -i`: a conversation at the terminal.

`conversation` holds it, `keyboard` and `editor` (on a `held_terminal`) are the two ways words come in, `line_queue` keeps
them in order, `paper` is where the others go,
`asking` has the agent's questions answered, `beside` asks in a Side, `slash` reads commands. `command` puts them together.
"""
