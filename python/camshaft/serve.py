"""Models behind Ray Serve: replicas on any number of nodes, which build an engine once on each and share its file.

    from ray import serve
    import camshaft.serve

    serve.run(camshaft.serve.application("model.onnx", replicas=2, config={"shapes": {"x": "1x4..8x4"}}))

See docs/serving.md.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import pathlib
from typing import Any

import numpy as np

from . import __version__
from ._build import build
from ._session import Session, load


def engine_file(model: Any, config: Any = None, cache: Any = None) -> pathlib.Path:
    """The engine of a model, a path or bytes, in the folder ``cache``: built by whoever asks first on this machine,
    while others wait, and found by its content and settings from then on."""
    from .config import BuildConfig

    settings = BuildConfig.of(config)
    data = model if isinstance(model, bytes) else pathlib.Path(model).read_bytes()
    key = hashlib.sha256(b"\0".join([data, settings.to_text("json").encode(), __version__.encode()])).hexdigest()
    folder = pathlib.Path(cache or os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    if not cache:
        folder = folder / "camshaft" / "engines"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{key[:32]}.engine"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_usable(file):
            build(model, file, config=settings)
    return file


def _is_usable(file: pathlib.Path) -> bool:
    """An engine of an older library or of another machine is not."""
    from . import Error

    try:
        load(file)
    except (OSError, Error):
        return False
    return True


class Replica:
    """One replica of a model. Called with a dict of arrays it returns a dict of arrays; over HTTP, JSON of
    ``{"inputs": {"x": [[1, 2]]}}`` gives ``{"outputs": {"y": [[3, 4]]}}``."""

    def __init__(self, model: Any, config: Any, cache: Any, settings: dict[str, Any]) -> None:
        self.session = load(engine_file(model, config, cache), settings)
        self.splits = splits_by_batch(self.session)

    async def __call__(self, request: Any) -> Any:
        if isinstance(request, dict):
            return await self.infer(self._checked(request))
        from starlette.responses import JSONResponse

        try:
            inputs = (await request.json())["inputs"]
            arrays = {name: np.asarray(value, self.session.inputs[name].dtype) for name, value in inputs.items()}
            outputs = await self.infer(self._checked(arrays))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            return JSONResponse({"error": " ".join(str(error).split())}, status_code=400)
        return JSONResponse({"outputs": {name: value.tolist() for name, value in outputs.items()}})

    def _checked(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """Refused here, so that nobody else's request is in a batch with what cannot run."""
        missing, unknown = self.session.inputs.keys() - arrays.keys(), arrays.keys() - self.session.inputs.keys()
        if missing or unknown:
            raise ValueError(f"the request lacks {sorted(missing)} and has {sorted(unknown)} that the model does not")
        for name, info in self.session.inputs.items():
            shape = np.shape(arrays[name])
            if len(shape) != len(info.shape) or any(
                    not low <= size <= high for low, size, high in zip(info.min or (), shape, info.max or ())):
                raise ValueError(f"input '{name}' is {list(shape)}, and the engine takes {list(info.min or ())} to "
                                 f"{list(info.max or ())}")
        return arrays

    async def infer(self, arrays: dict[str, Any]) -> dict[str, Any]:
        one_by_one: Any = self.batch  # serve.batch gathers its calls
        answer = await one_by_one(arrays)
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    async def batch(self, requests: list[dict[str, Any]]) -> list[Any]:
        """Requests of equal shapes run as one, which `application` makes a method of `serve.batch` of."""
        results: list[Any] = [None] * len(requests)
        for group in self._groups(requests):
            answers = await asyncio.to_thread(run_together, self.session, [requests[i] for i in group],
                                              self.splits)
            for i, answer in zip(group, answers):
                results[i] = answer
        return results

    def _groups(self, requests: list[dict[str, Any]]) -> list[list[int]]:
        """Indices of requests that may run together: of one shape behind the batch, as many rows as fit."""
        groups: dict[Any, list[int]] = {}
        most = min((info.max[0] for info in self.session.inputs.values() if info.max), default=1)
        full: list[list[int]] = []
        for i, request in enumerate(requests):
            key = tuple((name, np.shape(request[name])[1:]) for name in sorted(request))
            group = groups.setdefault(key, [])
            if group and sum(_rows(requests[j]) for j in group) + _rows(request) > most:
                full.append(group)
                group = groups[key] = []
            group.append(i)
        return full + list(groups.values())

    def check_health(self) -> None:
        """Serve asks now and then, and replaces a replica that raises: the smallest shapes must run."""
        self.session({name: np.zeros(info.min or (), info.dtype) for name, info in self.session.inputs.items()})


