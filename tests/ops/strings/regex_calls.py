r"""Regular expressions that real TensorFlow and ours meet: syntax, empty matches, rewrites, errors.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    PYTHON_OF_1.15 tests/ops/strings/regex_calls.py > tests/ops/strings/expected_regex_1_15.json
"""

import json

# Patterns, and the texts on which each is matched as a whole, and replaced by "<\0>". Texts and
# patterns are bytes, one letter for each.
HE = "h\u00e9llo w\u00f6rld".encode().decode("latin-1")
GREEK = "\u03b1\u0392\u03b3 \u0664".encode().decode("latin-1")
LINES = "ab\ncd\n"
MATCHED = [
    # literals and classes
    ("a.c", ["abc", "a\nc", "ac", "xabcx"]), (".", ["", "a", HE, "\n", "a\xffb"]),
    (".*", ["", "abc", LINES, HE]), ("(?s).*", [LINES]), ("(?s:.)b", ["\nb"]),
    ("[a-c]+", ["abcabc", "abd", ""]), ("[^a]", ["abc", "\n", "a\xffb", HE]), ("[a^]", ["a^b"]),
    ("[]a]", ["]a"]), ("[^]a]", ["]ab"]), ("[a-]", ["a-b"]), ("[-a]", ["a-b"]),
    (r"[\d-x]", ["1-x"]), (r"[\]\\]", [r"]\ "]), ("[[:alpha:]]+", ["ab1", HE]),
    ("[[:^alpha:]]+", ["ab1 "]), ("[^[:space:]]", ["a b"]), ("[[:word:]]", ["_-"]),
    ("[[:punct:][:digit:]]", ["a1!"]), ("[:alpha:]", ["al:"]), (r"\d\D\s\S\w\W", ["1a b_-"]),
    (r"\w+", [HE, GREEK]), (r"\W", [HE]), (r"\d", [GREEK]), (r"\s", ["a\x0bb c\x0c"]),
    (r"[\w.]+@[\w.]+", ["to me@x.org now"]), (r"\pL+", [HE, GREEK]), (r"\PL", [HE]),
    (r"\p{Greek}+", [GREEK]), (r"\p{^Greek}", [GREEK]), (r"\P{^Greek}", [GREEK]),
    (r"\p{Lu}", [GREEK]), (r"[\pL\d]+", [HE + "1"]), (r"[^\pL]", [HE]), (r"\p{Any}", [HE]),
    ("\u00e9".encode().decode("latin-1"), [HE]),
    ("[\u00e9\u00f6]".encode().decode("latin-1"), [HE]), (r"\C", [HE, "a\xff"]),
    # escapes
    (r"\.\*\[", [".*["]), (r"\t\n\r\f\v\a", ["\t\n\r\x0c\x0b\x07"]), (r"\x41\x{e9}\101", []),
    (r"\x41", ["A"]), (r"\x{e9}", [HE]), (r"\0", ["a\0b"]), (r"\101", ["A"]),
    (r"\Qa.b\E.", ["a.bc"]),
    (r"\Qa.b", ["a.b"]), (r"\Q\E", [""]), ("a\\\u00e9".encode().decode("latin-1"), []),
    (r"\_", ["_"]), (r"\-\/\@\ ", ["-/@ "]),
    # repeats
    ("a*", ["", "aaa", "baac"]), ("a+?", ["aaa"]), ("a??b", ["ab"]), ("a{2}", ["aaaaa"]),
    ("a{2,}", ["aaaaa"]), ("a{1,2}?", ["aaa"]), ("a{,2}", ["a{,2}", "aa"]), ("a{", ["a{"]),
    ("a{x}", ["a{x}"]), ("{1}", []), ("(a*)*", ["b", "aab"]), ("(a*)+", ["b", "aab"]),
    ("(a|b)*c", ["abac"]), ("(?:)", ["", "a"]), ("()", ["a"]), ("(|a)+", ["aa"]), ("(a|)+", ["aa"]),
    ("x{1000}", []), ("(a?){3}a{3}", ["aaa", "aaaa"]), ("(?U)a+", ["aaa"]), ("(?U)a+?", ["aaa"]),
    # alternatives: the leftmost one counts, not the longest
    ("a|ab", ["ab"]), ("ab|a", ["ab"]), ("(a|ab)(c|bcd)", ["abcd"]), ("|a", ["a"]), ("a|", ["ba"]),
    ("a|b*", ["abba"]),
    # places
    ("^a", ["aa", "\na"]), ("a$", ["aa", "a\n"]), ("^", ["ab", ""]), ("$", ["ab", "", LINES]),
    ("(?m)^", [LINES]), ("(?m)$", [LINES]), ("(?m)^.", [LINES]), ("(?m)b$", [LINES]),
    (r"\Aa", ["aa"]), (r"b\z", ["bb", "b\n"]), (r"\b", ["ab cd", HE, ""]), (r"\B", ["abc", " "]),
    (r"\bb", ["ab b"]), (r"a\b", ["a-ab"]), ("(?-s).", ["\n"]), ("a^b", ["a^b"]),
    ("(^a|b)", ["aab"]),
    # flags and groups
    ("(?i)aB", ["AbaB"]), ("(?i:a)b", ["Ab", "AB"]),
    ("(?i)k", ["\u212a".encode().decode("latin-1")]),
    ("(?i)\u00e9".encode().decode("latin-1"), ["\u00c9".encode().decode("latin-1")]),
    ("(?i)[^a]", ["Ab"]), ("a(?i)b(?-i)c", ["aBc", "aBC"]), ("(?P<n>a)b", ["ab"]),
    ("(?P<n>a)(?P<m>b)", ["ab"]), ("((a)(b)(c)(d)(e)(f)(g)(h)(i)(j))", ["abcdefghij"]),
    ("(?i-s)a.", ["AB", "A\n"]), ("(?:a|b)c", ["bc"]),
    # bytes that are no text
    ("a", ["\xffa\xfe"]), ("", ["a\xff\xfeb", "abc", HE]), ("x*", [HE, "\xe9\xff"]),
    ("b*?", ["abb"]), ("[^x]+", ["a\xffb"]), ("\\x{10ffff}", []), ("[\\x{80}-\\x{10ffff}]", [HE]),
    ("\0", ["a\0"]), ("a", ["", "\0a\0"]),
]  # fmt: skip

