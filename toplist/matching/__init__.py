"""The join: ranked ids and relevant ids become `Hits`, the ranks at which relevant items stand."""
