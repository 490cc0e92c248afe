"""Each theme can be read: contrasts are those that WCAG 2.2 asks for."""

from io import BytesIO

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from tests.plots.samples import three_task_nodes
from tfdist.plots.placement.figure import placement_figure
from tfdist.plots.shared.palette import OKABE_ITO, ink_on, png, tint
from tfdist.plots.shared.repainted import Repainted
from tfdist.plots.shared.themes import THEMES, drawn, panel
from tfdist.plots.shared.two_grounds import two_grounds

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


def test_a_figure_of_the_users_changes_its_neutral_colours_and_gets_them_back():
    figure = Figure()
    axes = figure.subplots()
    (line,) = axes.plot([1, 2], color="#0072B2", label="a hue")
    title = axes.set_title("words")
    painted = Repainted(figure)
    with drawn("dark"):
        assert painted.draw() is figure
    assert to_hex(figure.get_facecolor()).upper() == THEMES["dark"].panel
    assert to_hex(title.get_color()).upper() == THEMES["dark"].ink
    assert line.get_color() == "#0072B2"
    painted.restore()
    assert (figure.get_facecolor(), title.get_color()) == ((1, 1, 1, 1), "black")


def test_a_picture_for_both_themes_is_one_png_with_two_tables_of_colours():
    found = two_grounds(lambda: placement_figure(three_task_nodes()))
    for theme, picture in (("light", found.light), ("dark", found.dark)):
        image = Image.open(BytesIO(picture)).convert("RGB")
        corner = image.getpixel((image.width - 2, image.height - 2))
        assert bytes(corner).hex().upper() == THEMES[theme].panel[1:]
    assert len(found.light) == len(found.dark)
