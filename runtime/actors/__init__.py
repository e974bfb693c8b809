"""Actors and what they share: the Session actor, the event hub, live tails and their flusher.

An actor is thin: it drains, asks its machine, and performs the effects in one exhaustive match. It decides
nothing; no actor asks another.
"""
