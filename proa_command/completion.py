"""`proa completion SHELL`: scripts made from the command's own parser, so that they never tell of something else."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from . import build_parser


@dataclass
class Words:
    """What may follow a command: options with their help, fixed words, and whether files may."""

    about: str
    options: dict[str, str]
    words: list[str]
    takes_files: bool


def run(arguments: argparse.Namespace) -> int:
    print(script(arguments.shell))
    return 0


def script(shell: str) -> str:
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands(), _options(build_parser()))


def commands() -> dict[str, Words]:
    """Every command and what may follow it."""
    (subparsers,) = [a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction)]
    abouts = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}
    found = {}
    for name, parser in subparsers.choices.items():
        positionals = [a for a in parser._actions if not a.option_strings]
        words = [str(word) for a in positionals for word in a.choices or ()]
        options, takes_files = _options(parser), any(not a.choices for a in positionals)
        for kind in _kinds(parser):
            options |= _options(kind)
            takes_files = takes_files or any(not a.option_strings for a in kind._actions)
        found[name] = Words(abouts[name], options, words, takes_files)
    return found


def _kinds(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The commands below a command (`proa export onnx`)."""
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return [kind for action in below for kind in action.choices.values()]


def _options(parser: argparse.ArgumentParser) -> dict[str, str]:
    return {a.option_strings[-1]: a.help or "" for a in parser._actions if a.option_strings}


def _bash(known: dict[str, Words], options: dict[str, str]) -> str:
    cases = []
    for name, words in known.items():
        reply = f'compgen -W "{" ".join([*words.options, *words.words])}" -- "$current"'
        if words.takes_files:
            reply += '; compgen -f -- "$current"'
        cases.append(f"        {name}) mapfile -t COMPREPLY < <({reply}) ;;")
    return "\n".join(
        [
            "_proa() {",
            "    local current=${COMP_WORDS[COMP_CWORD]}",
            '    if [ "$COMP_CWORD" -eq 1 ]; then',
            f'        mapfile -t COMPREPLY < <(compgen -W "{" ".join([*known, *options])}" -- "$current")',
            "        return",
            "    fi",
            "    case ${COMP_WORDS[1]} in",
            *cases,
            "    esac",
            "}",
            "complete -o filenames -F _proa proa",
        ]
    )


def _zsh(known: dict[str, Words], options: dict[str, str]) -> str:
    first = [f"            {_quoted(f'{name}:{words.about}')}" for name, words in known.items()]
    cases = []
    for name, words in known.items():
        parts = [_quoted(f"{option}[{about}]") for option, about in words.options.items()]
        if words.words:
            parts.append(_quoted(f"1:word:({' '.join(words.words)})"))
        if words.takes_files:
            parts.append(_quoted("*:file:_files"))
        cases.append(f"        {name}) _arguments {' '.join(parts)} ;;")
    return "\n".join(
        [
            "#compdef proa",
            "_proa() {",
            "    if (( CURRENT == 2 )); then",
            "        local -a known=(",
            *first,
            *[f"            {_quoted(f'{option}:{about}')}" for option, about in options.items()],
            "        )",
            "        _describe 'command' known",
            "        return",
            "    fi",
            "    local command=$words[2]",
            "    shift words; (( CURRENT-- ))",
            "    case $command in",
            *cases,
            "    esac",
            "}",
            "compdef _proa proa",
        ]
    )


def _fish(known: dict[str, Words], options: dict[str, str]) -> str:
    lines = ["complete -c proa -f"]
    for option, about in options.items():
        lines.append(f"complete -c proa -n __fish_use_subcommand -l {option[2:]} -d {_quoted(about)}")
    for name, words in known.items():
        inside = f"-n '__fish_seen_subcommand_from {name}'"
        lines.append(f"complete -c proa -n __fish_use_subcommand -a {name} -d {_quoted(words.about)}")
        lines += [f"complete -c proa {inside} -l {o[2:]} -d {_quoted(about)}" for o, about in words.options.items()]
        if words.words:
            lines.append(f"complete -c proa {inside} -a {_quoted(' '.join(words.words))}")
        if words.takes_files:
            lines.append(f"complete -c proa {inside} -F")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Text between single quotes, as all three shells read it; brackets and colons would end a zsh description early."""
    return "'" + text.replace("'", "’") + "'"
