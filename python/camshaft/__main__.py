"""python -m camshaft: the command `camshaft`."""

import sys

from .cli.main import main

sys.exit(main())
