"""The options of a command, declared once; its parser and help; what it prints and writes."""

import argparse
import ast
import os
import re
import shlex
import shutil
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple, NoReturn

from toplist.checks import check_positive_int, near, printable
from toplist.files import FORMATS, format_of
from toplist.files.formats import table_format
from toplist.inputs.options import Options
from toplist.inputs.truths import Grading
from toplist.metrics.conventions import CONVENTION_CHOICES, OTHER_NAMES
from toplist.metrics.names import canonical
from toplist.results import markup
from toplist.results.describe import text_of
from toplist.results.markup import Display
from toplist.results.saved import Content, write_all
from toplist.results.tables import Grid
from toplist.stats import randomization
from toplist.stats.units import checked

WIDTH = 80  # columns of a page of help, at most
# Keywords of another name here: a way to split is its first keyword.
FLAGS = {"every": "windows", "test": "held_out_users"}
# A keyword in a message, with its value, and what takes it: toplist.Items(counts=...). What is
# quoted, as ids and names of columns are, is passed over.
_KEYWORD = r"""
    (?<!\w) (?: '[^']*' | "[^"]*" )
  | (?<![\w/.-]) (?<!\w\()
    (?P<call> (?:\w+=)? (?P<taker> toplist\.[\w.]+ | convention\.replace ) \( (?:\w+,\ )? )?
    (?P<name> %s ) =
    (?P<value> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | \{(?:[^{}]|\{[^{}]*\})*\} | \[[^][]*\]
             | \([^()]*\) | \.\.\. | -?\d+(?:\.\d+)?(?:e-?\d+)? | True | False )?
    (?(call) \) )
"""

# The options of a keyword that both sides have.
FORMAT_OF = {
    **dict.fromkeys(("toplist.Ranks", "toplist.files.read_ranks"), "ranks_format"),
    **dict.fromkeys(("toplist.GroundTruths", "toplist.files.read_truths"), "ground_truths_format"),
}
# In place of the name of a value: one of the words that are in the help.
WORD = "{}"
# How a value is read, by its name in the help; others are texts.
TYPES = dict.fromkeys(("N", "K", "SEED"), int) | dict.fromkeys(
    ("CLIP", "FROM", "LEVEL", "MARGIN", "P", "SHARE"), float
)


class Option(NamedTuple):
    """An option, or the name of a file: a line of a `table`.

    Attributes
    ----------
    name : str
        What it is called among the arguments that were read.
    flags : list of str
        As they are written, or the name of a file.
    keywords : dict
        What argparse is given.
    check : function, or None
        The check of the API itself, which raises ValueError for a value before a file is opened.
    words : collection of str
        What an option with several values holds even where there is a file of that name.
    """

    name: str
    flags: Sequence[str]
    keywords: Mapping[str, Any]
    check: Callable[[Any], object] | None = None
    words: Collection[str] = ()


Group = Sequence[Option]


def table(text: str, **kinds: Mapping[str, Any]) -> list[Option]:
    r"""Return the options of a group: in each line flags, the name of the value, and the help.

    ``N...`` stands for several values, ``[N]`` for one or none, ``{}`` for one of some words; an
    option without a value is there, or not. A help goes on in lines that are indented.

    Parameters
    ----------
    text : str
    **kinds : dict
        How values are read, by the names of options: keywords of ``add_argument``; and "check" and
        "words", as `Option` has them. Those of `KINDS` need none.

    Examples
    --------
    >>> table("--seed SEED  of what is drawn\n-q --quiet  print nothing")[1].name
    'quiet'
    """
    found = []
    for line in re.sub(r"\n {8,}", " ", text).strip().split("\n"):
        head, _, help = line.strip().partition("  ")
        *_, value = head.split()
        flags = [word for word in head.split() if word.startswith("-")]
        value = "" if value in flags else value
        optional, several = value.startswith("["), value.endswith("...")
        value = value.strip("[]") if optional else value.removesuffix("...")
        names = flags or [value.lower()]
        name = names[-1].lstrip("-").replace("-", "_")
        given = {"help": help.strip(), **kinds.get(name, KINDS.get(name, {}))}
        check, words = given.pop("check", None), given.pop("words", ())
        if value == "FILE:COLUMN":
            check = check or partial(check_labels, option(name))
        read = given.get("type", TYPES.get(value))
        if "choices" in given:
            read = partial(_word, given["choices"])
        if read is not None:
            given["type"] = read if isinstance(read, type) else _reader(read)
        if not value:
            given.setdefault("action", "store_true")
        elif value != WORD:
            given["metavar"] = value
        if optional or several:
            given["nargs"] = "?" if optional else "+"
        if several and flags:
            given.setdefault("action", "extend")
        found.append(Option(name, names, given, check, words))
    return found