def _rows(request: dict[str, Any]) -> int:
    shapes = [np.shape(value) for value in request.values()]
    return int(shapes[0][0]) if shapes and shapes[0] else 1


def splits_by_batch(session: Session) -> bool:
    """Whether all inputs share a batch and every output has a row for each of it, at the profile's smallest and its
    largest."""
    if any(info.shape[:1] != (-1,) for info in session.inputs.values()):
        return False
    context = session.create_context()
    for bound in ("min", "max"):
        shapes = {name: getattr(info, bound) for name, info in session.inputs.items()}
        for name, shape in shapes.items():
            context.set_input_shape(name, shape)
        firsts = [shape[:1] for shape in shapes.values()]
        firsts += [tuple(context.get_tensor_shape(name))[:1] for name in session.outputs]
        if len(set(firsts)) != 1:
            return False
    return True


def run_together(session: Session, requests: list[dict[str, Any]], splits: bool) -> list[Any]:
    """One run for all, split again by rows; one by one where outputs have no rows of a batch, and where that run
    fails. What fails alone is the exception in that request's place."""
    if len(requests) > 1 and splits:
        rows = [_rows(request) for request in requests]
        together = _answer(session, {name: np.concatenate([request[name] for request in requests])
                                     for name in session.inputs})
        if isinstance(together, dict):
            parts = {name: np.split(value, np.cumsum(rows)[:-1]) for name, value in together.items()}
            return [{name: parts[name][i] for name in parts} for i in range(len(requests))]
    return [_answer(session, request) for request in requests]


def _answer(session: Session, inputs: dict[str, Any]) -> Any:
    try:
        return session(inputs)
    except Exception as error:  # for whoever asked
        return error


def application(model: Any, *, config: Any = None, cache: Any = None, name: str = "camshaft", replicas: Any = 1,
                max_batch: int = 8, batch_wait_s: float = 0.002, max_ongoing_requests: int = 16,
                threads: int = 0, **options: Any) -> Any:
    """A Serve application of one model, for ``serve.run``.

    ``model`` is a path that all nodes can read, or bytes; ``config`` a :class:`camshaft.config.BuildConfig` or what
    makes one. ``replicas`` is a number, or a dict for Serve's autoscaling: ``{"min_replicas": 1, "max_replicas": 4}``.
    ``threads`` are those of one replica, and what Serve counts as its CPUs; ``options`` are Serve's.
    """
    from ray import serve

    from .config import BuildConfig

    class Batched(Replica):
        batch = serve.batch(max_batch_size=max_batch, batch_wait_timeout_s=batch_wait_s)(Replica.batch)

    Batched.__name__ = Batched.__qualname__ = name
    scaling = {"autoscaling_config": replicas} if isinstance(replicas, dict) else {"num_replicas": replicas}
    actor = {"num_cpus": threads or 1, **options.pop("ray_actor_options", {})}
    deployment = serve.deployment(name=name, max_ongoing_requests=max_ongoing_requests, ray_actor_options=actor,
                                  **scaling, **options)(Batched)
    settings = BuildConfig.of(config).model_dump(mode="json", exclude_unset=True)
    return deployment.bind(model if isinstance(model, bytes) else os.fspath(model), settings,
                           None if cache is None else os.fspath(cache), {"threads": threads})
