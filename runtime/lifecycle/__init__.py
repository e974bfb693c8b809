"""Pure state machines of a Session: (state, input) -> (state, effects). No I/O, no clock, no trio.

`session` composes the tables of `turn`, `interaction` and `link`; `transcript` turns provider events into
messages; `effects` lists everything a machine can want. Diagrams are drawn from the tables.
"""