class Command(NamedTuple):
    """A command: its usage, its options by group, and what it does.

    `check` looks at the options before any file is opened; `run` returns the text to print, or an
    `Output`, and its docstring goes on the page of help. `error` is the exit
    status of bad input.
    """

    usage: str
    groups: Mapping[str, Group]
    run: Callable[[argparse.Namespace], Any]
    check: Callable[[argparse.Namespace], None] = lambda options: None
    error: int = 1


class _Page(argparse.RawDescriptionHelpFormatter):
    """A page of help that is no wider than `WIDTH`, also on a wider terminal."""

    def __init__(self, prog: str) -> None:
        width = min(WIDTH, shutil.get_terminal_size().columns) - 2
        super().__init__(prog, width=width, max_help_position=26)


class Parser(argparse.ArgumentParser):
    """A parser of one command, or of the command line as a whole."""

    def __init__(self, groups: Mapping[str, Group], **options: Any) -> None:
        super().__init__(formatter_class=_Page, add_help=False, **options)
        self._options: dict[argparse.Action, Option] = {}
        for title, group in groups.items():
            self.add(title, group)

    def add(self, title: str, group: Group) -> None:
        """Add a group of options to the page of help."""
        added = self.add_argument_group(title)
        for one in group:
            self._options[added.add_argument(*one.flags, **one.keywords)] = one

    def settle_format(self, options: argparse.Namespace) -> None:
        """Choose the format by the extension of ``--out``, where ``--format`` is not given.

        ``--out -`` is the screen, as without it.
        """
        if options.output == "-":
            options.output = None
        for one in self._options.values():
            if one.name == "format" and options.format is None:
                extension = os.path.splitext(options.output or "")[1].lower()
                named = EXTENSIONS.get(extension, "table")
                options.format = named if named in one.keywords["choices"] else "table"

    def checked(self, options: argparse.Namespace) -> None:
        """Raise ValueError for a value that the check of its option refuses."""
        for action, one in self._options.items():
            value = getattr(options, action.dest, None)
            if one.check is not None and value is not None:
                one.check(value)

    def check_targets(self, options: argparse.Namespace) -> None:
        """Raise ValueError if an output would replace an input, or another output."""
        sources, targets, taken = set[str](), dict[str, str](), dict[str, str]()
        for action in self._options:
            given, metavar = getattr(options, action.dest, None), str(action.metavar)
            if action.dest in TARGETS and given is not None:
                targets[action.option_strings[-1]] = given
            elif metavar.startswith(("FILE", "LOG")) or not action.option_strings:
                words = given if isinstance(given, list) else [given or ""]
                paths = (path for word in words for path in (word, word.rpartition(":")[0]))
                sources |= {os.path.realpath(path) for path in paths if path}
        for flag, target in targets.items():
            if target == "-":
                raise ValueError(f"{flag} -: the table goes to standard output, so name a file")
            place = os.path.realpath(target)
            if place in sources:
                raise ValueError(f"{flag} {target} would overwrite an input file")
            if place in taken:
                raise ValueError(f"{taken[place]} and {flag} both write {target}")
            taken[place] = flag

    def worded(self, text: str) -> str:
        r"""Return a message with the options of the command in place of the keywords of Python.

        Examples
        --------
        >>> parser = Parser({"": table("--ties TIES  of scores\n--counts FILE  of items")})
        >>> parser.worded("gini needs toplist.Items(counts=...), not ties='item'")
        'gini needs --counts FILE, not --ties item'
        """
        dests = {action.dest: action for action in self._options if action.option_strings}
        known = {keyword: dests[name] for keyword, name in FLAGS.items() if name in dests} | dests

        def written(found: re.Match[str]) -> str:
            name, value = found["name"], found["value"]
            name = FORMAT_OF.get(found["taker"], name) if name == "format" else name
            if name not in known:
                return found[0]
            if value == "...":
                return f"{option(name)} {known[name].metavar or name.upper()}"
            try:
                return option(name, value and ast.literal_eval(value))
            except (ValueError, SyntaxError):  # an example, in words
                return found[0]

        return re.sub(_KEYWORD % "|".join({"format": "", **known}), written, text, flags=re.VERBOSE)

    def error(self, message: str) -> NoReturn:
        """Print usage and an error that can do nothing to a terminal; leave with status 2."""
        super().error(printable(message))

    def read(self, given: Sequence[str]) -> argparse.Namespace:
        """Return the arguments that are given, wherever the files stand.

        The names of the options among them are `asked`.
        """
        arranged = self.arranged(given)
        options, left = self.parse_known_args(arranged)
        flags = [one for one in takewhile("--".__ne__, arranged) if _is_option(one)]
        named = (self._action(one.partition("=")[0]) for one in flags)
        options.asked = frozenset(action.dest for action in named if action)
        if left:
            names = [flag for action in self._options for flag in action.option_strings]
            meant = near(left[0].partition("=")[0], names)
            hint = f": did you mean {meant}?" if meant else f": see {self.prog} --help"
            unknown = " ".join(one for one in left if one != "--")
            self.error(f"unrecognized arguments: {unknown}{hint}")
        return options

    def arranged(self, given: Sequence[str]) -> list[str]:
        """Return the same arguments with all files at the end.

        An option with several values ends where a file begins: at an argument that is no such
        value, and exists as a file or looks like one.

        Examples
        --------
        >>> parser = Parser({"": table("-k K...  cut-offs", k={})})
        >>> parser.arranged(["-k", "5", "10", "recs.csv", "truth.csv"])
        ['-k', '5', '10', '--', 'recs.csv', 'truth.csv']
        """
        options: list[str] = []
        files: list[str] = []
        rest = deque(given)
        while rest:
            one = rest.popleft()
            if one == "--":
                files += rest
                break
            if _is_option(one):
                options.append(one)
                action = self._action(one)
                while rest and action and self._goes_on(action, options, rest[0], files):
                    options.append(rest.popleft())
            else:
                files.append(one)
        return [*options, "--", *files] if files else options

    def _action(self, flag: str) -> argparse.Action | None:
        """Return the option that a flag names, in full or by its beginning; it awaits a value."""
        names = {name: action for action in self._options for name in action.option_strings}
        if flag in names:
            return names[flag]
        found = {id(names[name]): names[name] for name in names if name.startswith(flag)}
        return next(iter(found.values())) if len(found) == 1 and flag.startswith("--") else None

    def _goes_on(
        self, action: argparse.Action, before: Sequence[str], value: str, files: Sequence[str]
    ) -> bool:
        """Return whether an option takes an argument as its next value."""
        first = _is_option(before[-1])
        if _is_option(value) or action.nargs == 0:
            return False
        if first and action.nargs != "?":
            return True
        several = first or action.nargs == "+"
        return several and (self._holds(action, value) or value in files or not _is_file(value))

    def _holds(self, action: argparse.Action, value: str) -> bool:
        """Return whether an argument is a valid value of an option."""
        if words := self._options[action].words:
            return canonical(value).partition("@")[0].partition("(")[0] in words
        if callable(action.type):  # which refuses what is none of the choices, too
            with suppress(ValueError, TypeError, argparse.ArgumentTypeError):
                action.type(value)
                return True
        return False


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return what reads an option; a function's own words say what is wrong with a text."""

    def reads(value: str) -> Any:
        try:
            return read(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reads


def _word(choices: Collection[str], value: str) -> str:
    """Return a word that must be one of the choices; the error offers one that is near."""
    if value in choices:
        return value
    meant = near(value, choices, OTHER_NAMES)
    hint = f"did you mean {meant}? " if meant else ""
    valid = ", ".join(choices)
    raise ValueError(f"invalid choice: {value!r} ({hint}choose from {valid})")


def _is_option(argument: str) -> bool:
    """Return whether an argument is an option, as argparse sees it: no number, and not "-"."""
    if not argument.startswith("-") or argument == "-" or " " in argument:
        return False
    return not argument[1:].replace(".", "", 1).isdecimal()


def _is_file(argument: str) -> bool:
    """Return whether an argument is a file, or is written as one."""
    with suppress(ValueError):
        return (
            argument == "-"
            or os.sep in argument
            or os.path.exists(argument)
            or bool(format_of(argument))
        )
    return False


def check_labels(name: str, value: str) -> None:
    """Raise ValueError unless an option reads FILE:COLUMN."""
    path, colon, column = value.rpartition(":")
    if not (path and colon and column):
        raise ValueError(f"{name} {value!r}: write FILE:COLUMN")
    table_format(path)


def _check_picture(path: str) -> None:
    """Raise if no picture can be written under this name."""
    if not path.endswith(PICTURES):
        raise ValueError(f"--plot {path}: the name must end in {', '.join(PICTURES)}")


PICTURES = ".png", ".svg", ".pdf"
OF_WORDS = [one for one in fields(Options) if one.metadata["choices"]]
#: How values are read that mean the same in all commands, by the names of options.
KINDS: dict[str, dict[str, Any]] = {
    "convention": {"default": "standard", "choices": CONVENTION_CHOICES},
    "relevant_from": {"check": Grading},
    "level": {"default": 0.95, "check": partial(checked, "two-sided")},
    "seed": {"default": 0, "check": randomization.seeded},
    "resamples": {"check": randomization.resamples},
    "movers": {"check": partial(check_positive_int, name="--movers")},
    "depth": {"check": partial(check_positive_int, name="--depth")},
    "k": {"check": partial(check_positive_int, name="k")},
    "plot": {"check": _check_picture},
    "help": {"action": "help"},
    **{one.name: {"choices": one.metadata["choices"]} for one in OF_WORDS},
}
CONVENTION = "--convention NAME  whose formulas (default: standard); toplist conventions lists them"
HELP = table("""
    -q --quiet  print nothing but errors
    -h --help  show this page
""")


def of_files(valid: Sequence[str], sides: str = "") -> list[Option]:
    """Return how files are read: names of columns; formats of both sides, lists without ranks.

    With `sides`, in words, a name may be that of one side or file alone: ``ranks:user_id=uid``, and
    users may be of several columns: ``user_id=user,time``; without, there is one file, a table.
    """

    def read(argument: str) -> tuple[str, str, Any]:
        """Return side, column, and its name."""
        ours, equals, theirs = argument.partition("=")
        side, colon, column = ours.rpartition(":")
        if not (ours and equals and theirs):
            raise ValueError(f"{argument!r}: write {valid[0]}=NAME_IN_THE_FILE")
        if colon and not sides:
            raise ValueError(f"{argument!r}: there is one file: write {column}={theirs}")
        if column not in valid:
            raise ValueError(f"{column!r} is not a column to rename: {', '.join(valid)}")
        names = theirs.split(",") if sides and column == "user_id" else [theirs]
        return side, column, names if len(names) > 1 else theirs

    alone = f"; in one file alone: {sides}:COLUMN=NAME" if sides else ""
    formats = f"{', '.join(FORMATS)} (default: by the extension; - is csv)"
    text = f"--columns COLUMN=NAME...  other names of {', '.join(valid)}{alone}"
    if sides:
        text += f"""
    --ranks-format FORMAT  {formats}
    --ground-truths-format FORMAT  {formats}
    --order {{}}  lists without rank or score: the first row is the best"""
    return table(text, columns={"type": read, "default": [], "check": check_one_name_each})


# Options that name a file with a label of users, or of items.
BESIDE = "weights", "clusters", "segments", "titles", "user_titles"


def labelled(options: argparse.Namespace) -> list[str]:
    """Return which of these options are given, of users or of items."""
    given = {name.removeprefix("item_") for name, one in vars(options).items() if one}
    return [one for one in BESIDE if one in given]


def check_sides(options: argparse.Namespace, sides: Iterable[str]) -> None:
    """Raise ValueError for a name of a column in a file that is none of these, nor beside them."""
    sides = dict.fromkeys([*sides, *labelled(options)])
    for side, column, theirs in options.columns:
        if side and side not in sides:
            given = f"--columns {side}:{column}={theirs}"
            raise ValueError(f"{given}: {side!r} is no side: {', '.join(sides)}")


def check_one_name_each(given: Iterable[tuple[str, str, Any]]) -> None:
    """Raise ValueError for a column that has two names in the same place."""
    known: dict[tuple[str, str], Any] = {}
    for side, column, theirs in given:
        first = known.setdefault((side, column), theirs)
        if first != theirs:
            raise ValueError(f"--columns names {column} twice, {first!r} and {theirs!r}")


def names_of_columns(options: argparse.Namespace, *sides: str) -> dict[str, Any]:
    """Return the names of columns given for all files, and those for one, by its names."""
    return {
        column: name
        for wanted in ("", *sides)
        for side, column, name in options.columns
        if side == wanted
    }


def option(name: str, value: Any = None) -> str:
    """Return a keyword of Python as the option of the command line that does the same.

    Examples
    --------
    >>> option("catalogue"), option("order", "file")
    ('--catalogue', '--order file')
    >>> option("duplicates", "first"), option("k", [5, 10])
    ('--duplicates first', '-k 5 10')
    >>> option("columns", {"user_id": "uid"})
    '--columns user_id=uid'
    >>> option("columns", {"label": "..."})
    '--columns label=NAME'
    >>> option("columns", {"ranks": {"user_id": "uid"}})
    '--columns ranks:user_id=uid'
    """
    name = FLAGS.get(name, name).replace("_", "-")
    name = f"--{name}" if len(name) > 1 else f"-{name}"
    if value is None or value is True:
        return name
    if value is False:
        return f"no {name}"
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, Mapping):
        examples, values = {"...": "NAME", ...: "..."}, []
        for ours, theirs in value.items():
            of_side = isinstance(theirs, Mapping)  # {"ranks": {"user_id": "uid"}}
            for column, one in theirs.items() if of_side else [(ours, theirs)]:
                said = ",".join(one) if isinstance(one, list) else examples.get(one, one)
                values.append(f"{ours}:{column}={said}" if of_side else f"{column}={said}")
    return " ".join([name, *(shlex.quote(str(one)) for one in values)])


