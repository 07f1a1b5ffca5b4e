"""One list of checks for each part of a machine."""

from __future__ import annotations

from collections.abc import Callable
import dataclasses
import importlib.metadata
import os
import pathlib
import resource
import shutil
import sys

from . import advice
from .._caches import default_folder
from ..cli.output import size_text


@dataclasses.dataclass
class Check:
    name: str
    state: str  # "ok", "missing", "limit": there and in the way, "broken"
    found: str  # the version, or what is wrong
    path: str = ""
    use: str = ""  # what it is for
    loss: str = ""  # what happens without it
    remedy: str = ""  # the command that gets it


def of_finding(finding: dict) -> Check:
    """A finding of the library's with what we know about it. What has a path and a problem is there,
    and does not work."""
    known = advice.of(finding["name"])
    problem = finding["problem"]
    state = "ok" if not problem else "broken" if finding["path"] else "missing"
    path = os.path.normpath(finding["path"]) if finding["path"] else ""
    return Check(finding["name"], state, problem or finding["version"], path,
                 known.use, known.loss, known.remedy)


def cpu(found: dict) -> list[Check]:
    own = found["cpu"]
    checks = [Check("model", "ok", own["model"]),
              Check("features", "ok", own["features"].replace("+", " ")),
              Check("caches of a core", "ok", f"{own['l1'] >> 10} KiB L1, {own['l2'] >> 10} KiB L2"),
              Check("memory", "ok", memory_text())]
    return checks + [of_finding(finding) for finding in found["cpu_units"]]


def gpu(found: dict) -> list[Check]:
    checks = [of_finding(finding) for finding in found["cuda"]]
    for check in checks:
        if check.name == "CUDA driver" and check.state == "missing" and not has_nvidia_gpu():
            check.remedy = "nothing to do: this machine has no NVIDIA GPU"
    if named := os.environ.get("CAMSHAFT_CUDA_LIBRARY"):
        if checks[0].state != "ok":
            checks[0].state, checks[0].remedy = "broken", f"unset CAMSHAFT_CUDA_LIBRARY, which says {named}"
    return checks


def has_nvidia_gpu() -> bool:
    """On the PCI bus or as a device file, whether or not there is a driver."""
    vendors = pathlib.Path("/sys/bus/pci/devices").glob("*/vendor")
    return any(_text(path).strip() == "0x10de" for path in vendors) or pathlib.Path("/dev/nvidiactl").exists()


def camshaft(found: dict) -> list[Check]:
    checks = [of_finding(finding) for finding in found["camshaft"]]
    library = pathlib.Path(checks[0].path)
    stand_ins = sorted((library.parent / "tensorrt").glob("libnv*.so.10"))
    known = advice.of("TensorRT's sonames")
    names = ", ".join(path.name for path in stand_ins)
    return [*checks, Check("TensorRT's sonames", "ok" if stand_ins else "missing", names or "not installed",
                           str(library.parent / "tensorrt") if stand_ins else "", known.use, known.loss, known.remedy)]


def packages() -> list[Check]:
    checks = [Check("Python", "ok", sys.version.split()[0], sys.executable)]
    for name in advice.PACKAGES:
        known = advice.of(name)
        installed = next(filter(None, map(_installed, known.distributions or (name,))), None)
        checks.append(Check(name, "ok" if installed else "missing", installed or "not installed", "",
                            known.use, known.loss, known.remedy))
    return checks


def _installed(distribution: str) -> str | None:
    """The version, without the package's being imported."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def caches() -> list[Check]:
    folder = default_folder()
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    found = f"{len(files)} files, {size_text(size)}" if files else "empty"
    writable = os.access(next(path for path in (folder, *folder.parents) if path.exists()), os.W_OK)
    known = advice.of("cache folder")
    return [Check("cache folder", "ok" if writable else "limit",
                  found if writable else f"{found}, and cannot be written", str(folder),
                  known.use, known.loss, known.remedy)]


def limits(found: dict) -> list[Check]:
    """What the container or the shell keeps from this process; what is wide enough is no line."""
    checks = [_cores(found["cpu"]["cores"]), _memory()]
    checks += [_resource("open files", resource.RLIMIT_NOFILE, 1024),
               _resource("threads", resource.RLIMIT_NPROC, 1024),
               _resource("address space", resource.RLIMIT_AS, 1 << 36, size_text),
               _resource("locked memory", resource.RLIMIT_MEMLOCK, 1 << 20, size_text)]
    return [*checks, _shared_memory()]


def _cores(usable: int) -> Check:
    there = os.cpu_count() or usable
    known = advice.of("cores")
    if usable < there:
        return Check("cores", "limit", f"{usable} of {there} may be used (CPU quota or affinity)", "",
                     known.use, known.loss, known.remedy)
    return Check("cores", "ok", f"all {there} may be used")


def memory_text() -> str:
    facts = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in _text("/proc/meminfo").splitlines()}
    return f"{facts['MemTotal'] / 2**30:.1f} GiB, {facts['MemAvailable'] / 2**30:.1f} GiB free"


def _memory() -> Check:
    known = advice.of("memory of the container")
    limit = _text("/sys/fs/cgroup/memory.max").strip() or _text("/sys/fs/cgroup/memory/memory.limit_in_bytes").strip()
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if limit.isdigit() and int(limit) < total:
        return Check("memory of the container", "limit", f"{int(limit) / 2**30:.1f} GiB of {total / 2**30:.1f} GiB", "",
                     known.use, known.loss, known.remedy)
    return Check("memory of the container", "ok", "no limit below the machine's")


def _resource(name: str, which: int, enough: int, text: Callable[[float], str] = str) -> Check:
    soft = resource.getrlimit(which)[0]
    known = advice.of(name)
    if soft == resource.RLIM_INFINITY or soft >= enough:
        return Check(name, "ok", "no limit" if soft == resource.RLIM_INFINITY else text(soft))
    return Check(name, "limit", text(soft), "", known.use, known.loss, known.remedy)


def _shared_memory() -> Check:
    known = advice.of("/dev/shm")
    try:
        total = shutil.disk_usage("/dev/shm").total
    except OSError:
        return Check("/dev/shm", "missing", "not there", "", known.use, known.loss, known.remedy)
    state = "ok" if total >= 256 << 20 else "limit"
    return Check("/dev/shm", state, size_text(total), "", known.use, known.loss, known.remedy)


def _text(path: str | pathlib.Path) -> str:
    """The file's text; nothing where it cannot be read."""
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""
