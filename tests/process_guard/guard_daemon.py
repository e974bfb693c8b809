"""A daemon reduced to its process guard: `python guard_daemon.py INSTANCES INSTANCE_ID PROGRAM...`.

Sweeps, launches the program once and prints one JSON line: what the sweep found and the pids. Then it runs until it
is killed.
"""

import json
import os
import sys
from pathlib import Path

import trio

from supervisor.process_guard import LaunchRequest, ProcessGuard, sweep


async def main() -> None:
    instances, instance_id, program = Path(sys.argv[1]), sys.argv[2], tuple(sys.argv[3:])
    report = await sweep(instances, own_instance_id=instance_id)
    guard = ProcessGuard(instances, instance_id)
    guard.start()
    process = await guard.launch(LaunchRequest(program, "/", {"PATH": os.environ["PATH"]}, "test"))
    ready = await process.stdout.read(100)
    pids = {"spawner": guard.spawner_pid, "reaper": process.reaper_pid, "provider": process.pid}
    swept = [identity.pid for identity in report.ended]
    print(
        json.dumps({"ready": ready.decode(), "swept": swept, "instances": report.instances, **pids}),
        flush=True,
    )
    await trio.sleep_forever()


trio.run(main)
