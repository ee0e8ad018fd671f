"""A fake pynvml: GPUs made of answers by the name of the call. Nothing was measured.

A call without an answer is not supported, as with a real driver.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

NOT_SUPPORTED, NO_PERMISSION, DRIVER_NOT_LOADED, LOST, MISMATCH, UNKNOWN = 3, 4, 9, 15, 18, 999
HIDDEN_ADDRESS = SimpleNamespace(domain=0xFFFFFFFF, bus=0xFF, device=0xFF, busId="FFFFFFFF:FF:FF.0")
MIB, GIB = 2**20, 2**30


class NVMLError(Exception):
    """As pynvml's: the number of the failure is its `value`."""

    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


class FakeGpu:
    """The handle of a GPU; an answer that can be called gets the arguments after the handle."""

    def __init__(self, bus: int = 0x1A, **answers: Any) -> None:
        self.address = f"0000:{bus:02x}:00.0"
        self.fields: dict[tuple[int, int], int] = {}
        self.links: list[dict[str, Any]] = []
        self.ways: dict[str, tuple[int, int]] = {}  # address: (ancestor, peer-to-peer status)
        self.answers: dict[str, Any] = {
            "PciInfo_v3": SimpleNamespace(domain=0, bus=bus, device=0, busId=f"00000000:{bus:02X}"),
            "FieldValues": self._read_fields,
            "NvLinkState": lambda n: self._link(n, "state"),
            "NvLinkVersion": lambda n: self._link(n, "version"),
            "NvLinkRemoteDeviceType": lambda n: self._link(n, "kind"),
            "NvLinkRemotePciInfo": lambda n: self._link(n, "peer"),
            "TopologyCommonAncestor": lambda other: self._way(other)[0],
            "P2PStatus": lambda other, what: self._way(other)[1] if what in (0, 1) else 5,
            **answers,
        }

    def _link(self, number: int, part: str) -> Any:
        if number >= len(self.links):
            raise NVMLError(2)
        if part not in self.links[number]:
            raise NVMLError(NOT_SUPPORTED)
        return self.links[number][part]

    def _way(self, other: FakeGpu) -> tuple[int, int]:
        if other.address not in self.ways:
            raise NVMLError(NOT_SUPPORTED)
        return self.ways[other.address]

    def _read_fields(self, wanted: list[tuple[int, int]]) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(
                nvmlReturn=0 if key in self.fields else NOT_SUPPORTED,
                valueType=3,
                value=SimpleNamespace(ullVal=self.fields.get(key, 0)),
            )
            for key in wanted
        ]


class FakeNvml:
    """The switches: what is not supported, not there, or lost, call by call.

    `failing` maps a call to the number with which it fails, for all GPUs; `lost` an address to how
    many calls about that GPU are answered before it falls off the bus. `absent` are calls that this
    pynvml does not have. `calls` are those that were made.
    """

    NVMLError = NVMLError

    def __init__(self, *gpus: FakeGpu, **system: Any) -> None:
        self.gpus = gpus
        self.failing: dict[str, int] = {}
        self.lost: dict[str, int] = {}
        self.absent: set[str] = set()
        self.calls: list[str] = []
        self.is_open = False
        self.system = {"DriverVersion": "570.86.10", "CudaDriverVersion_v2": 12080, **system}

    def __getattr__(self, name: str) -> Any:
        if name in self.absent:
            raise AttributeError(name)
        return lambda *arguments: self.call(name, *arguments)

    def call(self, name: str, *arguments: Any) -> Any:
        """Answer a call of the library."""
        self.calls.append(name)
        if name in self.failing:
            raise NVMLError(self.failing[name])
        if name in ("nvmlInit", "nvmlShutdown"):
            self.is_open = name == "nvmlInit"
            return None
        assert self.is_open, f"{name} before nvmlInit or after nvmlShutdown"
        if name == "nvmlDeviceGetCount":
            return len(self.gpus)
        if name == "nvmlDeviceGetHandleByIndex":
            gpu = self.gpus[arguments[0]]
            if "Handle" in gpu.answers:
                raise gpu.answers["Handle"]
            return gpu
        if name.startswith("nvmlSystemGet"):
            return self.system[name.removeprefix("nvmlSystemGet")]
        gpu, rest = arguments[0], arguments[1:]
        if gpu.address in self.lost:
            self.lost[gpu.address] -= 1
            if self.lost[gpu.address] < 0:
                raise NVMLError(LOST)
        answer = gpu.answers.get(name.removeprefix("nvmlDeviceGet"), NVMLError(NOT_SUPPORTED))
        if isinstance(answer, Exception):
            raise answer
        return answer(*rest) if callable(answer) else answer


