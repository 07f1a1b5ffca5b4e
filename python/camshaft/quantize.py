"""python -m camshaft.quantize: the command `camshaft quantize`."""

from ._quantize import quantize  # noqa: F401

if __name__ == "__main__":
    from .cli.parser import run_alone

    run_alone("quantize")
