"""Runs jobs in forked worker processes, so that a crash or a hang is one job's failure."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import time

TIMEOUT = 120  # seconds for one job


def run(function, jobs, workers, timeout=TIMEOUT):
    """Yields (job's index, result or None, failure or None) as jobs finish. `function` runs in
    workers that see the parent's memory as of now; what it raises is the failure's text."""
    context = multiprocessing.get_context("fork")
    waiting = list(range(len(jobs)))[::-1]
    busy = {}
    idle = []

    def start():
        ours, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, ours, function, jobs), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    while waiting or busy:
        while waiting and len(busy) < workers:
            process, pipe = idle.pop() if idle else start()
            index = waiting.pop()
            pipe.send(index)
            busy[pipe] = (process, index, time.monotonic() + timeout)
        ready = multiprocessing.connection.wait(list(busy), timeout=1)
        for pipe in ready:
            process, index, _ = busy.pop(pipe)
            try:
                yield index, *pipe.recv()
                idle.append((process, pipe))
            except EOFError:
                process.join()
                yield index, None, f"crash: {how_it_ended(process.exitcode)}"
        for pipe, (process, index, deadline) in list(busy.items()):
            if time.monotonic() > deadline:
                del busy[pipe]
                process.kill()
                yield index, None, f"hang: no answer within {timeout} s"
    for process, pipe in idle:
        pipe.send(None)
        process.join()


def serve(pipe, parents_end, function, jobs):
    parents_end.close()
    while (index := pipe.recv()) is not None:
        try:
            pipe.send((function(jobs[index]), None))
        except Exception as error:  # noqa: BLE001 - whatever a job raises is its result
            pipe.send((None, f"{type(error).__name__}: {error}"))
    os._exit(0)


def how_it_ended(code):
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"