def h100(bus: int = 0x1A, **answers: Any) -> FakeGpu:
    """Return a GPU with the figures of an H100 SXM, and no NVLinks."""
    memory = SimpleNamespace(total=85520809984, used=1 * GIB, free=85520809984 - 1 * GIB)
    gpu = FakeGpu(
        bus,
        **{
            "Name": "NVIDIA H100 80GB HBM3",
            "UUID": f"GPU-{bus:08x}-1111-2222-3333-444444444444",
            "CudaComputeCapability": (9, 0),
            "MemoryInfo": memory,
            "MemoryBusWidth": 5120,
            "MaxClockInfo": {0: 1980, 1: 1980, 2: 2619}.get,
            "ClockInfo": {0: 1755, 1: 1755, 2: 2619}.get,
            "EnforcedPowerLimit": 700_000,
            "PowerManagementDefaultLimit": 700_000,
            "PowerManagementLimitConstraints": [200_000, 700_000],
            "PowerUsage": 350_000,
            "EccMode": [1, 1],
            "PersistenceMode": 1,
            "VirtualizationMode": 0,
            "MigMode": [0, 0],
            "MemoryAffinity": lambda words, scope: [2] + [0] * (words - 1),
            "UtilizationRates": SimpleNamespace(gpu=97, memory=41),
            "Temperature": lambda sensor: 61,
            "TemperatureThreshold": {0: 92, 1: 89}.get,
            "Architecture": 9,
            "BAR1MemoryInfo": SimpleNamespace(bar1Total=128 * GIB),
            "CurrentClocksEventReasons": 0x4,
            "TotalEccErrors": lambda kind, counter: 0,
            "RemappedRows": (0, 0, 0, 0),
            "PcieReplayCounter": 0,
            "ComputeRunningProcesses_v3": [],
            "GraphicsRunningProcesses_v3": [],
            "CurrPcieLinkGeneration": 5,
            "CurrPcieLinkWidth": 16,
            "MaxPcieLinkGeneration": 5,
            "MaxPcieLinkWidth": 16,
            "GpuMaxPcieLinkGeneration": 5,
            "PcieThroughput": lambda counter: 2000 if counter == 0 else 1000,
            **answers,
        },
    )
    gpu.fields[197, 0] = gpu.fields[198, 0] = 0
    return gpu


def with_switches(count: int = 8, links: int = 18, **link: Any) -> list[FakeGpu]:
    """Return GPUs whose NVLinks all lead to switches; pairs of them share a PCIe switch."""
    gpus = [h100(0x10 + 0x10 * n, GpuFabricInfoV=fabric(3)) for n in range(count)]
    peer = SimpleNamespace(domain=0, bus=0x05, device=0, busId="00000000:05:00.0")
    for n, gpu in enumerate(gpus):
        gpu.links = [
            {"state": 1, "version": 6, "kind": 2, "peer": peer, **link} for _ in range(links)
        ]
        gpu.fields[91, 0] = links
        gpu.fields |= {(165, number): 1 for number in range(links)}
        gpu.fields |= {(164, number): 26562 for number in range(links)}
        gpu.ways = {
            other.address: (10 if m // 2 == n // 2 else 40 if m // 4 == n // 4 else 50, 0)
            for m, other in enumerate(gpus)
        }
    return gpus


def pointed_at(pointer: Any) -> Any:
    """Return the object behind a ctypes.byref()."""
    return pointer._obj  # noqa: SLF001  (ctypes has no public way)


def fabric(state: int, status: int = 0) -> Any:
    """Return an answer that fills the structure it is given a pointer to."""

    def fill(pointer: Any) -> int:
        info = pointed_at(pointer)
        assert info.version == 0x2000024
        info.state, info.status = state, status
        return 0

    return fill
