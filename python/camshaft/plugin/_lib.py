"""Where clients of TensorRT look up the plugins that are registered, by ``namespace::name``."""

# By its full name: as ``tensorrt.plugin._lib`` this module is another one.
from camshaft.plugin._decorators import definitions as QDP_REGISTRY

__all__ = ["QDP_REGISTRY"]
