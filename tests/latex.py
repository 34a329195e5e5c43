"""What a formula in LaTeX says, read without LaTeX: its parts in math, its words, its symbols."""

import re

# An equation, or what stands between dollars.
MATH = re.compile(r"\\\[(.*?)\\\](?=\n)|(?<!\\)\$(.*?)(?<!\\)\$")
# Indices that a formula binds, and k.
BOUND = set("ijklqruv")


def letters(math):
    """Return the letters of math that are no part of a word or a command."""
    plain = re.sub(r"\\(mathrm|text)\{(\\.|\$.*?\$|[^\\}])*\}|\\[a-zA-Z]+", " ", math)
    return set(re.findall(r"(?<![a-zA-Z])[a-zA-Z](?![a-zA-Z])", plain))


def faults(text):
    """Return what would not compile in an explained formula, and its symbols that it leaves."""
    formula, *notes = ["".join(found) for found in MATH.findall(text)]
    commands = r"\\text(backslash|ascii\w+|bar)\{\}|\\[_^%&#~${}]"
    words = re.sub(commands, "", MATH.sub("", text))
    found = re.findall(r"[_^%&#~$\\{}].*", words)
    for math in (formula, *notes):
        groups = re.sub(r"\\[{}]", "", math)
        found += [math] * (groups.count("{") != groups.count("}"))
    return found + sorted(letters(formula) - BOUND - letters(" ".join(notes)))
