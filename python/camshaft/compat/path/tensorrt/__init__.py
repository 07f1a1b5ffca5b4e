"""Found on PYTHONPATH as ``tensorrt``: gives its place to the module of camshaft.compat."""

import sys

del sys.modules[__name__]
import camshaft.compat  # noqa: E402,F401
