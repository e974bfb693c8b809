"""Provider families behind one port: registry, connection pool, JSON-RPC peer, and one folder per family.

Kept free of imports: the demo agent runs from this package without third-party libraries.
"""
