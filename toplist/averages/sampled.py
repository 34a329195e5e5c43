"""What marks a result as sampled: its items were ranked among a few others, not among all."""

from dataclasses import dataclass

SAMPLERS = ("uniform", "popularity")


class SampledMetricsWarning(UserWarning):
    """A metric at a small k was computed among few sampled items.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", SampledMetricsWarning)  # once it has been read
    """


@dataclass(frozen=True)
class Sampled:
    """How the candidates of a result were drawn: it is comparable with no other draw.

    Attributes
    ----------
    n : int
        Negatives of each user, beside the held-out item.
    n_items : int
        Size of the catalogue.
    sampler : {"uniform", "popularity"}
    seed : int
    ties : str
        Where the held-out item stands among candidates of equal score.

    Examples
    --------
    >>> Sampled(100, 9066, "uniform", 0, "order").depth(10)
    907
    """

    n: int
    n_items: int
    sampler: str
    seed: int
    ties: str

    def depth(self, k: int) -> int:
        """Return about which rank of the whole catalogue rank k of the sample stands for."""
        return min(self.n_items, round(k * self.n_items / self.n))

    @property
    def words(self) -> str:
        """Say how the candidates were drawn."""
        return (
            f"SAMPLED: ranked among {self.n:,} items of {self.n_items:,} ({self.sampler}, "
            f"seed {self.seed}; ties: {self.ties}), not comparable with rankings of all items"
        )

    def warning(self, k: int) -> str | None:
        """Return the warning that a metric at k deserves, if any.

        Where k is small against n, and n against the catalogue, the sample says nothing of the
        first k of all items: rank k of n + 1 stands for rank k n_items / n of the catalogue.
        """
        if 2 * k > self.n or 2 * self.n > self.n_items:
            return None
        return (
            f"k={k} among {self.n:,} sampled items of {self.n_items:,} stands for about the first "
            f"{self.depth(k):,} of all items, and may order systems otherwise than k={k} among all "
            "does (Krichene and Rendle 2020): rank all items, or see toplist.loo.corrected"
        )
