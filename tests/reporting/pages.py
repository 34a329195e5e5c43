"""What the tests of the page share: systems with known differences, and a reader of pages."""

import random
from html.parser import HTMLParser

VOID = {"meta", "br", "link", "img", "input", "hr"}
# Texts that a page must neither run, nor be broken by.
HOSTILE = [
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)</script>",
    "<b onclick='alert(1)'>&amp;",
    "{{ 7 * 7 }}{% raw %}",
    "]]><!-- -->",
    "a\nb\r\tc\0d",
    "\u202egnp.exe\u2066\u200f",
    "\u2028\u2029",
    "👩🏽‍🚀" * 3,
    "x" * 10_000,
    "javascript:alert(1)",
    "' autofocus onfocus='alert(1)",
]


def systems(n=200, seed=0, users="u{:03}".format, items="i{:02}".format, depth=12):
    """Return two systems over some users, of whom the second hits more, and the truth."""
    draw = random.Random(seed)
    everything = [items(i) for i in range(40)]
    truth = {users(u): set(draw.sample(everything, 1 + u % 4)) for u in range(n)}
    found = []
    for luck in (0.2, 0.5):
        lists = {}
        for user, relevant in truth.items():
            hits = [item for item in sorted(relevant) if draw.random() < luck]
            rest = [item for item in everything if item not in relevant]
            lists[user] = draw.sample(hits + draw.sample(rest, depth - len(hits)), depth)
        found.append(lists)
    return {"base": found[0], "new": found[1]}, truth


class Reader(HTMLParser):
    """A page as a browser reads it: elements, tables by caption, texts by element."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.page = page
        self.elements, self.open, self.tables, self.text, self.by_tag = [], [], {}, [], {}
        self._caption = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID and tag not in ("path", "circle", "rect", "polygon", "polyline"):
            self.open.append(tag)
        if tag == "table":
            self._rows = []
        if tag == "tr":
            self._rows.append([])
        if tag in ("td", "th"):
            self._rows[-1].append("")
        if tag == "caption":
            self._caption = ""
        self.by_tag.setdefault(tag, []).append("")

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "table":
            self.tables.setdefault(self._caption, []).append(self._rows)

    def handle_data(self, data):
        for tag in self.open:
            self.by_tag[tag][-1] += data
        if "caption" in self.open:
            self._caption += data
        if {"td", "th"} & {*self.open}:
            self._rows[-1][-1] += data
        if not {"script", "style"} & {*self.open}:
            self.text.append(data)

    @property
    def shown(self):
        """The text of the page."""
        return "".join(self.text)

    def ids(self):
        """The ids of the elements."""
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]
