"""A real daemon under real faults: killed, armed with failpoints, and held to its promises by the simulator's checkers.

The daemon, its agents, its disk and its sockets are real here, and time is the machine's; clients, their plans and
every check are those of `runtime.simulation`, so that nothing is promised twice in different words.
"""
