"""The join (`match`): from ranked and relevant ids to `Hits`, the ranks of relevant items."""
