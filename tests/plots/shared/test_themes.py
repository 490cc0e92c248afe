"""Each theme can be read: contrasts are those that WCAG 2.2 asks for."""

import pytest

from tests.plots.samples import three_task_nodes
from tfdist.plots.placement.figure import placement_figure
from tfdist.plots.shared.palette import OKABE_ITO, ink_on, png, tint
from tfdist.plots.shared.themes import THEMES, drawn, panel

EACH = pytest.mark.parametrize("name", THEMES)
TEXT, GRAPHICS = 4.5, 1.25  # hues stand beside words, which say the same


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


@EACH
def test_texts_can_be_read_on_both_grounds(name):
    theme = THEMES[name]
    assert contrast(theme.ink, theme.panel) > 2 * TEXT
    assert contrast(theme.ink, theme.shade) > 2 * TEXT
    assert contrast(theme.faint, theme.panel) >= TEXT


@EACH
@pytest.mark.parametrize("hue", OKABE_ITO)
def test_hues_stand_out_and_texts_on_tints_can_be_read(name, hue):
    with drawn(name):
        assert contrast(hue, panel()) > GRAPHICS
        assert contrast(THEMES[name].ink, tint(hue, 0.22)) >= TEXT
        assert contrast(ink_on(hue), hue) >= 3.0


def test_a_picture_is_drawn_in_the_theme_of_its_context():
    pictures = {"outside": png(placement_figure(three_task_nodes()))}
    for name in THEMES:
        with drawn(name):
            pictures[name] = png(placement_figure(three_task_nodes()))
    assert pictures["outside"] == pictures["light"] != pictures["dark"]


def test_an_unknown_theme_is_told_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"'grey': there are auto, light, dark"), drawn("grey"):
        pass
