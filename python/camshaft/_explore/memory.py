"""Who reads what, and what lies where when: from the places of operands."""

from __future__ import annotations

import bisect
from typing import Any

ARENAS = ("Arena", "HostArena")


def _block(memory: dict[str, Any]) -> tuple[str, int, int] | None:
    """Arena, first byte and the one behind the last."""
    if memory.get("Place") not in ARENAS or not memory.get("Bytes"):
        return None
    return memory["Place"], memory["Offset"], memory["Offset"] + memory["Bytes"]


class _Intervals:
    """Stretches of memory that do not overlap, each with what is known of it."""

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.values: list[Any] = []

    def _range(self, begin: int, end: int) -> tuple[int, int]:
        return bisect.bisect_right(self.ends, begin), bisect.bisect_left(self.begins, end)

    def overlapping(self, begin: int, end: int) -> list[Any]:
        first, last = self._range(begin, end)
        return self.values[first:last]

    def put(self, begin: int, end: int, value: Any, keep_rest: bool) -> None:
        """In place of what was there; `keep_rest`: but for what of that is outside."""
        first, last = self._range(begin, end)
        rows = [(begin, end, value)]
        if keep_rest and first < last:
            if self.begins[first] < begin:
                rows.insert(0, (self.begins[first], begin, self.values[first]))
            if self.ends[last - 1] > end:
                rows.append((end, self.ends[last - 1], self.values[last - 1]))
        self.begins[first:last], self.ends[first:last], self.values[first:last] = map(list, zip(*rows))


def producers(layers: list[dict[str, Any]]) -> list[list[list[int]]]:
    """For each layer and input, the layers that wrote it; none: it comes from the caller. By the
    memory it lies in, since some tensors are views of others or put together by several layers,
    else by its name."""
    names: dict[str, int] = {}
    memory = {arena: _Intervals() for arena in ARENAS}

    def writers(tensor: dict[str, Any]) -> list[int]:
        if block := _block(tensor.get("Memory", {})):
            if found := memory[block[0]].overlapping(*block[1:]):
                return sorted(set(found))
        return [names[tensor["Name"]]] if tensor["Name"] in names else []

    result = []
    for index, layer in enumerate(layers):
        result.append([writers(tensor) for tensor in layer["Inputs"]])
        for place in (layer.get("Workspace", {}), *(tensor.get("Memory", {}) for tensor in layer["Outputs"])):
            if block := _block(place):
                memory[block[0]].put(*block[1:], index, keep_rest=True)
        names.update({tensor["Name"]: index for tensor in layer["Outputs"]})
    return result


def plan(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What lies in the arena: name, offset, bytes, first and last layer that touches it."""
    memory, blocks = _Intervals(), []
    for index, layer in enumerate(layers):
        for tensor in layer["Inputs"]:
            if (block := _block(tensor.get("Memory", {}))) and block[0] == "Arena":
                for each in memory.overlapping(*block[1:]):
                    each["last"] = index
        written = [(tensor["Name"], "tensor", tensor.get("Memory", {})) for tensor in layer["Outputs"]]
        for name, kind, place in [*written, ("workspace", "workspace", layer.get("Workspace", {}))]:
            block = _block(place)
            if not block or block[0] != "Arena":
                continue
            for each in memory.overlapping(*block[1:]):  # written in place
                each["last"] = max(each["first"], min(each["last"], index - 1))
            blocks.append({"name": name, "offset": block[1], "bytes": block[2] - block[1], "first": index,
                           "last": index, "layer": index, "kind": kind})
            memory.put(*block[1:], blocks[-1], keep_rest=False)
    return blocks


def live_bytes(blocks: list[dict[str, Any]], count: int) -> list[int]:
    """Bytes in use while each layer runs."""
    changes = [0] * (count + 1)
    for block in blocks:
        changes[block["first"]] += block["bytes"]
        changes[block["last"] + 1] -= block["bytes"]
    live, total = [], 0
    for change in changes[:count]:
        total += change
        live.append(total)
    return live
