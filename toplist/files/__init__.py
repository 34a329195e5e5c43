"""Ranked lists and ground truths from files; texts written whole or not at all."""

from toplist.files.lists import COLUMNS as COLUMNS
from toplist.files.lists import FORMATS as FORMATS
from toplist.files.lists import format_of as format_of
from toplist.files.lists import read_ranks as read_ranks
from toplist.files.lists import read_truths as read_truths
from toplist.files.lists import write_text as write_text
