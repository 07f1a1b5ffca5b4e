"""The loggers of ``tensorrt``. Objects made with one return their failures, as TensorRT's do: the
bindings look for the attribute."""

from camshaft import _camshaft


class ILogger(_camshaft.ILogger):
    _returns_failures = True


class Logger(_camshaft.Logger):
    _returns_failures = True
