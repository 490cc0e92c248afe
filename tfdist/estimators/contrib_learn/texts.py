"""tf.contrib.learn.preprocessing: texts as vectors of numbers.

Source: TF 1.15 API documentation, tf.contrib.learn.preprocessing.
"""

from __future__ import annotations

import collections
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tfdist.formats.files import read_file, write_file

__all__ = [
    "TOKENIZER_RE",
    "ByteProcessor",
    "CategoricalVocabulary",
    "VocabularyProcessor",
    "tokenizer",
]  # fmt: skip

# Words as they are, of words without spaces their parts.
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """Yield for each text the list of its words.

    Example:
      >>> list(contrib.learn.preprocessing.tokenizer(["Hello, World!"]))
      [['Hello', 'World']]
    """
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


class CategoricalVocabulary:
    """Numbers of words: 0 for unknown ones, then as they come.

    Args:
      unknown_token: what stands for unknown words.
      support_reverse: whether it can tell the word of a number.

    Example:
      >>> words = contrib.learn.preprocessing.CategoricalVocabulary()
      >>> words.get("a"), words.get("b"), words.reverse(1), len(words)
      (1, 2, 'a', 3)
    """

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping = {unknown_token: 0}
        self._reverse_mapping = [unknown_token]
        self._freq: collections.defaultdict[str, int] = collections.defaultdict(int)
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Take no more words, or take them again."""
        self._freeze = freeze

    def get(self, category: str) -> int:
        """Return the number of a word, which it gets now if it is new."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: str, count: int = 1) -> None:
        """Add `count` to the frequency of a word that the vocabulary has."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep the words that came more than `min_frequency` times, the most frequent first.

        Args:
          min_frequency: so often, or less, is too seldom.
          max_frequency: so often, or more, is too often; none is where it is not positive.
        """
        ranked = sorted(self._freq.items(), key=lambda item: (-item[1], item[0]))
        kept = [
            word for word, count in ranked
            if count > min_frequency and (max_frequency <= 0 or count < max_frequency)
        ]  # fmt: skip
        counts = {word: self._freq[word] for word in kept}
        self.__init__(self._unknown_token, self._support_reverse)  # type: ignore[misc]
        for word in kept:
            self.get(word)
        self._freq.update(counts)

    def reverse(self, class_id: int) -> str:
        """Return the word of a number.

        Raises:
          ValueError: it cannot tell words.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() "
                "function."
            )
        return self._reverse_mapping[class_id]


class VocabularyProcessor:
    """Texts as vectors of the numbers of their words, all of one length.

    Args:
      max_document_length: how many words; shorter texts get zeros at the end.
      min_frequency: words that come so often, or less, get no number.
      vocabulary: a `CategoricalVocabulary`.
      tokenizer_fn: function from texts to lists of words; `tokenizer` by default.

    Attributes:
      vocabulary_: the vocabulary.

    Example:
      >>> processor = contrib.learn.preprocessing.VocabularyProcessor(4)
      >>> np.array(list(processor.fit_transform(["a b", "b c a"])))
      array([[1, 2, 0, 0],
             [2, 3, 1, 0]])
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[list[str]]] | None = None,
    ) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary if vocabulary is not None else CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Give the words of texts their numbers; no others get one after that."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> Iterator[np.ndarray[Any, Any]]:
        """Return what `transform` does, after `fit`."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray[Any, Any]]:
        """Yield for each text its vector, int64 [max_document_length]."""
        for words in self._tokenizer(raw_documents):
            numbers = np.zeros(self.max_document_length, np.int64)
            for place, word in enumerate(words[: self.max_document_length]):
                numbers[place] = self.vocabulary_.get(word)
            yield numbers

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """Yield for each vector its words, with spaces between."""
        for numbers in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in numbers)

    def save(self, filename: str) -> None:
        """Write it to a file, as Python's `pickle` does."""
        write_file(filename, pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Return what `save` has written; only from a file that one trusts: it is a pickle."""
        found: VocabularyProcessor = pickle.loads(read_file(filename))
        return found


class ByteProcessor:
    """Texts as vectors of their bytes, all of one length.

    Args:
      max_document_length: how many bytes; shorter texts get zeros at the end.

    Example:
      >>> next(contrib.learn.preprocessing.ByteProcessor(4).transform(["ab"])).tolist()
      [97, 98, 0, 0]
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Do nothing: there is nothing to be learned."""

    def fit_transform(self, x: Iterable[Any]) -> Iterator[np.ndarray[Any, Any]]:
        """Return what `transform` does."""
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray[Any, Any]]:
        """Yield for each text its vector, uint8 [max_document_length]."""
        for document in x:
            raw = document if isinstance(document, bytes) else document.encode("utf-8")
            numbers = np.frombuffer(raw, np.uint8)[: self.max_document_length]
            yield np.pad(numbers, (0, self.max_document_length - len(numbers)))

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """Yield for each vector its text."""
        for numbers in x:
            yield np.trim_zeros(np.asarray(numbers).astype(np.uint8), "b").tobytes().decode("utf-8")
