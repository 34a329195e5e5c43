"""What people look at: results with their tables, segments and comparisons.

`result` holds `TopKResult`, `tables` its rows and data frames, `segments` a result split by users,
`comparison` several systems side by side, `markup` tables as text, Markdown, LaTeX and HTML.
"""
