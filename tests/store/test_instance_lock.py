"""One daemon alone uses a data directory, and the kernel frees it however that daemon ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from store.errors import DataDirectoryInUse, NetworkFileSystem
from store.instance_lock import LOCK_FILE_NAME, acquire_instance_lock, kind_of_mount

HOLDER = """
import sys
from pathlib import Path
from store.instance_lock import acquire_instance_lock
lock = acquire_instance_lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /srv rw - nfs4 server:/export rw,vers=4.2
31 30 0:41 / /srv/local rw,noatime shared:5 - xfs /dev/vdb rw
32 22 0:42 / /home/a\040b rw - cifs //server/home rw
33 22 0:43 / /mnt rw - nfs server:/old rw
34 22 0:44 / /mnt rw - tmpfs tmpfs rw
""".strip()


@pytest.mark.case("FC-32")
def test_a_second_process_is_refused_with_the_first_ones_id_until_it_is_killed(tmp_path: Path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DataDirectoryInUse) as refused:
            acquire_instance_lock(tmp_path)
        assert refused.value.pid == holder.pid
        assert str(holder.pid) in str(refused.value)
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait(timeout=30)
        with acquire_instance_lock(tmp_path):
            assert (tmp_path / LOCK_FILE_NAME).read_text() == f"{os.getpid()}\n"
    finally:
        holder.stdin.close()
        holder.stdout.close()
        holder.kill()
        holder.wait(timeout=30)


def test_a_released_directory_is_free_again(tmp_path: Path):
    with acquire_instance_lock(tmp_path), pytest.raises(DataDirectoryInUse):
        acquire_instance_lock(tmp_path)
    with acquire_instance_lock(tmp_path) as lock:
        lock.release()
        acquire_instance_lock(tmp_path).release()


def test_a_holder_that_has_not_written_its_id_is_respected_all_the_same(tmp_path: Path):
    with acquire_instance_lock(tmp_path):
        (tmp_path / LOCK_FILE_NAME).write_text("")
        with pytest.raises(DataDirectoryInUse, match="another process") as refused:
            acquire_instance_lock(tmp_path)
        assert refused.value.pid is None


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib/greenroom", "ext4"),
        ("/srv/greenroom", "nfs4"),
        ("/srv/local/greenroom", "xfs"),
        ("/srvx", "ext4"),
        ("/home/a b/greenroom", "cifs"),
        ("/mnt/x", "tmpfs"),
    ],
)
def test_the_file_system_is_that_of_the_innermost_mount(folder, kind):
    assert kind_of_mount(MOUNTS, Path(folder)) == kind


def test_a_network_file_system_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("store.instance_lock.file_system_kind", lambda _: "nfs4")
    with pytest.raises(NetworkFileSystem, match="nfs4"):
        acquire_instance_lock(tmp_path)
    assert list(tmp_path.iterdir()) == []
