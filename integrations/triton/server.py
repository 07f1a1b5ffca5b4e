"""A tritonserver of one's own, on free ports of this machine, with Camshaft's backend."""

import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BACKENDS = pathlib.Path(os.environ.get("CAMSHAFT_TRITON_BACKENDS", ROOT / "build" / "lib" / "triton"))


def find_program():
    """The server's program: $TRITONSERVER, or the one on the path; None where there is none."""
    return os.environ.get("TRITONSERVER") or shutil.which("tritonserver")


def descendants(process):
    """Processes that it and those have started, by the children of each of its threads."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text(encoding="utf-8").split():
                found += [int(child), *descendants(child)]
    return found


def resident_bytes(process):
    with contextlib.suppress(FileNotFoundError):  # it has ended meanwhile
        pages = pathlib.Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Server:
    """Runs until it is closed. Models are loaded and unloaded by requests, but for `load`."""

    def __init__(self, repository, engine_cache, load=(), backends=BACKENDS, options=(), ready_seconds=300):
        http, grpc, metrics = free_ports(3)
        self.http, self.grpc = f"127.0.0.1:{http}", f"127.0.0.1:{grpc}"
        self.log = pathlib.Path(engine_cache).with_suffix(".log")
        pathlib.Path(engine_cache).mkdir(parents=True, exist_ok=True)
        command = [find_program(), f"--model-repository={repository}", f"--backend-directory={backends}",
                   "--model-control-mode=explicit", *(f"--load-model={name}" for name in load),
                   f"--backend-config=camshaft,engine_cache={engine_cache}", "--exit-on-error=false",
                   "--strict-readiness=false", "--http-address=127.0.0.1", "--grpc-address=127.0.0.1",
                   "--metrics-address=127.0.0.1", f"--http-port={http}", f"--grpc-port={grpc}",
                   f"--metrics-port={metrics}", "--allow-gpu-metrics=false", *options]
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            self.wait(ready_seconds)
        except BaseException:
            self.close()
            raise

    def wait(self, seconds):
        import tritonclient.http

        end = time.monotonic() + seconds
        with tritonclient.http.InferenceServerClient(self.http) as client:
            while time.monotonic() < end:
                if self.process.poll() is not None:
                    raise RuntimeError("tritonserver has ended:\n" + self.log.read_text()[-4000:])
                with contextlib.suppress(ConnectionError, OSError):
                    if client.is_server_ready():
                        return
                time.sleep(0.1)
        raise TimeoutError(f"tritonserver is not ready after {seconds} s:\n" + self.log.read_text()[-4000:])

    def resident_bytes(self):
        """Of the server and the processes that it has started, as the Python backend does."""
        return sum(resident_bytes(process) for process in [self.process.pid, *descendants(self.process.pid)])

    def close(self):
        """Asks the server to end, and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def add_model(repository, name, file, config="", version=1, file_name=None):
    """Puts a model's file, or its bytes, and its configuration into a repository."""
    folder = pathlib.Path(repository) / name / str(version)
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(file, bytes):
        (folder / (file_name or "model.onnx")).write_bytes(file)
    else:
        shutil.copy(file, folder / (file_name or "model.onnx"))
    if config is not None:
        (folder.parent / "config.pbtxt").write_text(config or 'backend: "camshaft"\n')
    return folder.parent
