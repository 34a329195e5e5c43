"""The command line: files in, a table out. Exit status: 0 success, 1 bad input, 2 wrong usage.

(That of ``toplist gate`` is the verdict: 0 not worse, 1 worse, 3 undecided, 2 any error.)

Commands
--------

- ``toplist eval RECS [RECS ...] TRUTH``: evaluate ranked lists; several systems side by side, their
  values per user, segments and pictures
- ``toplist compare RECS RECS [...] TRUTH -m ndcg@10 --baseline A``: is one better than another?
  ``base.npz``, which ``toplist eval --save base.npz`` kept, stands where lists do
- ``toplist show USER A B TRUTH``: the lists of one user side by side
- ``toplist report RECS RECS [...] TRUTH -m ndcg@10 -o report.html``: one page, with tests and users
- ``toplist gate NEW BASE TRUTH -m ndcg@10 --margin 0.005``: is the new one not worse? For CI
- ``toplist across TABLE.json -m ndcg@10``: several data sets, from saved results
- ``toplist split LOG --out DIR``: train and test from a log of interactions
- ``toplist check RECS TRUTH``: what makes an evaluation fail or mislead
- ``toplist unjudged RECS [RECS ...] TRUTH -o judge.csv``: what to judge next, and the way back
- ``toplist metrics [NAME]`` and ``toplist conventions``: formulas, words and sources

Each has its page, ``toplist COMMAND --help``, with examples. Files and options come in any order;
``-`` is standard input; ``-o FILE`` writes a file, whole or not at all. Systems are named by their
files. One line on standard error says what is wrong and where.

Files
-----

``.csv``, ``.tsv``, ``.jsonl``, TREC ``.run``, ``.qrels``, ``.trec``, each also ``.gz``, and
Parquet. CSV and TSV have a header with user_id, item_id, and rank or score (relevance in the
truth); objects of JSONL have the same names, and item_id may be a whole ranked list. A rank wins
over a score; equal scores stay in the order of the file, unless ``--ties`` says otherwise;
``--order file`` takes the items as they come. TREC runs go by score, equal scores by document id,
descending, as trec_eval does, and qrels below 1 are not relevant. Other names of columns:
``--columns user_id=userId``.
"""

import argparse
import gc
import os
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr
from importlib import import_module
from inspect import cleandoc
from typing import NoReturn

from toplist import __version__
from toplist.checks import near, printable
from toplist.cli import options as cli
from toplist.plots import axes

