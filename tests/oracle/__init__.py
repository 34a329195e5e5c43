"""What an evaluation should say, in plain Python from the definitions: one entry, `evaluate`.

- `hits`, `judgements`: metrics of one user's hits; `beyond`: of the lists themselves;
  `propensities`: where relevant items count 1 / p. Each function is a definition, to be checked by
  reading.
- `reading`: how lists and truths become what is measured: order of scores, padding, documents.
- `policies`: what conventions say of users and grades. `population`: averages. `intervals`: their
  intervals.
- `evaluate(world, options)`: all of it, of a world (world.py) under options (doors.py).

Nothing here is shared with the library.
"""

from oracle.evaluation import evaluate

__all__ = ["evaluate"]
