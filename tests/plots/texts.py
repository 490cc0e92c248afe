"""Where the texts of a drawn figure stand."""

from matplotlib.backends.backend_agg import FigureCanvasAgg


def assert_inside_and_apart(figure):
    """Fail if a text leaves the figure or overlaps another one; returns all texts."""
    FigureCanvasAgg(figure).draw()
    boxes = {
        text.get_window_extent(): text.get_text() for axes in figure.axes for text in axes.texts
    }
    assert all(figure.bbox.contains(*box.min) and figure.bbox.contains(*box.max) for box in boxes)
    pairs = [(a, b) for a in boxes for b in boxes if a is not b and a.overlaps(b)]
    assert [(boxes[a], boxes[b]) for a, b in pairs] == []
    return set(boxes.values())
