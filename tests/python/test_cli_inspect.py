"""camshaft inspect and camshaft completion."""

import shutil
import subprocess

import pytest
from command import as_json, refusal, succeed
from small_models import perceptron

import camshaft as trt
from camshaft.cli import main


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "m.onnx").write_bytes(perceptron()[0])
    trt.build(tmp_path / "m.onnx", tmp_path / "m.engine", shapes={"x": "1x4..2x4..8x4"})
    return tmp_path


def test_engines_show_layers_kernels_and_times(folder):
    text = succeed("inspect", "m.engine", cwd=folder)
    assert "1x4..2x4..8x4" in text and "dense" in text and "cpu/" in text and "%" in text
    info = as_json("inspect", "m.engine", cwd=folder)
    layer = next(layer for layer in info["layers"] if "dense" in layer["onnx"])
    assert layer["kernel"].startswith("cpu/") and layer["milliseconds"] > 0 and layer["type"] == "fp32"
    assert sum(layer["share"] or 0 for layer in info["layers"]) == pytest.approx(1)


def test_reasons(folder):
    text = succeed("inspect", "m.engine", "--why", cwd=folder)
    assert "  of  dense" in text and "  why " in text and "  not cpu/" in text


def test_filters(folder):
    names = [layer["name"] for layer in as_json("inspect", "m.engine", cwd=folder)["layers"]]
    assert len(as_json("inspect", "m.engine", "--slowest", "1", cwd=folder)["layers"]) == 1
    assert as_json("inspect", "m.engine", "--kernel", "none*", cwd=folder)["layers"] == []
    for flags in (["--layer", "DENSE"], ["--operator", "*mm*"], ["--type", "fp32"], ["--kernel", "cpu/*"]):
        kept = as_json("inspect", "m.engine", *flags, cwd=folder)["layers"]
        assert set(layer["name"] for layer in kept) <= set(names), flags
    assert as_json("inspect", "m.engine", "--layer", "rectify", cwd=folder)["layers"]  # fused, and found by its node


def test_times_of_whole_runs(folder):
    layers = as_json("inspect", "m.engine", "--measure", cwd=folder)["layers"]
    assert any(layer["milliseconds"] > 0 for layer in layers)


def test_engines_without_details_say_so(folder):
    for verbosity in ("none", "layer_names_only"):
        trt.build(folder / "m.onnx", folder / "plain.engine", shapes={"x": (2, 4)}, verbosity=verbosity)
        assert "without details of its layers" in succeed("inspect", "plain.engine", cwd=folder)


def test_models(folder):
    text = succeed("inspect", "m.onnx", cwd=folder)
    assert "?x4" in text and "matrix_multiply" in text
    info = as_json("inspect", "m.onnx", "--layer", "dense", cwd=folder)
    assert info["layers"][0]["name"] == "dense" and sum(info["operators"].values()) >= len(info["layers"])
    assert "dense" in succeed("inspect", "m.onnx", "--layer", "dense", cwd=folder)
    assert "--why is for engines" in refusal("inspect", "m.onnx", "--why", cwd=folder)


def test_what_is_neither(folder):
    (folder / "text.txt").write_text("hello")
    assert refusal("inspect", "text.txt", cwd=folder).startswith("camshaft inspect: ")
    (folder / "cut.engine").write_bytes((folder / "m.engine").read_bytes()[:100])
    assert refusal("inspect", "cut.engine", cwd=folder).startswith("camshaft inspect: ")


# Completion.

def completed(folder, line):
    """What bash offers."""
    script = folder / "completion.bash"
    script.write_text(succeed("completion", "bash"))
    words = line.split(" ")
    code = (f"source {script}; COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; "
            "_camshaft; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-uc", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_bash_completes(folder):
    names = [main.module_of(name).NAME for name in main.SUBCOMMANDS]
    assert set(names) <= set(completed(folder, "camshaft "))
    assert completed(folder, "camshaft ins") == ["inspect"]
    assert completed(folder, "camshaft build --prec") == ["--precision", "--precision-constraints"]
    assert completed(folder, "camshaft build --device ") == ["auto", "cpu", "gpu"]
    assert completed(folder, "camshaft run m.e") == ["m.engine"]
    assert "fish" in completed(folder, "camshaft completion ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_of_their_shells(shell, folder):
    script = succeed("completion", shell)
    assert script == as_json("completion", shell)["script"].rstrip() + "\n"
    assert "--device" in script or "-l device" in script
    if shutil.which(shell):
        (folder / "script").write_text(script)
        done = subprocess.run([shell, "-n", str(folder / "script")], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_shells_that_are_not_known():
    assert "invalid choice: 'tcsh'" in refusal("completion", "tcsh", status=2)