# What a command prints and writes


# Arguments that may be `-`, and the option that names the format of each, if there is one.
PLACES = {
    **dict.fromkeys(("recs", "new", "base"), "ranks_format"),
    "truth": "ground_truths_format",
    **dict.fromkeys(("log", "train"), ""),
}
PRINTED = ("table", "json", "csv", "markdown", "latex")
# The formats of --out FILE by its extension, where --format is not given.
EXTENSIONS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
# Options that name a file to write; all others of a FILE, and all places, name files to read.
TARGETS = "output", "per_user", "plot", "save"


class Output(NamedTuple):
    """What a command prints, the files that it writes, a note on standard error, its status."""

    text: str
    files: Mapping[str, Content] = {}
    note: str = ""
    status: int = 0


def output(formats: Sequence[str] = ()) -> list[Option]:
    """Return the options of what is printed and where to; with `formats`, how."""
    text = "-o --out FILE  write to FILE, not to the screen"
    if formats:
        endings = " ".join(ending for ending, name in EXTENSIONS.items() if name in formats)
        how = f"{', '.join(formats)} (default: by the extension of FILE, {endings}; else table)"
        text = f"--format FORMAT  {how}\n{text}"
    return [*table(text, format={"choices": formats}, out={"dest": "output"}), *HELP]


