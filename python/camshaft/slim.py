"""python -m camshaft.slim: the command `camshaft slim`."""

from ._slim import slim  # noqa: F401

if __name__ == "__main__":
    from .cli.parser import run_alone

    run_alone("slim")
