"""A tokenizer without any library: a token is a word, and its number the word's place."""

from __future__ import annotations

from collections.abc import Sequence

WORDS = ("the", "</s>", "<pad>", "house", "is", "red", "das", "Haus", "Maus", "ist", "rot")

END, PAD = 1, 2  # token 0 is a word: padding that is read as 0 shows


def ids(text: str) -> list[int]:
    return [*(WORDS.index(word) for word in text.split()), END]


class WordTokenizer:
    """Decodes as the tokenizers of transformers do: special tokens left out when asked."""

    def batch_decode(
        self, rows: Sequence[Sequence[int]], *, skip_special_tokens: bool
    ) -> list[str]:
        assert skip_special_tokens
        return [
            " ".join(WORDS[token] for token in row if token not in (END, PAD)) + " " for row in rows
        ]
