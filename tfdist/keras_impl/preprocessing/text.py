"""tf.keras.preprocessing.text: texts as lists of numbers of words.

Source: TF 1.15 API documentation, tf.keras.preprocessing.text.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = [
    "Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json",
]  # fmt: skip

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'
MODES = ("binary", "count", "tfidf", "freq")


def text_to_word_sequence(
    text: str, filters: str = FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """Return the words of a text.

    Args:
      text: string.
      filters: characters that separate words as well.
      lower: whether words become lower case.
      split: what separates words.

    Example:
      >>> keras.preprocessing.text.text_to_word_sequence("To be, or not!")
      ['to', 'be', 'or', 'not']
    """
    text = text.lower() if lower else text
    text = text.translate({ord(each): split for each in filters})
    return [word for word in text.split(split) if word]


def one_hot(
    text: str, n: int, filters: str = FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """Return a number from 1 to n - 1 for each word, by Python's hash.

    Args:
      text: string.
      n: number of numbers.
      filters: characters that separate words as well.
      lower: whether words become lower case.
      split: what separates words.

    Example:
      >>> numbers = keras.preprocessing.text.one_hot("to be to", 50)
      >>> numbers[0] == numbers[2]
      True
    """
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(
    text: str, n: int, hash_function: Callable[[str], int] | str | None = None,
    filters: str = FILTERS, lower: bool = True, split: str = " ",
) -> list[int]:  # fmt: skip
    """Return a number from 1 to n - 1 for each word, by a hash.

    Args:
      text: string.
      n: number of numbers.
      hash_function: "md5", which is the same everywhere, or a function; Python's by default.
      filters: characters that separate words as well.
      lower: whether words become lower case.
      split: what separates words.

    Example:
      >>> keras.preprocessing.text.hashing_trick("to be", 50, "md5")
      [15, 5]
    """
    function: Any = _md5 if hash_function == "md5" else hash_function or hash
    return [function(w) % (n - 1) + 1 for w in text_to_word_sequence(text, filters, lower, split)]


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode()).hexdigest(), 16)


class Tokenizer:
    """Turns texts into lists of numbers, or into rows of a matrix; frequent words come first.

    Args:
      num_words: only the most frequent words count, one fewer than this; None for all.
      filters: characters that separate words as well.
      lower: whether words become lower case.
      split: what separates words.
      char_level: whether each character is a word.
      oov_token: word that stands for all unknown ones.
      document_count: number of texts so far.

    Attributes:
      word_index: number of each word, from 1.
      word_counts: how often each was there.

    Example:
      >>> tokenizer = keras.preprocessing.text.Tokenizer()
      >>> tokenizer.fit_on_texts(["to be or not to be", "be"])
      >>> tokenizer.texts_to_sequences(["be not afraid"])
      [[1, 4]]
    """

    def __init__(
        self, num_words: int | None = None, filters: str = FILTERS, lower: bool = True,
        split: str = " ", char_level: bool = False, oov_token: str | None = None,
        document_count: int = 0, **kwargs: Any,
    ) -> None:  # fmt: skip
        kwargs.pop("nb_words", None)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts: OrderedDict[str, int] = OrderedDict()
        self.word_docs: Counter[str] = Counter()
        self.index_docs: Counter[int] = Counter()
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}
        self.filters, self.split, self.lower, self.num_words = filters, split, lower, num_words
        self.document_count, self.char_level, self.oov_token = document_count, char_level, oov_token

    def _words(self, text: Any) -> list[str]:
        if self.char_level or isinstance(text, list):
            return [each.lower() for each in text] if self.lower else list(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Count the words of texts, and number them anew.

        Args:
          texts: strings, or lists of words.
        """
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            self.word_docs.update(set(words))
        ordered = sorted(self.word_counts, key=lambda word: -self.word_counts[word])
        known = ordered if self.oov_token is None else [self.oov_token, *ordered]
        self.word_index = {word: number for number, word in enumerate(known, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        self.index_docs = Counter({self.word_index[w]: n for w, n in self.word_docs.items()})

    def fit_on_sequences(self, sequences: Iterable[Sequence[int]]) -> None:
        """Count the texts that have a number.

        Args:
          sequences: lists of numbers.
        """
        for each in sequences:
            self.document_count += 1
            self.index_docs.update(set(each))

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """Return a list of numbers for each text.

        Args:
          texts: strings, or lists of words.
        """
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """Yield a list of numbers for each text.

        Args:
          texts: strings, or lists of words.
        """
        unknown = self.word_index.get(self.oov_token or "")
        for text in texts:
            found = [self._number(word, unknown) for word in self._words(text)]
            yield [number for number in found if number is not None]

    def _number(self, word: str, unknown: int | None) -> int | None:
        number = self.word_index.get(word)
        if number is None or (self.num_words and number >= self.num_words):
            return unknown
        return number

    def sequences_to_texts(self, sequences: Iterable[Sequence[int]]) -> list[str]:
        """Return a text for each list of numbers.

        Args:
          sequences: lists of numbers.
        """
        found = []
        for sequence in sequences:
            kept = [n for n in sequence if not (self.num_words and n >= self.num_words)]
            words = [self.index_word.get(number, self.oov_token) for number in kept]
            found.append(" ".join(word for word in words if word is not None))
        return found

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> Any:
        """Return a row of numbers, one for each word, for each text.

        Args:
          texts: strings, or lists of words.
          mode: "binary", "count", "freq" or "tfidf".
        """
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> Any:
        """Return a row of numbers, one for each word, for each list of numbers.

        Args:
          sequences: lists of numbers.
          mode: "binary", "count", "freq" or "tfidf".

        Raises:
          ValueError: there is no such mode, or nothing was counted before.
        """
        if mode not in MODES:
            raise ValueError(f"Unknown vectorization mode: {mode}; there are {', '.join(MODES)}")
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        found = np.zeros((len(sequences), self.num_words or len(self.word_index) + 1))
        for row, sequence in zip(found, sequences, strict=True):
            counts = Counter(n for n in sequence if n < len(row))
            for number, count in counts.items():
                row[number] = self._value(mode, number, count, len(sequence))
        return found

    def _value(self, mode: str, number: int, count: int, length: int) -> float:
        if mode == "tfidf":
            inverse = np.log(1 + self.document_count / (1 + self.index_docs.get(number, 0)))
            return float((1 + np.log(count)) * inverse)
        return {"binary": 1.0, "count": float(count), "freq": count / length}[mode]

    def get_config(self) -> dict[str, Any]:
        """Return settings and counts; the latter as JSON."""
        settings = (
            "num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count",
        )  # fmt: skip
        told = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        config = {name: getattr(self, name) for name in settings}
        return {**config, **{name: json.dumps(getattr(self, name)) for name in told}}

    def to_json(self, **kwargs: Any) -> str:
        """Return what `tokenizer_from_json` makes the same of; `kwargs` are those of json.dumps."""
        return json.dumps(
            {"class_name": type(self).__name__, "config": self.get_config()}, **kwargs
        )


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Return the Tokenizer that `to_json` told of.

    Args:
      json_string: text.

    Example:
      >>> told = keras.preprocessing.text.Tokenizer(num_words=5).to_json()
      >>> keras.preprocessing.text.tokenizer_from_json(told).num_words
      5
    """
    config = json.loads(json_string)["config"]
    counts = {
        name: json.loads(config.pop(name))
        for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    tokenizer = Tokenizer(**config)
    tokenizer.word_counts = OrderedDict(counts["word_counts"])
    tokenizer.word_docs = Counter(counts["word_docs"])
    tokenizer.index_docs = Counter({int(k): v for k, v in counts["index_docs"].items()})
    tokenizer.index_word = {int(k): v for k, v in counts["index_word"].items()}
    tokenizer.word_index = counts["word_index"]
    return tokenizer
