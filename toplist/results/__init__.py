"""What people look at: results as tables, segments, comparisons; text, Markdown, LaTeX, HTML."""
