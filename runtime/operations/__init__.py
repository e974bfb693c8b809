"""Operation tasks: commands that touch several identities, or wait for what a runtime does.

They run in the service's nursery and take lifecycle locks, always lock first, mailbox second (`architecture rule
5`). A client that goes away cancels none of them.
"""
