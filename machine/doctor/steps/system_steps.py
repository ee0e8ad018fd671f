"""Steps about the card, container, virtual machine and driver, and AMD's memory.

Each step takes the evidence and the vendor, and returns None if it does not apply.
"""

from __future__ import annotations

from msgspec.structs import replace

from machine.doctor.evidence import GPU_MAKERS, MODULES, Card, Evidence, Vendor
from machine.doctor.generations import UNSERVED
from machine.doctor.remedies import (
    DRIVERS_PAGE,
    REBOOT,
    branch_of,
    build_driver,
    generations,
    holders_of,
    install_driver,
    log_of,
    nearest,
    packaged_too_old,
    pass_to_container,
    rebuild_initramfs,
)
from machine.doctor.torch_remedies import (
    AMD_BUILDS_PAGE,
    AMD_TARGETS,
    AMD_WINDOWS_PAGE,
    INTEL_PAGE,
    is_newer_target,
)
from machine.doctor.verdicts import (
    Verdict,
    counted,
    fine,
    is_nearly_full,
    look,
    unknown,
    wrong,
)

_FREE_NVIDIA = ("nouveau", "nova_core", "nova")
# With which a distribution signs the modules that it builds.
_KEYS = {
    "ubuntu": "/var/lib/shim-signed/mok/MOK.der",
    "debian": "/var/lib/dkms/mok.pub",
    "fedora": "/etc/pki/akmods/certs/public_key.der",
}


