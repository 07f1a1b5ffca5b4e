"""Every flag of trtexec, and command lines with what they say (trtexec_flags.txt, trtexec_commands.txt)."""

import pathlib
import re

import pytest
from trtexec_program import QUICK, run, run_anywhere

HERE = pathlib.Path(__file__).parent


def read_flags():
    """(arguments, where it is from, what it is) of each."""
    for line in (HERE / "trtexec_flags.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            arguments, origin, state = (part.strip() for part in line.split(" | "))
            yield arguments.split(), origin, state


def read_commands():
    """(arguments, exit status, what is said) of each."""
    commands = []
    for line in (HERE / "trtexec_commands.txt").read_text().splitlines():
        if line.startswith("trtexec"):
            commands.append((line.split()[1:], [], []))
        elif line.startswith("  exits "):
            commands[-1][1].append(int(line.removeprefix("  exits ")))
        elif line.startswith("  says "):
            commands[-1][2].append(line.removeprefix("  says "))
        else:
            assert not line or line.startswith("#"), line
    return [(arguments, status, said) for arguments, (status,), said in commands]


FLAGS = list(read_flags())
COMMANDS = read_commands()


def name_of(argument):
    return argument.split("=")[0]


def messages(text, severity):
    return [line.split(f"[{severity}] ", 1)[1] for line in text.splitlines() if f"[{severity}] " in line]


@pytest.mark.parametrize("arguments, origin, state", FLAGS, ids=[name_of(flag[0][0]) for flag in FLAGS])
def test_flags_are_what_they_are_listed_as(arguments, origin, state, places, tmp_path):
    flag = name_of(arguments[0])
    given = [argument.format(folder=tmp_path, **places) for argument in arguments]
    names = {name_of(argument) for argument in given}
    rest = ["--cpu", f"--onnx={places['model']}", "--optShapes=x:2x3", *QUICK]
    if "--loadEngine" in names:
        names.add("--onnx")
    if names & {"--minShapes", "--maxShapes", "--shapes"}:
        names.add("--optShapes")
    done = run_anywhere(*given, *(argument for argument in rest if name_of(argument) not in names), cwd=tmp_path)

    errors, warnings = messages(done.stderr, "E"), messages(done.stderr, "W")
    own_warnings = [warning for warning in warnings if flag in warning]
    if state == "works":
        assert done.returncode == 0 and not errors and not own_warnings, done.stderr
    elif state == "library":
        assert "TensorRT version:" in done.stdout, "a mistake of the command line"
        assert (done.returncode, len(errors)) in ((0, 0), (1, 1)), done.stderr
    elif state.startswith("no effect: "):
        assert done.returncode == 0 and own_warnings == [f"{flag} has {state}."], done.stderr
    else:
        assert done.returncode == 1 and errors == [f"{flag} is {state}"], done.stderr
    assert ("&&&& PASSED" if done.returncode == 0 else "&&&& FAILED") in done.stdout.splitlines()[-1]


def test_help_has_every_flag_in_tensorrts_groups():
    done = run("--help")
    assert done.returncode == 0
    groups = re.findall(r"^=== (.*) ===$", done.stdout, re.MULTILINE)
    assert groups == [f"{group} Options" for group in ("Model", "Build", "Inference", "Tuning", "Reporting",
                                                       "System")] + ["Help"]
    explained = {}  # each flag to its text
    names = []
    for line in done.stdout.splitlines():
        head, text = line[:36], line[36:]
        if line.startswith("  -"):
            if line[35:36].strip():  # too long for a text beside it
                head, text = line, ""
            names = [re.split(r"[=\[]", name)[0].strip() for name in head.split(",")]
            explained |= {name: [] for name in names}
        elif head.strip():
            names = []
        for name in names:
            explained[name].append(text.strip())
    explained = {name: " ".join(text).strip() for name, text in explained.items()}
    listed = {name_of(arguments[0]): state for arguments, _, state in FLAGS}
    assert explained.keys() == listed.keys() | {"-h"}
    for name, state in listed.items():
        text = explained[name]
        if ": " in state:
            assert text == state[0].upper() + state[1:]
        else:
            assert text and not text.startswith(("No effect: ", "Refused: ")), name


@pytest.mark.parametrize("arguments, status, said", COMMANDS, ids=[" ".join(command[0]) for command in COMMANDS])
def test_commands_say_what_is_listed(arguments, status, said, places, tmp_path):
    given = [argument.format(folder=tmp_path, **places) for argument in arguments]
    done = run(*given, *QUICK, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    for text in said:
        assert text in done.stdout + done.stderr
    if status == 1:
        assert messages(done.stderr, "E"), "nothing says why"


@pytest.mark.parametrize("flag", ["builderOptimizationLevel", "maxAuxStreams", "iterations", "duration", "warmUp",
                                  "streams", "infStreams", "useProfile", "device", "avgRuns", "computeCapability",
                                  "percentile", "profile", "avgTiming", "maxTactics", "sleepTime", "idleTime", "atol",
                                  "refPair", "tilingOptimizationLevel", "l2LimitForTiling", "useDLACore"])
@pytest.mark.parametrize("value", ["-3", "1e400", "9" * 309, "nan", "inf", "many", "", "1x", "0x10",
                                   "99999999999999999"])
def test_every_number_has_a_range_and_a_sentence(flag, value):
    quick = [argument for argument in QUICK if name_of(argument) != f"--{flag}"]
    done = run("--onnx=a", f"--{flag}={value}", *quick)
    if flag == "atol" and value == "9" * 17:
        return
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"--{flag}" in line and len(line) < 200
    assert "number from" in line or value == "", line
