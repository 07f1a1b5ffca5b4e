"""Which types, layouts and tactics of a plugin a build may try."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from .._camshaft import DataType, TensorFormat

_NAMES = {"FP32": "FLOAT", "FP16": "HALF"}


def _type_of(name: str) -> DataType:
    return DataType[_NAMES.get(name, name)]


def _choices(places: list[str]) -> list[tuple[str, ...]]:
    """All rows of names for the inputs and outputs. Names between ``|`` go together with those of the
    other places; those between ``*`` are chosen by themselves."""
    together = {len(place.split("|")) for place in places if "|" in place}
    if len(together) > 1:
        raise ValueError(f"{', '.join(places)}: places with | must list equally many names")
    if any("|" in place and "*" in place for place in places):
        raise ValueError(f"{', '.join(places)}: a place has either | or *")
    rows: list[tuple[str, ...]] = []
    for row in range(together.pop() if together else 1):
        choices = [[place.split("|")[row]] if "|" in place else place.split("*") for place in places]
        rows += itertools.product(*choices)
    return [tuple(name.strip() for name in row) for row in rows]


class AutoTuneCombination:
    """Types and layouts by place, inputs first, as in ``"FP32|FP16, FP32|FP16"``, and their tactics."""

    def __init__(self, io_types: str | None = None, layouts: str | None = None,
                 tactics: Iterable[int] | None = None) -> None:
        self._types = [] if io_types is None else [part.strip() for part in io_types.split(",")]
        given = [part.strip() for part in (layouts or "LINEAR").split(",")]
        self._layouts = given * len(self._types) if len(given) == 1 else given
        if len(self._layouts) != len(self._types):
            raise ValueError(f"{len(self._types)} types and {len(self._layouts)} layouts do not go together")
        self._tactics = list(tactics or [])

    def pos(self, pos: int | Iterable[int], io_types: str, layouts: str = "LINEAR") -> None:
        """The types and layouts of some places."""
        for place in [pos] if isinstance(pos, int) else pos:
            missing = place + 1 - len(self._types)
            self._types += [""] * missing
            self._layouts += [""] * missing
            if self._types[place]:
                raise ValueError(f"place {place} has types already")
            self._types[place], self._layouts[place] = io_types, layouts

    def tactics(self, tactics: Iterable[int]) -> None:
        self._tactics = list(tactics)

    def _combinations(self) -> Iterable[tuple[tuple[tuple[DataType, TensorFormat], ...], list[int]]]:
        """((type, layout) by place, tactics) of every way."""
        for types, layouts in itertools.product(_choices(self._types), _choices(self._layouts)):
            yield tuple((_type_of(t), TensorFormat[layout]) for t, layout in zip(types, layouts)), self._tactics
