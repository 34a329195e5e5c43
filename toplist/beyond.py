"""Metrics of the lists themselves, beyond accuracy: what is shown, to how many, and how alike.

Of the whole population, an array (K,) over k, from one `Exposure`: `item_coverage`, `gini`,
`shannon_entropy`, `personalisation`. Of each user, (n_users, K): `average_popularity`,
`tail_percentage`, `novelty`, `intra_list_diversity`, `unexpectedness`, `serendipity`.
"""

from toplist.concentration import gini as gini
from toplist.concentration import item_coverage as item_coverage
from toplist.concentration import personalisation as personalisation
from toplist.concentration import shannon_entropy as shannon_entropy
from toplist.diversity import intra_list_diversity as intra_list_diversity
from toplist.exposure import Exposure as Exposure
from toplist.exposure import exposure as exposure
from toplist.item_values import average_popularity as average_popularity
from toplist.item_values import novelty as novelty
from toplist.item_values import tail_percentage as tail_percentage
from toplist.unexpected import serendipity as serendipity
from toplist.unexpected import unexpectedness as unexpectedness
