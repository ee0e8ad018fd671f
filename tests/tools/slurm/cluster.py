"""Starts and ends a Slurm cluster whose four nodes are names on the loopback address.

Its key, ports, spool and log lie in one folder, so that a real cluster beside it is not touched.
Needs root, and the packages slurmctld, slurmd, slurm-client and munge.
"""

import os
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

NODES = ("n0", "n1", "n2", "n3")
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
START_S, END_S = 20.0, 10.0

CONFIGURATION = """
ClusterName=four
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd.%n
NodeName=n[0-3] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=30 State=UP
"""  # noqa: E501


def lacking() -> str:
    """Return what is missing for a cluster, "" for nothing."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "only root may start the nodes"


@contextmanager
def cluster(folder: Path):
    """Start the cluster; yield the environment in which `srun` finds it."""
    host, port = socket.gethostname().partition(".")[0], _free_ports(len(NODES) + 1)
    for name in ("state", "log", *(f"spool.{node}" for node in NODES)):
        (folder / name).mkdir(parents=True)
    (folder / "munge").mkdir(mode=0o700)
    key = folder / "munge/key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    path = folder / "slurm.conf"
    places = {"host": host, "folder": folder, "cpus": os.cpu_count()}
    ports = {"port": port, "first": port + 1, "last": port + len(NODES)}
    path.write_text(CONFIGURATION.format(**places, **ports))
    environment = {**os.environ, "SLURM_CONF": str(path)}
    with ExitStack() as stack:

        def start(*command: str) -> None:
            log = stack.enter_context((folder / "log" / f"{Path(command[0]).name}.out").open("ab"))
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            stack.callback(_end, process)

        munge = folder / "munge"
        start(
            *("munged", "-F", "--force", f"--key-file={key}", f"--socket={munge}/socket"),
            *(f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"),
        )
        _wait(lambda: (munge / "socket").exists(), "munged")
        start("slurmctld", "-D")
        for node in NODES:
            start("slurmd", "-D", "-N", node)
        _wait(lambda: _idle(environment) == len(NODES), "the nodes")
        yield environment


def _idle(environment) -> int:
    said = subprocess.run(
        ["sinfo", "-h", "-t", "idle", "-o", "%D"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return int(said) if said.isdigit() else 0


def _wait(is_there, what: str) -> None:
    end_s = time.monotonic() + START_S
    while not is_there():
        assert time.monotonic() < end_s, f"{what} did not start"
        time.sleep(0.1)


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(count: int) -> int:
    """Return the first of `count` neighbouring ports that are free."""
    for port in range(26817, 60000, count):
        with ExitStack() as stack:
            try:
                for place in range(count):
                    taken = stack.enter_context(socket.socket())
                    taken.bind(("127.0.0.1", port + place))
            except OSError:
                continue
        return port
    raise AssertionError("no port is free")
