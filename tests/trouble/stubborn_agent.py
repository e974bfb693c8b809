"""An agent with a family that does everything to outlive it: `python -I -S stubborn_agent.py CHILD FOLDER COMMAND...`.

Starts CHILD, the stubborn child of the process guard's tests, which notes its processes in FOLDER, and becomes the
agent that COMMAND starts.
"""

import os
import sys

CHILD, FOLDER, *COMMAND = sys.argv[1:]

if os.fork() == 0:
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.execv(sys.executable, (sys.executable, "-I", "-S", CHILD, FOLDER))
os.execv(COMMAND[0], COMMAND)
