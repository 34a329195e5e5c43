"""The numbers of other libraries beside an oracle and toplist, question by question.

    python benchmarks/conformance                         # all, in temporary environments
    python benchmarks/conformance lists ranx --envs envs  # an area and a peer; they are kept
    python benchmarks/conformance --envs envs --write     # and write benchmarks/README.md
    python benchmarks/conformance --smoke                 # 20 inputs, no environment

A question is a row (`engine.Question`): a peer's words, the words here, and why they differ
where they do. The areas are `conventions`, `judgements` and `lists`: of each a table has the rows,
and a module what a peer answers in an environment of its own, and what an oracle (plain Python
written from the formulas, `tests/oracle`) and toplist say. Peers that do not install are followed
from their sources. With `--smoke` the oracle answers for peers that need an environment.

All get the same seeded inputs, and values must agree to 1e-9, or to what a peer rounds or adds up
in 32 bits. A difference that is stated is counted apart: there the peer must give the value of its
own formula, or be about the users that the reason is about. Any other ends the run with exit
code 1.
"""

import sys

from engine import main

if __name__ == "__main__":
    sys.exit(main(__doc__))
