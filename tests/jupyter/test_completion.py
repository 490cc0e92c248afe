"""What TAB offers behind a magic, with jedi and without."""

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.error import TryNext

from tfdist.jupyter.completion import HOOK


def offered(shell, line):
    """Return what the last word of a line may become."""
    with provisionalcompleter():
        found = list(shell.Completer.completions(line, len(line)))
    return {(line[: each.start] + each.text).split(" ")[-1] for each in found}


@pytest.fixture(params=[False, True], ids=["plain", "jedi"])
def typing(request, notebook):
    """Return a shell with a cluster of a ps and two workers, a trace and a spec."""
    shell = notebook.shell
    shell.Completer.use_jedi = request.param
    notebook.run("%cluster start ps=1 worker=2 -q")
    notebook.run("import tfdist as tf\nc = tf.constant(1.0)\nspec = {'ps': ['far:1']}")
    notebook.run("%trace -q -t local -o first c")
    return shell


def test_words_and_options_complete(typing):
    for line, wanted in [
        ("%cluster ", {"start", "stop", "attach", "kill"}),  # verbs
        ("%cluster sta", {"start", "status"}),
        ("%cluster start --re", {"--replace"}),  # options
        ("%cluster start w", {"worker="}),
        ("%cluster start s", {"spec"}),  # a dict of the user's
        ("%cluster kill wor", {"worker:0", "worker:1"}),  # tasks
        ("%cluster kill worker:", {"worker:0", "worker:1"}),
        ("%cluster stop ", {"main"}),  # clusters
        ("%cluster attach m", {"main"}),
        ("%cluster --name m", {"main"}),  # values of options
        ("%cluster --name=m", {"--name=main"}),
        ("%trace --target ps", {"ps:0"}),
        ("%%trace -t lo", {"local"}),
        ("%timeline f", {"first"}),  # variables with traces
        ("%timeline first --against f", {"first"}),
        ("%timeline --r", {"--rpcs"}),
        ("%tfdist d", {"doctor"}),
        ("%tfdist check 22", {"22a", "22b"}),  # exercises
        ("%why --o", {"--output"}),
    ]:
        assert wanted <= offered(typing, line), line


def test_what_fits_nowhere_is_left_to_ipython(typing):
    found = offered(typing, "%trace tf.const")
    assert any(each.endswith(".constant") for each in found)
    assert not {"--name", "start"} & offered(typing, "%cluster kill ps")
    assert "worker:1" not in offered(typing, "%trace wor")  # code


def test_unloading_leaves_no_completion_and_those_of_others(notebook):
    shell = notebook.shell

    def others(self, event):
        raise TryNext

    shell.set_hook(HOOK, others, str_key="%cluster")
    before = {key: len(chain.chain) for key, chain in shell.strdispatchers[HOOK].strs.items()}
    shell.run_line_magic("reload_ext", "tfdist")
    after = {key: len(chain.chain) for key, chain in shell.strdispatchers[HOOK].strs.items()}
    assert after == before
    shell.run_line_magic("unload_ext", "tfdist")
    left = shell.strdispatchers[HOOK].strs
    assert len(left["%cluster"].chain) == 1
    assert "%trace" not in left
