"""Sides: what an ephemeral fork of a live conversation is, as values and decisions. Nothing of one is ever stored.

This package is pure: it knows no store, no task and no wire. `runtime.actors.side` performs what is decided here.
"""
