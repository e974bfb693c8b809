"""The service: lifecycle machines, actors, operations, providers, API, wire contract, command line.

Kept free of imports: the demo agent runs from this package without third-party libraries.
"""
