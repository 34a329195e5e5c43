"""Situations in which a source is read: in blocks of a few rows, in a terminal.

What the library reads at once is a constant of a module. The names of these stand here alone.
"""

import importlib
from contextlib import suppress

# module -> constants that are made small, so that a few rows are many blocks
SIZES = {
    "toplist.files.lines": {"SIZE": 40},
    "toplist.files.parquet": {"IDS": 12},
    "toplist.files.batches": {"LEAST": 1},
    "toplist.files.loop": {"PART": 2},
    "toplist.inputs.texts": {"FIRST": 64, "BLOCK": 128},
    "toplist.inputs.factorize": {"FIRST": 64, "BLOCK": 128, "CHUNK": 64},
}


def in_small_blocks(patch, **sizes):
    """Let files, streams and tables be read in blocks of a few rows."""
    found = 0
    for name, constants in SIZES.items():
        with suppress(ImportError):
            module = importlib.import_module(name)
            for constant, size in constants.items():
                if hasattr(module, constant):
                    patch.setattr(module, constant, sizes.get(constant, size))
                    found += 1
    assert found > 3, "the names of the constants have changed"
