"""The parser of a command, its page of help within 80 columns, and options that commands share."""

import argparse
import ast
import os
import re
import shlex
import shutil
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple, NoReturn

from toplist.checks import near, printable
from toplist.inputs.grades import read_gains
from toplist.inputs.items import UNKNOWN
from toplist.inputs.options import DUPLICATES, SIDES, UNJUDGED, WEIGHTINGS
from toplist.metrics.conventions import (
    CONVENTION_CHOICES,
    MISSING,
    OTHER_NAMES,
    RELEVANT,
    TIES,
    Convention,
    convention_of,
)
from toplist.metrics.definitions import EMPTY

WIDTH = 80  # columns of a page of help, at most
# Keywords of another name here: a way to split is its first keyword.
FLAGS = {"every": "windows", "test": "held_out_users"}
# A keyword in a message, with its value, and what takes it: toplist.Items(counts=...). What is
# quoted, as ids and names of columns are, is passed over.
_KEYWORD = r"""
    (?<!\w) (?: '[^']*' | "[^"]*" )
  | (?<![\w/.-]) (?<!\w\()
    (?P<call> (?:\w+=)? (?: toplist\.\w+ | convention\.replace ) \( )?
    (?P<name> %s ) =
    (?P<value> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | \{(?:[^{}]|\{[^{}]*\})*\} | \[[^][]*\]
             | \([^()]*\) | \.\.\. | -?\d+(?:\.\d+)?(?:e-?\d+)? | True | False )?
    (?(call) \) )
"""


class Row(NamedTuple):
    """An option of an evaluation that is a word or a number: its help, and how it is read.

    `place` is what takes it in Python: the evaluation itself, its lists, its convention, ...
    """

    help: str
    choices: Sequence[str] = ()
    read: Callable[[str], Any] | None = None
    place: str = ""


#: The options of an evaluation that are words or numbers.
EVALUATION = {
    "unit": Row("what the rows are in print: sessions", read=str, place="ranks"),
    "weighting": Row("of --propensities (default: snips)", WEIGHTINGS, place="propensities"),
    "clip": Row("least propensity that counts", read=float, place="propensities"),
    "empty": Row(
        "users with an empty truth (default: the convention's)", EMPTY, place="convention"
    ),
    "missing": Row("users without a list (default: the convention's)", MISSING, place="convention"),
    "relevant": Row(
        "R of all relevant items (default), or listed ones", RELEVANT, place="convention"
    ),
    "duplicates": Row(
        "an item twice in a list (default: raise; collapse with --items-as)", DUPLICATES
    ),
    "unjudged": Row("listed items without a grade: misses (default), or dropped", UNJUDGED),
    "relevant_from": Row("relevant from this grade on", read=float),
    "gains": Row(
        "of a grade in nDCG: linear, exponential, or 1=1,2=4 (default: the convention's)",
        read=read_gains,
        place="convention",
    ),
    "ties": Row(
        "equal scores: as the rows are, or by item (default: item_desc of TREC and trec_eval)",
        TIES,
        place="ranks",
    ),
    "system": Row("column of systems, each evaluated alone", read=str),
    "unknown": Row("listed items that these files do not have", UNKNOWN, place="items"),
}


class _Page(argparse.RawDescriptionHelpFormatter):
    """A page of help that is no wider than `WIDTH`, also on a wider terminal."""

    def __init__(self, prog: str) -> None:
        width = min(WIDTH, shutil.get_terminal_size().columns) - 2
        super().__init__(prog, width=width, max_help_position=26)