# What Python says where the system refuses another thread.
NO_THREAD = "can't start new thread"
# What is wrong with the input, said in one line; all else is a bug.
FORESEEN = ValueError, TypeError, OSError, ImportError
# The commands, in the order in which the help lists them. Only the module of the one that is run
# is loaded; it has `COMMANDS`.
COMMANDS = {
    "eval": "evaluate ranked lists against a ground truth; several systems side by side",
    "compare": "test whether one system is better than another, user by user",
    "show": "show the lists of one user side by side: hits, what moved, what was missed",
    "report": "write one page about systems: who was counted, means, tests, users",
    "gate": "test whether a new system is not worse than its base: an exit status for CI",
    "across": "put systems side by side over several data sets",
    "split": "split an interaction log into train and test",
    "check": "look for what makes an evaluation fail or mislead",
    "unjudged": "list what to judge next; add what people judged to the ground truth",
    "metrics": "print the metrics and their formulas",
    "conventions": "print the values of one list under every convention",
}
# The modules of those that share one.
_MODULES = {
    **dict.fromkeys(("gate", "across"), "compare"),
    **dict.fromkeys(("report", "check", "unjudged", "metrics", "conventions"), "show"),
}
# Commands of 0.3, and what to write instead; gone in 0.5.
_GONE = {
    "values": "toplist.pointwise has auc, user_auc, log_loss, mae and rmse of predicted values, as "
    "toplist.pointwise.auc(labels, predictions) in Python",
}
_EPILOG = """
examples:
  toplist eval recs.csv truth.csv                   ranked lists, relevant items
  toplist eval a.csv b.csv truth.csv -k 10 -m ndcg recall
  toplist compare a.csv b.csv truth.csv -m ndcg@10  is b better than a?
  toplist show u0547 a.csv b.csv truth.csv --titles items.csv:title
  toplist gate new.csv base.csv truth.csv -m ndcg@10 --margin 0.005
  toplist split log.csv --out parts                 train.csv and test.csv
  toplist metrics ndcg                              what it computes

recs.csv has the columns user_id, item_id and rank (1 is the best) or score;
truth.csv has user_id and item_id. Other names: --columns user_id=userId ...
toplist COMMAND --help shows all options of a command, with examples.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    if arguments is None:  # a process of our own, which soon ends
        gc.disable()  # 40 ms of looking for cycles among numba's objects
    given = sys.argv[1:] if arguments is None else list(arguments)
    name = given[0] if given else ""
    if name not in COMMANDS:
        return _no_command(given)
    parser = parser_of(name)
    options = parser.read(given[1:])
    options.given = given[1:]
    options.folder = ""
    with ExitStack() as stack:
        try:
            _check(parser, options, stack)
            return _run(parser, options)
        except KeyboardInterrupt:
            print("toplist: interrupted", file=sys.stderr)
            return 130
        except MemoryError as error:
            details = _one_line(error, parser, options)
            more = f" ({details})" if details else ""
            print(f"toplist: not enough memory{more}", file=sys.stderr)
        except Exception as error:
            if isinstance(error, FORESEEN) or str(error) == NO_THREAD:
                print(f"toplist: {_one_line(error, parser, options)}", file=sys.stderr)
            elif options.error == 1:
                raise
            else:  # Python's own status, 1, would be an answer
                traceback.print_exc()
    return int(options.error)


def _check(parser: cli.Parser, options: argparse.Namespace, stack: ExitStack) -> None:
    """Leave with status 2 for wrong usage, before any file is opened."""
    try:
        _take_stdin(options, stack)
        parser.settle_format(options)
        parser.checked(options)
        options.check(options)
        parser.check_targets(options)
    except ValueError as error:
        parser.error(_one_line(error, parser, options))


def _take_stdin(options: argparse.Namespace, stack: ExitStack) -> None:
    """Put the path of a file in place of ``-``, in a folder of its own; ValueError for two of them.

    Files may be read more than once. Its name is ``stdin`` with the extension of its format, which
    is CSV where no option says another.
    """
    options.stdin = ""
    for place, format_option in cli.PLACES.items():
        given = getattr(options, place, None)
        paths = given if isinstance(given, list) else [given]
        if "-" not in paths:
            continue
        if options.stdin or paths.count("-") > 1:
            raise ValueError("- is standard input: it can be one of the files, not two")
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="toplist-", ignore_cleanup_errors=True)
        )
        format = getattr(options, format_option, None) or "csv"
        options.folder = folder + os.sep
        options.stdin = f"{options.folder}stdin.{'run' if format == 'trec' else format}"
        found = [options.stdin if one == "-" else one for one in paths]
        setattr(options, place, found if isinstance(given, list) else options.stdin)


def _run(parser: cli.Parser, options: argparse.Namespace) -> int:
    """Run a command and hand out what it gives back."""
    if options.stdin:  # to its end; packed or not, as files are
        if sys.stdin is None:
            raise OSError("-: standard input is closed")
        with open(options.stdin, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    if getattr(options, "plot", None):
        axes.need_matplotlib()

    def note(words: str) -> None:
        print(f"toplist: note: {words}", file=sys.stderr)

    with warnings.catch_warnings(), ExitStack() as quiet:
        warnings.showwarning = lambda message, *_: note(_one_line(message, parser, options))
        if options.quiet:  # no bar of progress, no warning
            nowhere = quiet.enter_context(open(os.devnull, "w"))
            quiet.enter_context(redirect_stderr(nowhere))
        found = options.run(options)
    report = found if isinstance(found, cli.Output) else cli.Output(found)
    text = cli.written(report, options)
    try:
        print(text, end="", flush=True)
    except OSError as error:
        # the rest of the buffer must not raise again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # a closed pipe is no error, a full disk is
            raise
    if report.note and not options.quiet:
        note(printable(report.note).replace(options.folder, ""))
    return report.status


def _one_line(error: Exception, parser: cli.Parser, options: argparse.Namespace) -> str:
    """Return the message of an error in one line, with keywords as options of the command."""
    if isinstance(error, OSError) and error.strerror:
        text = f"{'output' if error.filename is None else error.filename}: {error.strerror}"
    else:
        text = parser.worded(str(error))
    return printable(" ".join(text.split())).replace(options.folder, "")


def _no_command(given: Sequence[str]) -> NoReturn:
    """Do what the command line does without a command: show help, or say what is wrong."""
    version = {"action": "version", "version": f"toplist {__version__}"}
    parser = cli.Parser(
        {},
        prog="toplist",
        usage="%(prog)s COMMAND ... | --help | --version",
        description="Ranked lists of item ids + the items that users chose -> metrics at every k.",
        epilog=_EPILOG,
    )
    commands = parser.add_subparsers(required=True, title="commands", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, groups={})
    parser.add("options", [*cli.table("--version  show the version", version=version), cli.HELP[1]])
    if not given:
        parser.print_help(sys.stderr)
        parser.exit(2, "\ntoplist: error: a COMMAND is required\n")
    first = given[0]
    if first in ("-h", "--help", "--version"):
        parser.parse_args([first])
    if os.path.exists(first):
        parser.error(f"{first} is a file: write toplist eval {' '.join(given)}")
    if first in _GONE:
        parser.error(f"the command {first} is gone since 0.4: {_GONE[first]}")
    longer = next((name for name in COMMANDS if first.startswith(name)), None)
    meant = longer or near(first, COMMANDS)
    hint = f"did you mean {meant}? " if meant else ""
    choices = f"{hint}choose from {', '.join(COMMANDS)}"
    parser.error(f"no command {first!r}, which comes first: {choices}")


def parser_of(name: str) -> cli.Parser:
    """Load the module of a command, and no other, and return its parser.

    The docstring of what it runs goes on the page of help.
    """
    module, summary = import_module(f"toplist.cli.{_MODULES.get(name, name)}"), COMMANDS[name]
    command: cli.Command = module.COMMANDS[name]
    parser = cli.Parser(
        command.groups,
        prog=f"toplist {name}",
        usage=f"%(prog)s {command.usage}",
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=cleandoc(command.run.__doc__ or "").partition("\n")[2],
    )
    parser.set_defaults(run=command.run, check=command.check, error=command.error, output=None)
    return parser
