"""Steps about the drivers' device files: they must exist, and the user must have permission."""

from __future__ import annotations

from machine.doctor.evidence import MODULES, Evidence, Vendor
from machine.doctor.hiding import hidden_by
from machine.doctor.remedies import pass_to_container
from machine.doctor.verdicts import Verdict, fine, wrong

_GROUP_MAY_USE = 0o060


def nodes(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the driver's device files exist."""
    cards = [c for c in evidence.cards_of(vendor) if c.address is not None]
    if not cards or evidence.surroundings.system != "linux":
        return None
    there = {node.path for node in evidence.nodes_of(vendor)}
    if vendor is Vendor.NVIDIA:
        missing = _missing_of_nvidia(evidence, there)
        command = "sudo nvidia-modprobe -c 0 -u"
    else:
        missing = [
            c.render_node or "/dev/dri/renderD*" for c in cards if c.render_node not in there
        ]
        missing += ["/dev/kfd"] if vendor is Vendor.AMD and "/dev/kfd" not in there else []
        command = f"sudo dmesg | grep -E '{'|'.join(MODULES.get(vendor, ()))}|kfd'"
    if missing and evidence.is_contained:
        commands = pass_to_container(evidence, vendor)
        return wrong("nodes_missing_in_container", *commands, paths=", ".join(missing))
    if missing:
        return wrong("nodes_missing", command, paths=", ".join(missing))
    return fine("nodes_there", paths=", ".join(sorted(there))) if there else None


def _missing_of_nvidia(evidence: Evidence, there: set[str]) -> list[str]:
    """Return the missing files, if they were needed: the driver makes them on first use."""
    # CUDA gives up before it makes them if all devices are hidden or the driver is too old.
    has_tried = not hidden_by(evidence, Vendor.NVIDIA) and not evidence.is_driver_too_old
    failed = has_tried and evidence.has_failed
    missing = []
    if failed or (evidence.nvml is not None and evidence.nvml.code != 0):
        missing += ["/dev/nvidiactl"] if "/dev/nvidiactl" not in there else []
        missing += [] if any(path[11:].isdecimal() for path in there) else ["/dev/nvidia0"]
    if failed and "/dev/nvidia-uvm" not in there:
        missing.append("/dev/nvidia-uvm")
    return missing


def permission(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether this user may open the device files."""
    speaking = evidence.nodes_of(vendor)
    denied = [node for node in speaking if not node.is_usable]
    if vendor is Vendor.NVIDIA and any(n.is_usable and n.path[11:].isdecimal() for n in speaking):
        denied = [node for node in denied if not node.path[11:].isdecimal()]  # others' GPUs
    if not speaking or evidence.surroundings.system != "linux":
        return None
    if not denied:
        return fine("permitted")
    first, around = denied[0], evidence.surroundings
    group, user = first.group or "", around.user or "$USER"
    if evidence.is_contained and vendor is not Vendor.NVIDIA:
        numbered = f"docker run --group-add $(getent group {group} | cut -d: -f3) ..."
        return wrong("not_permitted_in_container", numbered, path=first.path, group=group)
    if group in around.account_groups and group not in around.groups:
        return wrong("login_again", path=first.path, group=group)
    if group and group != "root" and (first.mode or 0) & _GROUP_MAY_USE == _GROUP_MAY_USE:
        command = f"sudo usermod --append --groups {group} {user}"
        return wrong("not_permitted", command, path=first.path, group=group)
    return wrong("not_permitted_to_all", f"sudo chmod a+rw {first.path}", path=first.path)