def screen_width(options: argparse.Namespace) -> int | None:
    """Return how wide a table may be: as the terminal it goes to; None for files and pipes."""
    return None if options.output else markup.terminal_width()


def written(report: Output, options: argparse.Namespace) -> str:
    """Write the files of a report, all or none; return what is left to print."""
    text = report.text.rstrip("\n") + "\n"
    contents = {**report.files, **({options.output: text} if options.output else {})}
    if contents:
        write_all(contents)
    return "" if options.quiet or options.output else text


def formatted(options: argparse.Namespace, parts: Mapping[str, Display], **how: Any) -> str:
    """Return some displays, one below the other, in the format that was asked for.

    The names of several are keys in JSON, and in CSV, with an empty line between two, a column.
    """
    if options.format == "json":
        content = {name: one.to_dict() for name, one in parts.items()}
        return text_of(content if len(parts) > 1 else next(iter(content.values())))
    if options.format == "csv":
        grids = {name: one._grid() for name, one in parts.items()}
        if len(parts) > 1:
            grids = {name: Grid.stacked("table", {name: one}) for name, one in grids.items()}
        return "\n".join(one.to_csv() for one in grids.values())
    if options.format == "table":
        how["width"] = screen_width(options)
    name = {"table": "to_text"}.get(options.format, f"to_{options.format}")
    return "\n\n".join(getattr(one, name)(**how) for one in parts.values())


def drawn(options: argparse.Namespace, draw: Callable[[], Any], **how: Any) -> dict[str, Content]:
    """Return the picture that is asked for, if one is, by what draws it on axes."""
    if not options.plot:
        return {}
    return {options.plot: lambda path: draw().figure.savefig(path, **how)}