def card(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether there is a card to compute on."""
    kernel, around = evidence.kernel, evidence.surroundings
    if kernel.removing_rule and not evidence.cards_of(Vendor.NVIDIA):
        commands = ("sudo prime-select on-demand", "sudo envycontrol -s hybrid", REBOOT)
        return wrong("card_switched_off", *commands, file=kernel.removing_rule)
    if vendor is not None:
        return _found(evidence, vendor)
    if around.wsl == 1:
        return wrong("wsl_1", "wsl --set-version DISTRIBUTION 2")
    is_built = evidence.torch and evidence.torch.built_for_any(GPU_MAKERS)
    how = look if is_built else unknown  # who installed it expects a card
    if around.wsl and not around.has_dxg:
        return how("wsl_without_gpu", "wsl --update", "wsl --shutdown")
    if around.wsl:
        return how("wsl_without_nvidia", DRIVERS_PAGE, "wsl --shutdown")
    if around.system == "macos":
        return fine("no_card_mac")
    if evidence.is_contained:
        return fine("no_card_container", *_pass_any(evidence), container=around.container or "")
    if around.virtualization not in (None, "none"):
        return fine("no_card_virtual", virtualization=around.virtualization or "")
    if evidence.displays:
        return fine("no_card_display", display=evidence.displays[0])
    return fine("no_card")


def _pass_any(evidence: Evidence) -> tuple[str, ...]:
    """Return how to pass a host's cards to a container, which cannot see their vendor."""
    names = {Vendor.NVIDIA: "NVIDIA", Vendor.AMD: "AMD"}
    ways = {pass_to_container(evidence, vendor): name for vendor, name in names.items()}
    if len(ways) == 1:  # the same for all
        return next(iter(ways))
    return tuple(f"{command}  # {name}" for commands, name in ways.items() for command in commands)


def _found(evidence: Evidence, vendor: Vendor) -> Verdict:
    named = _named(evidence, vendor)
    cards = counted([c.name for c in named] or [d.name or d.kind for d in evidence.torch_devices])
    if len(named) == 1 and named[0].address:
        cards += f" ({named[0].address})"
    others = counted(c.name for c in evidence.cards if c.vendor is not vendor)
    if shares := sum(card.shares for card in named):  # of the one card, as a rule
        if others:
            return fine("cards_with_shares", cards=cards, shares=shares, others=others)
        return fine("card_with_shares", cards=cards, shares=shares)
    return fine("cards", cards=cards, others=others) if others else fine("card", cards=cards)


def _named(evidence: Evidence, vendor: Vendor) -> list[Card]:
    """Return the cards, named by the driver or PyTorch if possible."""
    named = {gpu.address: gpu.name for gpu in evidence.gpus if vendor is Vendor.NVIDIA}
    cards, devices = evidence.cards_of(vendor), evidence.torch_devices
    if len(cards) == len(devices) == 1:
        named.setdefault(cards[0].address, devices[0].name)
    return [replace(c, name=named.get(c.address) or c.name) for c in cards]


def suited(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether PyTorch supports this kind of card."""
    torch = evidence.torch
    if evidence.has_computed:
        return None
    if vendor is Vendor.OTHER:
        (first, *_) = evidence.cards_of(vendor)
        return _last(unknown("other_maker", name=first.name, package=first.needs or ""))
    is_chosen = torch is not None and bool(torch.xpu if vendor is Vendor.INTEL else torch.hip)
    if is_chosen:  # a user who installed this build expects it to work
        return None
    if vendor is Vendor.INTEL and all(c.only_draws for c in evidence.cards_of(vendor)):
        if any(card.is_unlisted for card in evidence.cards_of(vendor)):
            return _last(unknown("intel_unlisted", INTEL_PAGE))
        return _last(unknown("intel_integrated", INTEL_PAGE))
    targets = {device.target for device in evidence.amd}
    if vendor is Vendor.AMD and targets and not targets & AMD_TARGETS:
        listed = ", ".join(sorted(targets))
        if any(map(is_newer_target, targets)):
            return _last(unknown("amd_unlisted", AMD_BUILDS_PAGE, targets=listed))
        return _last(unknown("amd_unserved", AMD_BUILDS_PAGE, targets=listed))
    if vendor is Vendor.NVIDIA and (old := _unserved(evidence)):
        return _last(unknown("generation_unserved", generation=old))
    if vendor is Vendor.AMD and evidence.surroundings.system == "windows":
        return _last(unknown("amd_windows", AMD_WINDOWS_PAGE))
    return None


def _unserved(evidence: Evidence) -> str | None:
    """Return the name of a generation for which PyTorch has no code any more, if all are of one."""
    torch = evidence.torch
    known = generations(evidence)
    if not known or len(known) < len(evidence.cards_of(Vendor.NVIDIA)):
        return None
    is_chosen = torch is not None and bool(torch.cuda)  # an old one may still have code
    return None if is_chosen or known[-1].name not in UNSERVED else known[-1].name


def generation(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Say which drivers serve the card, where not every new driver does."""
    if evidence.has_computed:
        return None
    known, branch = generations(evidence), branch_of(evidence)
    if branch and evidence.kernel.told_branch:
        return fine("branch_told", branch=branch)
    if branch and known:
        return fine("branch_known", generation=known[0].name, branch=branch)
    if not known:
        numbered = [c for c in evidence.cards_of(vendor) if c.device_id is not None]
        new = numbered and not evidence.gpus
        return unknown("generation_unknown", name=numbered[0].name) if new else None
    newest = known[-1]
    if packaged := packaged_too_old(evidence):
        return fine("packages_too_old", generation=newest.name, first=newest.first,
                    packaged=packaged)  # fmt: skip
    if newest.open_modules == "must":
        return fine("open_modules_only", generation=newest.name, first=newest.first)
    return None


def _last(verdict: Verdict) -> Verdict:
    return replace(verdict, ends_walk=True)


def surroundings(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether a container or virtual machine hides the card."""
    around = evidence.surroundings
    if evidence.is_contained:
        container = around.container or ""
        is_loaded = any(name in evidence.kernel.loaded for name in MODULES.get(vendor, ()))
        if is_loaded and not evidence.nodes_of(vendor):
            hiding = around.environment.get("NVIDIA_VISIBLE_DEVICES")
            if vendor is Vendor.NVIDIA and hiding in ("", "void", "none"):
                return wrong("container_hides", value=hiding, container=container)
            commands = pass_to_container(evidence, vendor)
            return wrong("container_without_gpu", *commands, container=container)
        return fine("in_container", container=container)
    if around.wsl and evidence.libraries:  # Windows' libraries for WSL have no number
        is_harmful = evidence.has_failed or bool(evidence.nvml and evidence.nvml.code)
        how = wrong if is_harmful else look
        command = "sudo apt remove 'libnvidia-compute-*'"
        return how("driver_inside_wsl", command, installed=", ".join(evidence.libraries))
    if around.wsl:
        return fine("in_wsl")
    if around.virtualization not in (None, "none"):
        return fine("in_virtual_machine", virtualization=around.virtualization or "")
    return None


def driver(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the compute driver is loaded and holds the card."""
    cards = [c for c in evidence.cards_of(vendor) if c.address is not None]
    if vendor not in MODULES or not cards or evidence.surroundings.system != "linux":
        return None
    modules, holders = MODULES[vendor], {c.driver or "" for c in cards}
    if holders & set(modules) or (vendor is Vendor.NVIDIA and evidence.gpus):
        version = evidence.kernel.nvidia_version if vendor is Vendor.NVIDIA else None
        name = next((name for name in modules if name in holders), modules[0])
        return fine("driver_holds", driver=f"{name} {version}" if version else name)
    if "vfio-pci" in holders:
        return wrong("held_for_virtual_machine", "lspci -nnk")
    if evidence.is_contained and not evidence.kernel.loaded & set(modules):
        return wrong("host_without_driver", driver=modules[0])
    if vendor is Vendor.NVIDIA and holders & set(_FREE_NVIDIA):
        return _free_driver(evidence, next(name for name in _FREE_NVIDIA if name in holders))
    if "radeon" in holders:
        return wrong("radeon_holds", "sudo dmesg | grep -E 'radeon|amdgpu'")
    if evidence.kernel.loaded & set(modules):
        if vendor is Vendor.NVIDIA:
            return _ignored(evidence)
        return wrong("driver_ignores_card", log_of(vendor), driver=modules[0])
    return _not_loaded(evidence, vendor, modules[0])


def _ignored(evidence: Evidence) -> Verdict:
    """Return why NVIDIA's loaded driver did not take the card: by its log, else by the tables."""
    kernel, install = evidence.kernel, install_driver(evidence)
    version, known = kernel.nvidia_version or "?", generations(evidence)
    major = int(number) if (number := version.partition(".")[0]).isdecimal() else None
    if kernel.told_branch:
        return wrong("driver_without_card", *install, driver=version, branch=kernel.told_branch)
    if known and major:
        card, name = known[0], known[0].name
        if card.last and major > card.last:
            return wrong("driver_past_card", *install, driver=version, generation=name,
                         branch=card.last)  # fmt: skip
        if major < card.first:
            return wrong("driver_before_card", *install, driver=version, generation=name,
                         first=card.first)  # fmt: skip
        if card.open_modules == "cannot" and kernel.is_open:
            return wrong("open_modules_refuse", *install, driver=version, generation=name)
        if kernel.told_open or (card.open_modules == "must" and kernel.is_open is False):
            return wrong("open_modules_needed", *install, driver=version, generation=name)
    return wrong("driver_ignores_card", log_of(Vendor.NVIDIA), driver=f"nvidia {version}")


def _free_driver(evidence: Evidence, name: str) -> Verdict:
    kernel, release = evidence.kernel, evidence.kernel.release or ""
    if kernel.built is None and kernel.built_elsewhere:
        return wrong("modules_gone", REBOOT, release=release)
    if kernel.built is None:
        commands = ("modinfo nvidia", *install_driver(evidence))
        return wrong("free_driver_untold", *commands, driver=name)
    if "nvidia" in kernel.built_elsewhere:  # after an update, the free driver steps in
        build = build_driver(evidence)
        return wrong("driver_of_other_kernel", *build, REBOOT, driver="nvidia", release=release)
    if "nvidia" not in kernel.built:
        return wrong("free_driver_alone", *install_driver(evidence), driver=name)
    forbid = (
        f"printf 'blacklist {name}\\noptions {name} modeset=0\\n'"
        f" | sudo tee /etc/modprobe.d/blacklist-{name}.conf",
        rebuild_initramfs(evidence),
        REBOOT,
    )
    if "nvidia" in kernel.loaded or kernel.secure_boot is False:
        return wrong("free_driver_in_the_way", *forbid, driver=name)
    # Without the free driver, and with a module that the kernel refuses, there would be none.
    key = nearest(evidence, _KEYS, "KEY")
    sign = ("sudo modprobe nvidia", f"sudo mokutil --import {key}", REBOOT)
    if kernel.secure_boot:
        return wrong("free_driver_secure_boot", *sign, *forbid, driver=name)
    return wrong("free_driver_boot_untold", "mokutil --sb-state", *sign, *forbid, driver=name)


def _not_loaded(evidence: Evidence, vendor: Vendor | None, module: str) -> Verdict:
    kernel, release = evidence.kernel, evidence.kernel.release or ""
    if file := kernel.blacklisted.get(module):
        see = f"grep -n {module} {file}"
        return wrong("driver_blacklisted", see, REBOOT, driver=module, file=file)
    if kernel.built is None and kernel.built_elsewhere:  # an update removed this kernel's modules
        return wrong("modules_gone", REBOOT, release=release)
    if kernel.built is None:
        commands = install_driver(evidence) if vendor is Vendor.NVIDIA else (log_of(vendor),)
        return wrong("driver_untold", f"sudo modprobe {module}", *commands, driver=module)
    if module in kernel.built:
        if kernel.secure_boot:
            key = nearest(evidence, _KEYS, "KEY")
            commands = (f"sudo modprobe {module}", f"sudo mokutil --import {key}")
            return wrong("secure_boot", *commands, REBOOT, driver=module)
        return wrong("driver_not_loaded", f"sudo modprobe {module}", driver=module)
    if module in kernel.built_elsewhere and vendor is Vendor.NVIDIA:
        build = build_driver(evidence)
        return wrong("driver_of_other_kernel", *build, driver=module, release=release)
    if vendor is Vendor.NVIDIA:
        return wrong("driver_missing", *install_driver(evidence))
    names = evidence.surroundings.distributions
    more = f"sudo apt install linux-modules-extra-{release}" if "ubuntu" in names else "uname -r"
    return wrong("kernel_without_driver", more, driver=module, release=release)


def power(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether the card is awake, asleep or off the bus."""
    cards = evidence.cards_of(vendor)
    gone = [c for c in cards if c.answers is False]
    if gone:
        name, address = gone[0].name, gone[0].address or ""
        return wrong("off_the_bus", log_of(vendor), REBOOT, name=name, address=address)
    states = {c.runtime_status for c in cards}
    if "error" in states:
        return wrong("cannot_wake", "sudo dmesg | grep -i -E 'D3|pm'", REBOOT)
    if states & {"suspended", "suspending"}:
        return fine("asleep")
    return None


def amd_memory(evidence: Evidence, vendor: Vendor | None) -> Verdict | None:
    """Judge whether AMD's cards have free memory."""
    for device in evidence.amd if vendor is Vendor.AMD else ():
        total, used = device.total_bytes, device.used_bytes
        if total and used is not None and is_nearly_full(total - used, total):
            return look("amd_memory_full", holders_of(evidence, vendor), free_bytes=total - used,
                        total_bytes=total)  # fmt: skip
    return None