class Parser(argparse.ArgumentParser):
    """A parser of one command, or of the command line as a whole."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Page, add_help=False, **options)
        self._known: list[argparse.Action] = []
        self._held: dict[str, Collection[str]] = {}

    def group(self, title: str) -> Callable[..., Any]:
        """Start a group of arguments on the page of help; return the function that adds to it.

        It takes the flags in one text, the line of help, and the keywords of
        `argparse.ArgumentParser.add_argument`; also `several`, for an option with several values
        that may be given again, and `words`: what such an option holds even where there is a file
        of that name.
        """
        group = self.add_argument_group(title)

        def add(
            flags: str,
            help: str | None = None,
            *,
            several: bool = False,
            words: Collection[str] = (),
            **options: Any,
        ) -> argparse.Action:
            if several:
                options |= {"nargs": "+", "action": "extend"}
            if "choices" in options:
                options["type"] = partial(_word, options["choices"])
            action = group.add_argument(*flags.split(), help=help, **options)
            self._known.append(action)
            self._held[action.dest] = words
            return action

        return add

    @property
    def names(self) -> list[str]:
        """The options by their names in `read`, without what has a place and no flag."""
        return [action.dest for action in self._known if action.option_strings]

    def worded(self, text: str) -> str:
        """Return a message with the options of the command in place of the keywords of Python.

        Examples
        --------
        >>> parser = Parser()
        >>> add = parser.group("options")
        >>> _ = add("--ties"), add("--counts", metavar="FILE")
        >>> parser.worded("gini needs toplist.Items(counts=...), not ties='item'")
        'gini needs --counts FILE, not --ties item'
        """
        dests = {action.dest: action for action in self._known if action.option_strings}
        known = {keyword: dests[name] for keyword, name in FLAGS.items() if name in dests} | dests

        def written(found: re.Match[str]) -> str:
            name, value = found["name"], found["value"]
            if name is None:
                return found[0]
            if value == "...":
                return f"{option(name)} {known[name].metavar or name.upper()}"
            try:
                return option(name, value and ast.literal_eval(value))
            except (ValueError, SyntaxError):  # an example, in words
                return found[0]

        return re.sub(_KEYWORD % "|".join(known), written, text, flags=re.VERBOSE)

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
            names = [flag for action in self._known for flag in action.option_strings]
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
        >>> parser = Parser()
        >>> _ = parser.group("options")("-k", nargs="+", type=int)
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
        names = {name: action for action in self._known for name in action.option_strings}
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
        if action.nargs is None or (action.nargs == "?" and not first):
            return False
        return self._holds(action, value) or value in files or not _is_file(value)

    def _holds(self, action: argparse.Action, value: str) -> bool:
        """Return whether an argument is a valid value of an option."""
        if self._held[action.dest]:
            from toplist.metrics.names import canonical  # imported late: few have such words

            return canonical(value).partition("@")[0].partition("(")[0] in self._held[action.dest]
        if action.choices is not None:
            return value in action.choices
        if not callable(action.type):
            return False
        try:
            action.type(value)
        except (ValueError, TypeError, argparse.ArgumentTypeError):
            return False
        return True


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return what reads an option; a function's own words say what is wrong with a text."""
    if isinstance(read, type):
        return read

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
    raise argparse.ArgumentTypeError(f"invalid choice: {value!r} ({hint}choose from {valid})")


def _is_option(argument: str) -> bool:
    """Return whether an argument is an option, as argparse sees it: no number, and not "-"."""
    if not argument.startswith("-") or argument == "-" or " " in argument:
        return False
    return not argument[1:].replace(".", "", 1).isdecimal()


def _is_file(argument: str) -> bool:
    """Return whether an argument is a file, or is written as one."""
    from toplist.files import format_of  # not before an option has several values

    if argument == "-" or os.sep in argument or os.path.exists(argument):
        return True
    try:
        return bool(format_of(argument))
    except ValueError:
        return False


def add_columns(add: Callable[..., Any], valid: Sequence[str], *, sides: str | None = None) -> None:
    """Add ``--columns``: names of columns in the files, where they are not the usual ones.

    With `sides`, in words, a name may be that of one side or file alone: ``ranks:user_id=uid``.
    """
    alone = f"; in one file alone: {sides}:COLUMN=NAME" if sides else ""
    text = f"other names of {', '.join(valid)}{alone}"
    read = renaming(valid, by_side=sides is not None)
    add("--columns", text, several=True, type=read, default=[], metavar="COLUMN=NAME")


def add_convention(add: Callable[..., Any]) -> None:
    """Add ``--convention``."""
    text = "whose formulas (default: standard); toplist conventions lists them"
    add("--convention", text, default="standard", choices=CONVENTION_CHOICES, metavar="NAME")


