"""The former place of `toplist.inputs.id_hashes`, for `toplist.files.buffers` alone."""

from toplist.inputs.id_hashes import words_of as words_of
