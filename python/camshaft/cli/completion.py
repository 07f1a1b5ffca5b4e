"""camshaft completion: what a shell needs to complete the command, made from its parser."""

from __future__ import annotations

import argparse
from typing import Any

from .output import show

NAME = "completion"
HELP = "complete this command in bash, zsh or fish"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish: source <(camshaft completion bash)")


def run(arguments: argparse.Namespace) -> int:
    from .main import make_parser

    script = SHELLS[arguments.shell](_commands(make_parser()))
    show(arguments, {"shell": arguments.shell, "script": script}, script)
    return 0


def _commands(parser: Any) -> dict[str, dict[str, Any]]:
    """By name: what it does, its flags with what they are and what may follow, and words it takes."""
    commands: dict[str, dict[str, Any]] = {}
    for name, own in parser.subcommands().items():
        actions = own._actions
        flags = {flag: (_line(action.help), [str(word) for word in action.choices or []])
                 for action in actions for flag in action.option_strings if action.help is not argparse.SUPPRESS}
        words = [str(word) for action in actions if not action.option_strings for word in action.choices or []]
        commands[name] = {"help": _line(own.description), "flags": flags, "words": words}
    return commands


def _line(text: str | None) -> str:
    return " ".join((text or "").replace("%%", "%").split())


def _bash(commands: dict[str, Any]) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join([*one['flags'], *one['words']])}' ;;"
                      for name, one in commands.items())
    values = "\n".join(f"    {name}:{flag}) words='{' '.join(choices)}' ;;" for name, one in commands.items()
                       for flag, (_, choices) in one["flags"].items() if choices)
    return f"""# Completes camshaft in bash: source <(camshaft completion bash)
_camshaft() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{' '.join(commands)} --help --version' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}}:$before in
{values}
    *) case ${{COMP_WORDS[1]}} in
{cases}
    esac
    case $word in -*) ;; *) COMPREPLY=($(compgen -f -- "$word")) ;; esac ;;
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$word"))
}}
complete -o filenames -F _camshaft camshaft
"""


def _zsh(commands: dict[str, Any]) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("'", "'\\''") + "'"

    def described(flag: str, text: str) -> str:
        return quoted(flag.replace(":", "\\:") + ":" + text)

    names = " ".join(described(name, one["help"]) for name, one in commands.items())
    values = "\n".join(f"    {name}:{flag}) compadd -- {' '.join(choices)}; return ;;" for name, one in commands.items()
                       for flag, (_, choices) in one["flags"].items() if choices)
    cases = "\n".join(
        f"    {name}) flags=({' '.join(described(flag, text) for flag, (text, _) in one['flags'].items())})"
        + (f"; compadd -- {' '.join(one['words'])}" if one["words"] else "") + " ;;" for name, one in commands.items())
    return f"""#compdef camshaft
# Completes camshaft in zsh: source <(camshaft completion zsh)
_camshaft() {{
  local -a commands flags
  commands=({names})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2]:$words[CURRENT-1] in
{values}
  esac
  case $words[2] in
{cases}
  esac
  if [[ $words[CURRENT] == -* ]]; then _describe flag flags; else _files; fi
}}
compdef _camshaft camshaft
"""


def _fish(commands: dict[str, Any]) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["# Completes camshaft in fish: camshaft completion fish | source"]
    for name, one in commands.items():
        lines.append(f"complete -c camshaft -n __fish_use_subcommand -f -a {name} -d {quoted(one['help'])}")
        within = f"complete -c camshaft -n '__fish_seen_subcommand_from {name}'"
        for flag, (text, choices) in one["flags"].items():
            spelled = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            lines.append(f"{within} {spelled} -d {quoted(text)}"
                         + (f" -x -a {quoted(' '.join(choices))}" if choices else ""))
        if one["words"]:
            lines.append(f"{within} -f -a {quoted(' '.join(one['words']))}")
    return "\n".join(lines) + "\n"


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
