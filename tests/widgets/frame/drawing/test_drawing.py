"""A scene is drawn whole in every position, and what travels is enough to get from one to any other."""

import random
import re

import pytest

from tests.widgets.frame.drawing.test_vocabulary import SCENES
from tools.pages import results
from widgets.frame.drawing import drawing, lanes, scene

KEYED = re.compile(r'data-k="([^"]+)"')


def one(at=0.0, role="yes", key="a"):
    view = scene.view(
        "v", 4, 2, f"at {at}", scene.tokens(key, [[("3", role)]], 2), scene.word("here", (at, 1), key="w")
    )
    return scene.scene("A scene", "of one token", view)


def test_another_axis_is_drawn_again_by_a_running_widget():
    """site/assets/scene.js sets what has a key, and draws all again where the keys differ: letters have none."""

    def keys(until):
        board = lanes.board("b", "alt", until, [("a", "")], lanes.run("r", 0, 0, 10, "work"), ticks=(0, until))
        return KEYED.findall("".join(drawing.drawn(scene.scene("A board", "", board)).out))

    assert keys(80) == keys(80.0) != keys(150)


def states(module, name):
    """[choice][moment]: what of the scene can change, and its HTML."""
    figure = results.figures(module)[name]
    pens = {place: drawing.drawn(figure.panels(*figure.at(*place))[0]) for place in figure.places()}
    return [[pens[c, t] for t in range(len(figure.time or "-"))] for c in range(len(figure.handle or "-"))]


def unpacked(packed, choice, moment):
    """The state that site/assets/play.js comes to: the base, and every difference up to the moment."""
    state = dict(packed["base"])
    for frame in packed["frames"][choice][: moment + 1]:
        state |= frame
    return {
        key: tuple(packed["kinds"][sign] for sign in value) if key.endswith(".*") else value
        for key, value in state.items()
    }


@pytest.mark.parametrize("module, name", SCENES)
def test_every_position_has_the_same_keys_in_the_same_order(module, name):
    orders = {tuple(KEYED.findall("".join(pen.out))) for row in states(module, name) for pen in row}
    assert len(orders) == 1
    (keys,) = orders
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("module, name", SCENES)
def test_going_through_all_positions_in_any_order_gives_each_as_it_was_drawn(module, name):
    pens = states(module, name)
    packed = drawing.packed([[pen.state for pen in row] for row in pens])
    places = [(c, t) for c, row in enumerate(pens) for t in range(len(row))]
    random.Random(0).shuffle(places)
    page = dict(pens[0][0].state)  # the page as it stands, to which each difference is applied
    for choice, moment in places:
        page |= unpacked(packed, choice, moment)
        assert page == pens[choice][moment].state


def test_what_differs_between_two_positions_is_all_that_travels():
    packed = drawing.packed([[drawing.drawn(one()).state, drawing.drawn(one(at=1.0)).state]])
    assert packed["frames"] == [[{}, {"w.x": "26", "v.aria-label": "at 1.0"}]]
    assert packed["base"] == {"w.x": "0", "v.aria-label": "at 0.0"}
    assert packed["kinds"] == {}


def test_cells_travel_as_one_letter_each():
    packed = drawing.packed([[drawing.drawn(one()).state, drawing.drawn(one(role="no")).state]])
    (frame,) = packed["frames"][0][1:]
    assert len(frame["a.*"]) == 2
    assert packed["kinds"][frame["a.*"][0]] == ("k-q k-no", "3")


def test_a_position_with_another_key_is_refused():
    with pytest.raises(ValueError, match="same keys"):
        drawing.packed([[drawing.drawn(one()).state, drawing.drawn(one(key="b")).state]])


def test_two_parts_with_one_key_are_refused():
    twice = scene.view("v", 1, 1, "twice", scene.word("a", (0, 0), key="w"), scene.word("b", (0, 1), key="w"))
    with pytest.raises(ValueError, match="have the key w"):
        drawing.drawn(scene.scene("Twice", "", twice))


def test_texts_of_a_scene_stay_texts():
    view = scene.view("v", 1, 1, 'an "alt" & more', scene.word("<b>", (0, 0)), scene.tokens("t", [[("<", "yes")]], 1))
    svg = drawing.svg(scene.scene("Texts", "", view))
    assert "&lt;b&gt;" in svg and "<text>&lt;</text>" in svg and "&quot;alt&quot; &amp; more" in svg
    assert "<" not in drawing.in_json(dict(text="</template>"))


def test_a_hundred_dots_show_a_probability_to_one_in_a_hundred():
    for share in (0.0, 0.004, 0.31, 0.972, 1.0):
        view = scene.view("v", 5, 5, "", scene.hundred("h", [("followed", share), ("rest", 1 - share)]))
        dots = drawing.drawn(scene.scene("Dots", "", view)).state["h.*"]
        assert len(dots) == 100
        assert abs(sum("followed" in css for (css,) in dots) - 100 * share) <= 0.5