def add_formats(add: Callable[..., Any], formats: Sequence[str]) -> None:
    """Add the formats of both sides, and the order of lists that have no ranks."""
    text = f"{', '.join(formats)} (default: by the extension; - is csv)"
    for side in SIDES:
        add(option(f"{side}_format"), text, choices=formats, metavar="FORMAT")
    add("--order", "lists without rank or score: the first row is the best", choices=["file"])


def add_options(add: Callable[..., Any], names: Iterable[str] = EVALUATION) -> None:
    """Add the options of an evaluation that are words or numbers, or some of these."""
    for name in names:
        row, flag = EVALUATION[name], option(name)
        if row.read is None:
            add(flag, row.help, choices=row.choices)
        else:
            metavar = name.rpartition("_")[2].upper()
            add(flag, row.help, type=_reader(row.read), metavar=metavar)


def given_options(options: argparse.Namespace, place: str = "") -> dict[str, Any]:
    """Return the options of an evaluation that are given for a place in Python."""
    names = (name for name, row in EVALUATION.items() if row.place == place)
    found = {name: getattr(options, name, None) for name in names}
    return {name: one for name, one in found.items() if one is not None}


def convention(options: argparse.Namespace) -> Convention:
    """Return the convention, with the policies that are given."""
    return convention_of(options.convention).replace(**given_options(options, "convention"))


def asked_convention(options: argparse.Namespace) -> Any:
    """Return the same, by its name, which may be a synonym, where no policy is given."""
    return convention(options) if given_options(options, "convention") else options.convention


def renaming(
    valid: Sequence[str], *, by_side: bool = False
) -> Callable[[str], tuple[str, str, Any]]:
    """Return a function that reads one argument of ``--columns``: side, column, and its name.

    With `by_side`, users may be of several columns: ``user_id=user,time``.

    Examples
    --------
    >>> renaming(["user_id", "item_id"])("user_id=uid")
    ('', 'user_id', 'uid')
    >>> renaming(["user_id", "item_id"], by_side=True)("ground_truths:user_id=uid")
    ('ground_truths', 'user_id', 'uid')
    >>> renaming(["user_id", "item_id"], by_side=True)("user_id=user,time")
    ('', 'user_id', ['user', 'time'])
    """

    def read(argument: str) -> tuple[str, str, Any]:
        ours, equals, theirs = argument.partition("=")
        side, colon, column = ours.rpartition(":")
        if not (ours and equals and theirs):
            raise argparse.ArgumentTypeError(f"{argument!r}: write {valid[0]}=NAME_IN_THE_FILE")
        if colon and not by_side:
            raise argparse.ArgumentTypeError(
                f"{argument!r}: there is one file: write {column}={theirs}"
            )
        if column not in valid:
            raise argparse.ArgumentTypeError(
                f"{column!r} is not a column to rename: {', '.join(valid)}"
            )
        names = theirs.split(",") if by_side and column == "user_id" else [theirs]
        return side, column, names if len(names) > 1 else theirs

    return read


# Options that name a file with a label of users, or of items.
BESIDE = "clusters", "segments", "titles", "user_titles"


def check_sides(options: argparse.Namespace, sides: Iterable[str]) -> None:
    """Raise ValueError for a name of a column in a file that is none of these, nor beside them."""
    given = {name for name, one in vars(options).items() if one}
    sides = dict.fromkeys([*sides, *(one for one in BESIDE if given & {one, f"item_{one}"})])
    for side, column, theirs in options.columns:
        if side and side not in sides:
            raise ValueError(
                f"--columns {side}:{column}={theirs}: {side!r} is no side: {', '.join(sides)}"
            )


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
    if isinstance(value, Mapping):
        examples = {"...": "NAME", ...: "..."}
        values = [f"{ours}={examples.get(one, one)}" for ours, one in _flat(value)]
    else:
        values = list(value) if isinstance(value, (list, tuple)) else [value]
    return " ".join([name, *(shlex.quote(str(one)) for one in values)])


def _flat(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names of columns; those of one side have its name before them."""
    for ours, theirs in columns.items():
        if isinstance(theirs, Mapping):
            yield from ((f"{ours}:{column}", name) for column, name in theirs.items())
        else:
            yield ours, ",".join(theirs) if isinstance(theirs, list) else theirs