# Patterns that are no regular expressions, or none of RE2's.
MALFORMED = [
    "(", ")", "a)", "(a", "[a", "[", "[]", "[z-a]", "[a-b-c]", "*", "+a", "a|*", "?", "(?", "(?i",
    "(?z)a", "(?P<>a)", "(?P<n", "(?P<n>a", "(?P=n)", "(?<n>a)", "(?=a)", "(?!a)", "(?<=a)",
    "(?<!a)",
    "(?>a)", "(?#a)", "(?(1)a)", "a**", "a++", "a?*", "a{2}{3}", "a{2}+", "a{1001}", "a{2,1}",
    "a{1,1001}", "((a{100}){100})", "\\", "a\\", r"\1", r"(a)\1", r"\8", r"\Z", r"\G", r"\X", r"\h",
    r"\e", r"\u0041", r"\k", r"\x", r"\xg", r"\x{", r"\x{110000}", r"\p", r"\pX", r"\p{No",
    r"\p{Nope}", "(?P<n>a)(?P<n>b)", r"[\Z]", r"[\b]", r"[a-\d]", r"\pL{1000}", "(?P<a-b>c)",
]  # fmt: skip

# A text, a pattern with groups, and what replaces its matches.
REWRITTEN = [
    ("baab", "(a)", rewrite)
    for rewrite in (
        "", "x", r"\0", r"\1", r"\0\1\0", r"\2", r"<\9>", r"x\2y", "x\\", "\\", r"\x", r"a\\b",
        r"\\",
        r"\\1", r"\\\1", r"\n", "$1", "&", "\xff", "\0", r"\00", r"\10",
    )
] + [
    ("x1y22", "([a-z])([0-9]+)", r"\2\1|"), ("a1b", "([0-9])|b", r"<\1>"), ("abc", "", "-"),
    ("abc", "(x)?", r"[\1]"), ("aaa", "a*?", "-"), ("baac", "a*", "-"), ("", "a", "b"),
    ("", "", "b"),
    ("abab", "(ab)*", r"\1"), ("a.b.c", r"\.", ""), ("aXbX", "(?i)x", "-"), ("ab", r"\b", "|"),
    ("ab\ncd", "(?m)^", "> "), (HE, ".", "x"), (HE, r"\w", "x"), (HE, "", "-"), ("a\xffb", "", "-"),
    ("hello  world", r"\s+", " "), ("2019-01-02", r"(\d+)-(\d+)-(\d+)", r"\3.\2.\1"),
    ("abcdefghijk", "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", r"\9\8\7\6\5\4\3\2\1\0"),
    ("abcdefghijk", "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", r"\10"),
]  # fmt: skip


def cases():
    """Return every case: whether it matches, the text, the pattern, the rewrite or None."""
    for pattern, texts in MATCHED:
        for text in texts or ["", "a"]:
            yield text, pattern, None, True
            yield text, pattern, r"<\0>", True
            yield text, pattern, r"<\0>", False
    for pattern in MALFORMED:
        yield "a", pattern, None, True
        yield "a", pattern, "x", True
    for text, pattern, rewrite in REWRITTEN:
        yield text, pattern, rewrite, True
        yield text, pattern, rewrite, False


def made(tf, text, pattern, rewrite, everywhere, is_static):
    """Return the tensor of a case: [1]."""
    text, pattern = text.encode("latin-1"), pattern.encode("latin-1")
    given = pattern if is_static else tf.constant(pattern)
    if rewrite is None:
        return tf.strings.regex_full_match([text], given)
    written = rewrite.encode("latin-1")
    return tf.strings.regex_replace(
        [text], given, written if is_static else tf.constant(written), everywhere
    )


def shown(value):
    """Return the value of a case: a bool, or text whose letters stand for bytes."""
    return value[0].decode("latin-1") if value.dtype == object else bool(value[0])


def outcome(tf, run, case, is_static):
    """Return what becomes of a case: its value, or its error."""
    try:
        return shown(run(made(tf, *case, is_static)))
    except tf.errors.OpError as error:
        told = error.message.split("\n")[0]
        return {"error": type(error).__name__, "told": told[told.find("Invalid"):]}  # fmt: skip


def key(case):
    """Return the name of a case in the file."""
    return json.dumps(case)


def main():
    """Write what this Python's TensorFlow makes of every case."""
    import tensorflow as tf

    session = tf.compat.v1.Session()
    found = {}
    for case in cases():
        try:
            found[key(case)] = outcome(tf, session.run, case, is_static=False)
        except ValueError:  # its message was taken for the name of a tensor
            found[key(case)] = {"error": "InvalidArgumentError"}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
