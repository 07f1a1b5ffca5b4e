"""Camshaft beside other runtimes on this machine: speed, accuracy, memory, build and load time.

`camshaft compare MODEL` is this for the command line. peers.py has the runtimes behind one shape,
measure.py is the process that each figure comes from, rounds.py starts these in turn, report.py
and page.py show what came out.
"""

from __future__ import annotations

from .inputs import feeds_for as feeds_for
from .peers import PEERS as PEERS, Job as Job, chosen as chosen
from .rounds import compare as compare
