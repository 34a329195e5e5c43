r"""`toplist values`: metrics of predicted values, from a file of user, label and prediction.

The file is CSV or TSV, also .gz; - is standard input, as CSV. Its header names
the columns label and prediction, and user_id for gauc.

examples:
  toplist values predictions.csv
  toplist values predictions.csv -m auc log_loss --format json -o values.json
  toplist values ratings.tsv -m mae rmse \
      --columns label=rating prediction=estimate
"""

import argparse
import json

from toplist import pointwise
from toplist.checks import counted
from toplist.cli.options import Parser, add_columns, names_of_columns
from toplist.cli.streams import add_output, csv_text
from toplist.files import tables
from toplist.inputs.predictions import COLUMNS
from toplist.results.markup import aligned
from toplist.results.saved import json_number

METRICS = ("auc", "gauc", "log_loss", "mae", "rmse")

USAGE = "FILE [-m METRIC ...] [options]"


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add = parser.group("files")
    add("file", "file of users, labels and predictions; - is stdin", metavar="FILE")
    add_columns(add, COLUMNS)
    add = parser.group("what to compute")
    text = f"some of {', '.join(METRICS)} (default: all)"
    add("-m --metrics", text, several=True, choices=METRICS, metavar="METRIC")
    add("--clip", "of log_loss (default: 2^-52)", type=float, default=pointwise.CLIP)
    add_output(parser.group("output"), ("table", "json", "csv"))


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for a wrong --clip."""
    if not 0 <= options.clip < 0.5:
        raise ValueError(f"--clip must be from 0 to below 0.5, not {options.clip}")


def run(options: argparse.Namespace) -> str:
    """Compute the metrics and return the text to print."""
    asked = list(dict.fromkeys(options.metrics or METRICS))
    names = {name: name for name in COLUMNS} | names_of_columns(options)
    wanted = [names[name] for name in (COLUMNS if "gauc" in asked else COLUMNS[1:])]
    columns = tables.read(options.file, wanted)
    rows = [tables.numbers(options.file, name, columns[name]) for name in wanted[-2:]]
    values: dict[str, float] = {}
    notes = [counted(len(rows[0]), "row")]
    for name in asked:
        if name == "gauc":
            found = pointwise.user_auc(columns[wanted[0]], *rows)
            values[name] = found.mean()
            notes.append(
                f"gauc: {found.n_evaluated:,} of {counted(found.n_users, 'user')}, weighted by "
                f"their positives; {found.n_only_positives:,} with only positives and "
                f"{found.n_only_negatives:,} with only negatives left out"
            )
        elif name == "log_loss":
            values[name] = pointwise.log_loss(*rows, clip=options.clip)
            notes.append(f"log_loss: predictions between {options.clip:g} and 1 - {options.clip:g}")
        else:
            values[name] = getattr(pointwise, name)(*rows)
    if options.format == "table":
        lines = [[name, f"{value:.4f}"] for name, value in values.items()]
        return "\n".join([aligned(lines), *notes])
    if options.format == "json":
        plain = {name: json_number(value) for name, value in values.items()}
        return json.dumps({"n_rows": len(rows[0]), "values": plain}, indent=1)
    return csv_text(["metric", "value"], values.items())
