"""Pictures of results, drawn with matplotlib: curves over k, users, segments, exposure, samples.

Every function takes arrays or results with their labels, and returns the matplotlib axes. Each
picture says who was counted and by which rules.
"""

from toplist.plots.charts import curves as curves
from toplist.plots.charts import exposure as exposure
from toplist.plots.charts import per_user as per_user
from toplist.plots.charts import sampled as sampled
from toplist.plots.charts import segments as segments
