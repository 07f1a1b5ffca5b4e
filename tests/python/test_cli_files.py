"""What commands say to files that are not what they take, before they begin to work."""

import collections
import signal
import subprocess
import sys
import time

import pytest
from command import ENVIRONMENT, refusal, succeed
from small_models import perceptron

import camshaft as trt


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "m.onnx").write_bytes(perceptron()[0])
    trt.build(folder / "m.onnx", folder / "m.engine", shapes={"x": "1x4..2x4..8x4"}, optimization_level=0)
    (folder / "empty").write_bytes(b"")
    (folder / "text.txt").write_text("hello")
    (folder / "folder").mkdir()
    (folder / "binary.yaml").write_bytes(bytes(range(128, 256)))
    return folder


ENGINE = "'m.engine' is an engine, built already: give the ONNX model it was made of"
NOT_THERE = "'no/where' cannot be written: there is no folder 'no'"
FOLDER = "'folder' cannot be written: it is a folder"


@pytest.mark.parametrize("line,sentence", [
    ("build m.engine", ENGINE),
    ("slim m.engine out.onnx", ENGINE),
    ("quantize m.engine folder out.onnx", ENGINE),
    ("compare m.engine", ENGINE),
    ("accuracy m.engine --data folder --max-error 0.1 -o out.engine", ENGINE),
    ("build m.onnx --shapes x:2x4 -o no/where", NOT_THERE),
    ("build m.onnx --shapes x:2x4 -o folder", FOLDER),
    ("slim m.onnx folder", FOLDER),
    ("quantize m.onnx nothing no/where", NOT_THERE),
    ("compare m.onnx --page no/where", NOT_THERE),
    ("compare m.onnx --save folder", FOLDER),
    ("accuracy m.onnx --data nothing --max-error 0.1 -o no/where", NOT_THERE),
    ("explore m.engine -o no/where", NOT_THERE),
    ("run m.engine -o no/x.npz", "'no/x.npz' cannot be written: there is no folder 'no'"),
    ("run empty", "'empty' is empty, neither an engine nor an ONNX model"),
    ("inspect empty", "'empty' is empty, neither an engine nor an ONNX model"),
    ("build empty", "'empty' is empty, not an ONNX model"),
    ("explore m.onnx", "'m.onnx' is no engine: camshaft build makes one of an ONNX model"),
    ("explore m.engine text.txt", "'text.txt' is no engine: camshaft build makes one of an ONNX model"),
    ("compare folder", "folder: it is a folder, not a model"),
    ("build m.onnx --config binary.yaml", "binary.yaml is neither YAML nor JSON: it is no text"),
    ("build m.onnx --config folder", "folder: Is a directory"),
    ("run m.engine --shapes z:1", "--shapes names 'z', which is no input; there is x"),
    ("run m.onnx --shapes z:1", "--shapes names 'z', which is no input; there is x"),
    ("run m.engine -i text.txt", "'text.txt' holds neither pictures"),
])
def test_files_are_named_with_what_is_wrong(folder, line, sentence):
    command, *arguments = line.split()
    assert refusal(command, *arguments, cwd=folder).startswith(f"camshaft {command}: {sentence}")


def test_what_was_written_is_said(folder):
    assert "wrote slim.onnx (" in succeed("slim", "m.onnx", "slim.onnx", cwd=folder)


@pytest.mark.parametrize("target", ["m.onnx", "m.engine"])
def test_filters_that_nothing_fits(folder, target):
    assert succeed("inspect", target, "--layer", "nobody", cwd=folder).endswith("no layer fits what was asked for\n")


def test_interrupted_while_it_starts():
    """However early Ctrl-C comes, Python ends as it does then, and does not crash."""
    ends = collections.Counter()
    for milliseconds in range(10, 130, 4):
        process = subprocess.Popen([sys.executable, "-m", "camshaft", "doctor", "--no-self-test"], env=ENVIRONMENT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGINT)
        ends[process.wait(60)] += 1
    assert set(ends) <= {0, 1, 130, -signal.SIGINT}, ends
