"""tf.contrib.graph_editor, summary, image and their neighbours, beside what 1.15.5 makes."""

import numpy as np
import pytest

import tfdist as tf


@pytest.fixture
def editor():
    return tf.contrib.graph_editor


@pytest.fixture(autouse=True)
def graph():
    """Make a graph of five nodes: c = a + b, d = c * 3, e = -d."""
    with tf.Graph().as_default() as own:
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        tf.negative(tf.multiply(tf.add(a, b, name="c"), 3.0, name="d"), name="e")
        yield own


def names(found):
    return [each.name for each in found]


def tensor(graph, name):
    return graph.get_tensor_by_name(f"{name}:0")


def test_walks_go_level_by_level(graph, editor):
    e = tensor(graph, "e")
    assert names(editor.get_backward_walk_ops(e)) == ["e", "d", "c", "d/y", "a", "b"]
    stopped = editor.get_backward_walk_ops([e], stop_at_ts=[tensor(graph, "c")])
    assert names(stopped) == ["e", "d", "d/y"]
    assert names(editor.get_forward_walk_ops(tensor(graph, "a").op)) == ["a", "c", "d", "e"]
    assert names(editor.select_ops("^[cd]$", graph=graph)) == ["c", "d"]


def test_a_replaced_tensor_makes_copies_of_what_depends_on_it(graph, editor):
    other = tf.constant(5.0)
    made = editor.graph_replace(tensor(graph, "e"), {tensor(graph, "a"): other})
    assert made.name == "e_1:0"
    with tf.Session() as session:
        assert session.run([tensor(graph, "e"), made]) == [-9.0, -21.0]
    with pytest.raises(ValueError, match="not connected"):
        editor.graph_replace(tensor(graph, "a"), {other: other})


def test_a_copy_has_placeholders_for_what_comes_from_outside(graph, editor):
    view, info = editor.copy(editor.sgv("c", "d", graph=graph), dst_scope="again")
    assert names(view.ops) == ["again/c", "again/d/y", "again/d"]
    assert names(view.inputs) == ["again/geph__a_0:0", "again/geph__b_0:0"]
    assert info.transformed(tensor(graph, "d")).name == "again/d:0"
    target = tf.Graph()
    editor.copy(graph, target)
    with tf.Session(graph=target) as session:
        assert session.run("e:0") == -9


@pytest.mark.parametrize(
    ("edit", "wanted"),
    [(lambda t, e: e.reroute_ts([t("a")], [t("c")]), -3),
     (lambda t, e: e.connect(e.sgv(t("a").op), e.sgv(t("e").op)), -1),
     (lambda t, e: e.swap_inputs(t("e").op, t("d").op) and None, None),
     (lambda t, e: e.bypass(e.sgv(t("c").op, t("a").op)) and None, None)],
    ids=["takers of c take a", "e takes a", "inputs change places", "nothing stands for c"],
)  # fmt: skip
def test_tensors_take_other_ways(graph, editor, edit, wanted):
    try:
        edit(lambda name: tensor(graph, name), editor)
    except ValueError:
        assert wanted is None
        return
    with tf.Session() as session:
        assert wanted is None or session.run(tensor(graph, "e")) == wanted


def test_summaries_are_written_by_the_graph_itself(tmp_path):
    summary = tf.contrib.summary
    step = tf.train.get_or_create_global_step()
    writer = summary.create_file_writer(str(tmp_path), flush_millis=1)
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        summary.scalar("loss", 2.0, family="training")
        summary.histogram("spread", [1.0, 2.0])
        summary.image("picture", tf.zeros([1, 2, 2, 3]))
        summary.generic("values", [1, 2])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            summary.initialize(session=session)
            assert all(session.run(summary.all_summary_ops()))
            session.run(step.assign_add(1))
            assert not any(session.run(summary.all_summary_ops()))
            session.run(writer.close())
            session.run(step.assign_add(1))
            with pytest.raises(tf.errors.NotFoundError, match="initialize"):
                session.run(summary.all_summary_ops())
    (path,) = tmp_path.iterdir()
    assert path.name.endswith(".v2")
    tags = {v.tag for event in tf.train.summary_iterator(str(path)) for v in event.summary.value}
    assert tags == {"training/training/loss", "spread", "picture/image/0", "values"}


def test_images_are_moved_as_tensorflow_moves_them():
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    contrib = tf.contrib.image
    given = tf.constant(image)
    sheared = contrib.transform(given, [1, 0.1, 0, 0.2, 1, 0, 0, 0], "BILINEAR")
    found = tf.Session().run({
        "translate": contrib.translate(image, [0.5, 0.25], "BILINEAR"),
        "transform": contrib.transform(image, [1, 0.1, 0, 0.2, 1, 0, 0.01, 0.02], "BILINEAR"),
        "gradient": tf.gradients(sheared, given)[0],
    })  # fmt: skip
    wanted = {
        "translate": [[0, 0.375, 1.125, 1.875], [1.5, 3.5, 4.5, 5.5], [3.5, 7.5, 8.5, 9.5]],
        "transform": [[0, 1.7821782, 3.5294118, 5.2427187], [4.0196075, 5.7281556, 7.4038463,
                       9.04762], [7.8846154, 8.272108, 7.414025, 6.265702]],
        "gradient": [[1, 0.79591835, 0.5918367, 0.364015], [0.8979592, 1, 1, 1],
                     [0.7634319, 1, 1, 1]],
    }  # fmt: skip
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-5, err_msg=name)


def test_bijectors_go_back_and_tell_how_they_stretch():
    B = tf.contrib.distributions.bijectors
    x = tf.constant([0.3, 1.2])
    found = [
        B.Exp(), B.Sigmoid(), B.Softplus(), B.AffineScalar(1.0, [2.0, -3.0]), B.Square(),
        B.PowerTransform(0.5), B.Chain([B.Exp(), B.AffineScalar(scale=2.0)]), B.Invert(B.Square()),
        B.Affine([1.0, 2.0], scale_tril=[[2.0, 0.0], [1.0, 3.0]]), B.Permute([1, 0]),
    ]  # fmt: skip
    with tf.Session() as session:
        for bijector in found:
            y = bijector.forward(x)
            slopes = tf.stack([tf.gradients(y[i], x)[0] for i in range(2)])
            grown = tf.log(tf.abs(tf.matrix_determinant(slopes)))
            back, told, wanted, other = session.run([
                bijector.inverse(y), bijector.forward_log_det_jacobian(x, 1), grown,
                bijector.inverse_log_det_jacobian(y, 1),
            ])  # fmt: skip
            np.testing.assert_allclose(back, [0.3, 1.2], rtol=1e-5, err_msg=bijector.name)
            np.testing.assert_allclose([told, -other], [wanted] * 2, rtol=1e-4, atol=1e-5)


def test_gradients_can_be_recomputed_from_copies(graph, editor):
    """Memory-saving gradients walk the table of copies, and give its values to the editor."""
    c, d = graph.get_operation_by_name("c"), graph.get_operation_by_name("d")
    _, info = editor.copy_with_input_replacements(editor.sgv([c, d]), {})
    assert {each.name: copy.name for each, copy in info._transformed_ops.items()} == {
        "c": "c_1", "d": "d_1",
    }  # fmt: skip
    views = editor.sgv(info._transformed_ops.values())
    assert names(views.ops) == ["c_1", "d_1"]
    copied = {tensor: copy for tensor, copy in info._transformed_ts.items()}
    editor.reroute_ts(copied.values(), copied.keys(), can_modify=[d])
    assert names(d.inputs) == ["c_1:0", "d/y:0"]
