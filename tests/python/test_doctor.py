"""`camshaft doctor`: what it says of this machine, of broken ones, and with which status it ends."""

import json
import os
import pathlib
import subprocess
import sys

from command import ENVIRONMENT
import pytest

import camshaft
from camshaft.machine import advice, checks

EMULATED = pathlib.Path(camshaft.__file__).parents[2] / "lib" / "libcamshaft_cuda_emulated.so"


def doctor(*arguments, **variables):
    done = subprocess.run([sys.executable, "-m", "camshaft", "doctor", *arguments], capture_output=True, text=True,
                          timeout=300, env=ENVIRONMENT | variables)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def report(*arguments, status=0, **variables):
    done = doctor("--json", *arguments, **variables)
    assert done.returncode == status, (done.stdout, done.stderr)
    told = json.loads(done.stdout)
    return told, {check["name"]: check for section in told["sections"] for check in section["checks"]}


def test_this_machine():
    told, found = report()
    assert told["broken"] == [] and told["version"] == camshaft.camshaft_version
    assert [section["title"] for section in told["sections"]] == [
        "CPU", "GPU", "Camshaft", "Python", "Caches", "Limits", "Self-test"]
    assert found["engine on the CPU"]["state"] == "ok"
    library = pathlib.Path(found["libcamshaft"]["path"])
    assert library.is_file() and library.name.startswith("libcamshaft.so")
    assert found["numpy"]["state"] == "ok" and found["vectors"]["found"]
    assert told["machine"]["cpu"]["cores"] <= len(os.sched_getaffinity(0))
    for check in found.values():  # what is not there says what that means, and what to do
        if check["state"] == "missing":
            assert check["found"] and (check["loss"] or check["remedy"]), check


def test_text_is_for_people():
    text = doctor("--no-self-test").stdout
    assert "✓ libcamshaft" in text and "Nothing is broken. Engines run on the CPU" in text
    assert "engine on the CPU" not in text


def test_all_that_the_library_finds_has_advice():
    machine = json.loads(camshaft.describe_machine())
    for part in ("cpu_units", "camshaft", "cuda"):
        for finding in machine[part]:
            assert advice.of(finding["name"]).use, finding
    assert advice.of("GPU 3") == advice.of("GPU")


def test_what_is_named_and_does_not_load_is_broken():
    told, found = report("--no-self-test", status=1, CAMSHAFT_CUDA_LIBRARY="/nowhere/libcamshaft_cuda.so")
    assert told["broken"] == ["CUDA backend"] and told["devices"] == ["CPU"]
    assert "unset CAMSHAFT_CUDA_LIBRARY" in found["CUDA backend"]["remedy"]
    assert "Broken: CUDA backend." in doctor("--no-self-test", CAMSHAFT_CUDA_LIBRARY="/nowhere/lib.so").stdout


def test_trials_that_are_switched_off_are_missing_and_no_more():
    _, found = report("--no-self-test", CAMSHAFT_TRIALS="none")
    assert found["camshaft-trials"]["state"] == "missing"
    assert "CAMSHAFT_TRIALS says so" in found["camshaft-trials"]["found"]


@pytest.mark.skipif(not EMULATED.exists(), reason="the emulated GPU is not built")
def test_an_emulated_gpu_is_found_and_tested():
    told, found = report(CAMSHAFT_CUDA_LIBRARY=str(EMULATED))
    assert told["devices"] == ["CPU", "GPU"] and "sm_75" in found["GPU 0"]["found"]
    assert found["engine on the GPU"]["state"] == "ok"
    assert found["CUDA backend"]["path"] == str(EMULATED)


@pytest.mark.skipif(not EMULATED.exists(), reason="the emulated GPU is not built")
@pytest.mark.parametrize("fault", ["crash", "nothing"])
def test_a_gpu_that_fails_the_self_test_is_broken(fault):
    told, found = report(status=1, CAMSHAFT_CUDA_LIBRARY=str(EMULATED), CAMSHAFT_TRIALS="none",
                         CAMSHAFT_EMULATED_FAULT=f":{fault}")
    assert told["broken"] == ["engine on the GPU"] and found["engine on the GPU"]["found"]
    assert found["engine on the CPU"]["state"] == "ok"


def test_libraries_that_are_there_and_do_not_work_are_broken():
    finding = {"name": "cuDNN", "version": "", "path": "/usr/lib/libcudnn.so.9", "problem": "it has no function"}
    assert checks.of_finding(finding).state == "broken"
    assert checks.of_finding(finding | {"path": ""}).state == "missing"
    assert checks.of_finding(finding | {"problem": ""}).state == "ok"


def test_limits_that_hurt_are_said(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(checks.resource, "getrlimit", lambda which: (256, 256))
    found = {check.name: check for check in checks.limits({"cpu": {"cores": 2}})}
    assert found["cores"].state == "limit" and "2 of 64" in found["cores"].found
    assert found["open files"].state == "limit" and found["open files"].remedy == "ulimit -n 65536"


def test_caches_are_counted(monkeypatch, tmp_path):
    monkeypatch.setenv("CAMSHAFT_CACHE", str(tmp_path / "cache"))
    assert checks.caches()[0].found == "empty"
    (tmp_path / "cache/a").mkdir(parents=True)
    (tmp_path / "cache/a/engine").write_bytes(bytes(2_000_000))
    assert checks.caches()[0].found == "1 files, 1.9 MiB" and checks.caches()[0].path == str(tmp_path / "cache")
