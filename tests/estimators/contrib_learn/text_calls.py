"""Texts as numbers, and what decorates functions: expressions that 1.15.5 was asked.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/estimators/contrib_learn && PYTHON_OF_1.15 text_calls.py > expected_texts_1_15.json
"""

import importlib
import json
import os
import sys
import tempfile
import warnings

import numpy as np

TEXTS = """
list(text.tokenizer(["Hello, World!", "it's a BIG test-case x1_2", "", "aB ABc HTTPServer"]))
rows(text.ByteProcessor(5).transform(["abc", "abcdefg", u"\\u00e9"]))
rows(text.ByteProcessor(3).fit_transform(["a", "bcde"])), text.ByteProcessor(3).fit(["a"])
list(text.ByteProcessor(4).reverse(np.array([[97, 98, 0, 0], [99, 100, 101, 102]], np.uint8)))
rows(text.VocabularyProcessor(4).fit_transform(["a b c", "b d e f g", ""]))
rows(text.VocabularyProcessor(3).fit(["a b"]).transform(["b c a", "a"]))
list(text.VocabularyProcessor(3).fit(["a b"]).reverse([[1, 2, 0], [2, 1, 1]]))
len(text.VocabularyProcessor(3).fit(["a b a"]).vocabulary_)
fitted(2, ["a b a", "b c", "a d"]).vocabulary_._mapping
rows(fitted(2, ["a b a", "b c", "a d"]).transform(["a b c d"]))
rows(text.VocabularyProcessor(2, tokenizer_fn=lambda all: (each.split(",") for each in all))\
.fit_transform(["x,y", "y,z,z"]))
rows(text.VocabularyProcessor(2, vocabulary=vocabulary("b", "a")).fit_transform(["a b c"]))
saved(["one two", "two three"])
text.VocabularyProcessor(3).max_document_length, text.VocabularyProcessor(3).min_frequency
counts("a", "b", "a")
[each.get("a") for each in [vocabulary()]], vocabulary("x").get("x"), len(vocabulary("x", "y"))
frozen("a", "b").get("c"), len(frozen("a", "b"))
frozen("a").add("b")
vocabulary("p", "q").reverse(1), vocabulary("p").reverse(0)
vocabulary("p").reverse(7)
text.CategoricalVocabulary("none", False).reverse(0)
text.CategoricalVocabulary("none").reverse(0)
trimmed(2, -1, "a", "b", "a", "c", "c", "c")
trimmed(0, 2, "a", "b", "a", "c", "c", "c")
trimmed(2, 2, "a", "b", "a", "c", "c", "c")
text.TOKENIZER_RE.pattern
"""

DECORATORS = """
decorator.make_decorator(plain, wrapper).__name__, decorator.make_decorator(plain, wrapper).__doc__
decorator.make_decorator(plain, wrapper)(3), decorator.make_decorator(plain, wrapper).__wrapped__ is plain
decorator.make_decorator(plain, wrapper)._tf_decorator.decorator_name
decorator.make_decorator(plain, wrapper, "named", "Told.", 5)._tf_decorator.decorator_doc
decorator.make_decorator(plain, wrapper, "named", "Told.", 5)._tf_decorator.decorator_argspec
decorator.make_decorator(plain, wrapper, "named")._tf_decorator.decorator_name
decorator.make_decorator(plain, wrapper).__dict__["_tf_decorator"].decorated_target is wrapper
[type(each).__name__ for each in decorator.unwrap(decorator.make_decorator(plain, wrapper))[0]]
decorator.unwrap(decorator.make_decorator(plain, wrapper))[1] is plain
decorator.unwrap(plain)[0], decorator.unwrap(plain)[1] is plain
len(decorator.unwrap(decorator.make_decorator(decorator.make_decorator(plain, wrapper), other))[0])
decorator.TFDecorator("d", plain, "Told.").__doc__, decorator.TFDecorator("d", plain)(4)
decorator.TFDecorator("d", plain).decorated_target is plain, decorator.TFDecorator("d", plain).__name__
decorator.TFDecorator("d", plain).decorator_doc, decorator.TFDecorator("d", plain).decorator_argspec
decorator.TFDecorator("d", plain, None).__doc__
context()
"""  # noqa: E501


class Names:
    """What the expressions may use."""

    def __init__(self):
        learn = "tensorflow.contrib.learn.python.learn.preprocessing"
        self.text = importlib.import_module(learn + ".text")
        self.decorator = importlib.import_module("tensorflow.python.util.tf_decorator")
        self.contextlib = importlib.import_module("tensorflow.python.util.tf_contextlib")

    @staticmethod
    def rows(found):
        """Return vectors with their type."""
        found = list(found)
        return [str(found[0].dtype), [each.tolist() for each in found]]

    def fitted(self, frequency, documents):
        """Return a processor that knows documents."""
        return self.text.VocabularyProcessor(4, frequency).fit(documents)

    def vocabulary(self, *words):
        """Return a vocabulary of words."""
        made = self.text.CategoricalVocabulary()
        for word in words:
            made.get(word)
        return made

    def frozen(self, *words):
        """Return a vocabulary that takes no more words."""
        made = self.vocabulary(*words)
        made.freeze()
        return made

    def counts(self, *words):
        """Return how often words were added."""
        made = self.text.CategoricalVocabulary()
        for word in words:
            made.add(word)
        return sorted(made._freq.items())

    def trimmed(self, least, most, *words):
        """Return what remains of words, and their numbers."""
        made = self.text.CategoricalVocabulary()
        for word in words:
            made.add(word)
        made.trim(least, most)
        return sorted(made._mapping.items()), len(made), made.reverse(1)

    def saved(self, documents):
        """Return what a processor says that was saved and is loaded."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "vocabulary")
            self.text.VocabularyProcessor(3).fit(documents).save(path)
            found = self.text.VocabularyProcessor.restore(path)
            return self.rows(found.transform(documents)), len(found.vocabulary_)

    @staticmethod
    def plain(x):
        """Return twice of it."""
        return 2 * x

    @staticmethod
    def wrapper(*args):
        """Return one more."""
        return Names.plain(*args) + 1

    @staticmethod
    def other(*args):
        """Return two more."""
        return Names.plain(*args) + 2

    def context(self):
        """Return what happens around a block."""
        seen = []

        @self.contextlib.contextmanager
        def around(name, last="end"):
            """Do something around."""
            seen.append(name)
            yield name + "!"
            seen.append(last)

        with around("begin") as given:
            seen.append(given)
        return [seen, around.__doc__, around.__name__, around._tf_decorator.decorator_name]


def outcome(names, line):
    """Return what an expression gives, or its error's class."""
    space = {"np": np}
    space.update({name: getattr(names, name) for name in dir(names) if not name.startswith("__")})
    try:
        return json.loads(json.dumps(eval(line, space)))
    except Exception as error:
        return {"error": type(error).__name__}


def lines():
    """Return the expressions."""
    return [*TEXTS.strip().split("\n"), *DECORATORS.strip().split("\n")]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    made = Names()
    rows = [json.dumps(line) + ": " + json.dumps(outcome(made, line)) for line in lines()]
    sys.stdout.write("{\n" + ",\n".join(rows) + "\n}\n")
