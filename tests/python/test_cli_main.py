"""The command `camshaft` itself: help, versions, mistakes, and what its subcommands share."""

import io
import os
import subprocess
import sys

import pytest
from command import ENVIRONMENT, as_program, camshaft_command, refusal, succeed

import camshaft
from camshaft.cli import main, output
from camshaft.cli.parser import named_shape


def test_help_lists_every_command():
    text = succeed("--help")
    for name in main.SUBCOMMANDS:
        module = main.module_of(name)
        assert module.NAME in text and len(module.HELP) < 100
    assert text == camshaft_command("-h").stdout


@pytest.mark.parametrize("name", main.SUBCOMMANDS)
def test_subcommands_explain_themselves(name):
    text = succeed(main.module_of(name).NAME, "--help")
    assert "--json" in text and text.startswith(f"usage: camshaft {main.module_of(name).NAME}")


def test_version():
    assert as_program("--version").stdout == f"camshaft {camshaft.camshaft_version}\n"


def test_mistakes_name_what_was_meant():
    assert "did you mean 'slim'?" in refusal("slimm", status=2)
    assert "there is no command 'xyzzy'\n" in refusal("xyzzy", status=2)
    assert "'--chekc'; did you mean '--check'?" in refusal("slim", "in", "out", "--chekc", status=2)
    assert "'x' is not of the form" in refusal("slim", "in", "out", "--shape", "x", status=2)
    assert "the following arguments are required: IN, OUT" in refusal("slim", status=2)
    assert "unknown argument '-o'\nusage: camshaft slim IN OUT, and" in refusal("slim", "in", "out", "-o", status=2)


def test_expected_errors_are_one_sentence(tmp_path):
    said = refusal("slim", tmp_path / "nowhere.onnx", tmp_path / "out.onnx")
    assert said.startswith("camshaft slim: ") and "nowhere.onnx" in said and "\n" not in said


def test_programs_end_with_the_status(tmp_path):
    done = as_program("slim", tmp_path / "nowhere.onnx", tmp_path / "out.onnx")
    assert done.returncode == 1 and done.stderr.startswith("camshaft slim: ") and done.stdout == ""


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["slim", "--help"], ["completion", "bash"]])
def test_closed_pipes_are_no_error(words):
    end, stdout = os.pipe()
    os.close(end)
    buffered = {name: value for name, value in ENVIRONMENT.items() if name != "PYTHONUNBUFFERED"}
    try:
        done = subprocess.run([sys.executable, "-m", "camshaft", *words], stdout=stdout, stderr=subprocess.PIPE,
                              env=buffered)
    finally:
        os.close(stdout)
    assert (done.returncode, done.stderr) == (0, b"")


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, camshaft; print(*(name in sys.modules for name in ('numpy', 'pydantic', 'yaml', 'argparse')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.stdout.split() == ["False"] * 4, done.stderr


def test_help_loads_nothing_heavy():
    code = ("import sys; from camshaft.cli.main import make_parser; make_parser('none')\n"
            "print(*(name in sys.modules for name in ('numpy', 'pydantic', 'yaml')))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.stdout.split() == ["False"] * 3, done.stderr


def test_tables_align_numbers_to_the_right():
    text = output.table(["layer", "ms", "share"], [["conv", 1.25, "90 %"], ["a longer one", 10.5, "9 %"]])
    assert text.splitlines() == ["layer             ms  share",
                                 "conv           1.250   90 %",
                                 "a longer one  10.500    9 %"]


def test_tables_fit_the_terminal():
    text = output.table(["name", "n"], [["begin" + "x" * 60 + "end", 1]], width=30, flexible=0)
    assert max(map(len, text.splitlines())) == 30
    assert "begin" in text and "end" in text and "…" in text


def test_tables_without_rows_have_a_header():
    assert output.table(["a", "b"], []) == "a  b"


@pytest.mark.parametrize("count,text", [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (200 * 1024, "200 KiB"),
                                        (5 << 20, "5.0 MiB"), (3 << 30, "3.0 GiB")])
def test_sizes(count, text):
    assert output.size_text(count) == text


@pytest.mark.parametrize("seconds,text", [(0, "0 us"), (12e-6, "12 us"), (1.234e-3, "1.23 ms"), (2.5, "2.5 s"),
                                          (75, "1 min 15 s")])
def test_times(seconds, text):
    assert output.time_text(seconds) == text


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_drawn_on_terminals_alone():
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        with output.Progress(stream) as progress:
            for done in range(11):
                progress("timing kernels", done, 10)
    assert "timing kernels" in terminal.getvalue() and "10/10" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")  # nothing of it stays
    assert file.getvalue() == ""


@pytest.mark.parametrize("text,meant", [("x:1x3", ("x", (1, 3))), ("a:0:2,4", ("a:0", (2, 4))), ("s:scalar", ("s", ()))])
def test_named_shapes(text, meant):
    assert named_shape(text) == meant


def test_aliases_are_the_same_program():
    for name in ("slim", "quantize"):
        assert as_program("--help", module=f"camshaft.{name}").stdout == as_program(name, "--help").stdout != ""
