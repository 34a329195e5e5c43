"""Metrics of predicted values: AUC, of all rows or user by user, log loss, MAE, RMSE.

Every function takes arrays, one place per row, or a table of pandas, polars or pyarrow alone, with
the columns label and prediction (and user_id); ``columns={"label": "clicked"}`` names others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from toplist.inputs.predictions import Predictions, read
from toplist.roc import UserAUC, auc, gauc, user_auc

__all__ = ["UserAUC", "auc", "gauc", "log_loss", "mae", "rmse", "user_auc"]

# What the log loss keeps between a prediction and 0 or 1: as scikit-learn for float64.
CLIP = float(np.finfo(np.float64).eps)


def log_loss(
    labels: Any,
    predictions: Any = None,
    *,
    clip: float = CLIP,
    weights: Any = None,
    columns: Mapping[str, str] | None = None,
) -> float:
    """Return the mean negative log likelihood of the labels, in nats.

        log loss = - mean of label log(p) + (1 - label) log(1 - p),
        p the prediction, brought between clip and 1 - clip

    Parameters
    ----------
    labels, weights, columns
        As in `auc`; with weights, the weighted mean.
    predictions : (n,) probabilities from 0 to 1
    clip : float
        Default 2^-52, as scikit-learn; RecBole clips at 1e-15.

    Returns
    -------
    float
        NaN without rows.

    Examples
    --------
    >>> round(log_loss([1, 0], [0.9, 0.2]), 6)
    0.164252
    """
    from toplist.kernels import pointwise as kernels

    if not 0 <= clip < 0.5:
        raise ValueError(f"clip must be from 0 to below 0.5, not {clip!r}")
    rows = read((labels, predictions), columns, weights).binary()
    bad = np.flatnonzero((rows.predictions < 0) | (rows.predictions > 1))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} has prediction {rows.predictions[bad[0]]:g}: a probability from 0 to 1 "
            "is needed"
        )
    return _mean_loss(kernels.LOG, rows, clip)


def mae(
    labels: Any,
    predictions: Any = None,
    *,
    weights: Any = None,
    columns: Mapping[str, str] | None = None,
) -> float:
    """Return the mean absolute error, the mean of abs(prediction - label).

    Parameters
    ----------
    labels, predictions : (n,) finite numbers, or a table
    weights, columns
        As in `auc`; with weights, the weighted mean.

    Examples
    --------
    >>> mae([4, 2, 5], [3.5, 2, 4])
    0.5
    """
    from toplist.kernels import pointwise as kernels

    return _mean_loss(kernels.ABSOLUTE, read((labels, predictions), columns, weights))


def rmse(
    labels: Any,
    predictions: Any = None,
    *,
    weights: Any = None,
    columns: Mapping[str, str] | None = None,
) -> float:
    """Return the root of the mean squared error, of (prediction - label)^2.

    Parameters
    ----------
    labels, predictions, weights, columns
        As in `mae`.

    Examples
    --------
    >>> rmse([4, 2], [3, 1])
    1.0
    """
    from toplist.kernels import pointwise as kernels

    return math.sqrt(_mean_loss(kernels.SQUARED, read((labels, predictions), columns, weights)))


def _mean_loss(kind: int, rows: Predictions, clip: float = 0.0) -> float:
    from toplist.kernels import pointwise as kernels
    from toplist.kernels import readonly

    weights = np.empty(0) if rows.weights is None else rows.weights
    arrays = (readonly(one, np.float64) for one in (rows.labels, rows.predictions, weights))
    total, weight = kernels.loss(kind, *arrays, clip)
    return float(total / weight) if weight > 0 else math.nan
