"""What every widget promises; a new one is tested by existing."""

import ast
import json
import random
import re
from dataclasses import fields, replace
from pathlib import Path

import plotly.graph_objects as go
import pytest

from tests.widgets.catalogue import NAMES, early_frame, ends, every_frame, frame_of, last_frame, settings
from widgets.frame import host

ROOT = Path(__file__).parents[3]
every_widget = pytest.mark.parametrize("name", NAMES)


@every_widget
def test_the_default_holds_and_is_the_first_preset(name):
    w = host.widget(name)
    assert last_frame(name)["broken"] is None
    assert next(iter(w.PRESETS.values())) == w.Knobs()
    assert 2 <= len(w.PRESETS) <= 6


@every_widget
def test_a_preset_breaks_it_and_says_why_and_what_mends_it(name):
    broken = [frame["broken"] for k in host.widget(name).PRESETS.values() if (frame := frame_of(name, k))["broken"]]
    assert broken, "no preset reaches the break"
    for sentence in broken:
        assert sentence["why"].endswith(".") and sentence["mend"].endswith(".")
        assert "!" not in sentence["why"] + sentence["mend"]


@every_widget
def test_what_the_sentence_says_mends_it_does(name):
    for k in host.widget(name).PRESETS.values():
        if found := frame_of(name, k)["broken"]:
            assert frame_of(name, mended(k, found["mend"]))["broken"] is None, found["mend"]


def mended(k, sentence):
    """The knobs after a sentence of the form "Label: value, Label: value."."""
    value_of = r"(?:^|[.,] ){}: (.+?)(?=, [A-Z]|\. [A-Z]|\.$)"
    told = {
        f.name: said[1]
        for f in fields(k)
        if (said := re.search(value_of.format(re.escape(f.metadata["label"])), sentence))
    }
    assert told, f"no knob's label is in: {sentence}"
    return replace(k, **{f.name: host.parsed(f, spelled(f, told[f.name])) for f in fields(k) if f.name in told})


def spelled(field, text):
    """A number as a form holds it, without its unit and its commas."""
    number = re.fullmatch(r"([\d,.]+)( \w+)?", text)
    return number[1].replace(",", "") if number and isinstance(field.default, int | float) else text


@every_widget
def test_the_number_that_broke_it_is_marked(name):
    for k in host.widget(name).PRESETS.values():
        frame = frame_of(name, k)
        assert any(r["state"] == "violated" for r in frame["readouts"]) == bool(frame["broken"])


@every_widget
def test_every_knob_at_its_ends_gives_a_frame_that_plotly_accepts(name):
    whole = [frame_of(name, k) for k in host.widget(name).PRESETS.values()]
    for frame in [*whole, *(early_frame(name, k) for k in settings(name))]:
        json.dumps(frame, allow_nan=False)
        for panel in frame["panels"]:
            go.Figure(dict(data=panel["data"], layout=panel["layout"]))


@every_widget
def test_knobs_taken_to_their_ends_together_give_a_frame_too(name):
    w, chance = host.widget(name), random.Random(name)
    for _ in range(12):
        assert early_frame(name, w.Knobs(**{f.name: chance.choice(ends(f)) for f in fields(w.Knobs)}))["panels"]


@every_widget
def test_every_knob_changes_something_visible(name):
    w = host.widget(name)
    for f in fields(w.Knobs):
        moves = [(k, replace(k, **{f.name: v})) for k in w.PRESETS.values() for v in ends(f) if v != getattr(k, f.name)]
        # most knobs show in the first frames already; the others act later in the training
        assert any(
            seen(look(name, there)) != seen(look(name, here))
            for look in (early_frame, frame_of)
            for here, there in moves
        ), f"{f.name} changes nothing"


@every_widget
def test_no_knob_hides_a_property_of_the_form(name):
    # a form's controls shadow its own properties of the same name, and the page asks a form for these two
    assert not {"elements", "reset"} & host.widget(name).Knobs.__dataclass_fields__.keys()


def seen(frame):
    return frame["panels"], frame["readouts"]


@every_widget
def test_panels_say_what_they_show_in_which_unit(name):
    panels = last_frame(name)["panels"]
    tabs = list(dict.fromkeys(p["tab"] for p in panels))
    assert len(tabs) <= 3 and all(sum(p["tab"] == t for p in panels) <= 2 for t in tabs)
    for p in panels:
        assert p["title"] and p["note"] and not p["title"].endswith(".")
        axis = p["layout"]["xaxis"]
        assert axis["title"]["text"] or not axis["visible"] or all(m["type"] in ("bar", "heatmap") for m in p["data"])


@every_widget
def test_axes_stay_where_they_are_while_a_run_grows(name):
    ranges = [
        [(p["layout"][a].get("range"), p["layout"][a]["type"]) for p in f["panels"] for a in ("xaxis", "yaxis")]
        for f in every_frame(name)
    ]
    assert all(r == ranges[0] for r in ranges)


@every_widget
def test_readouts_are_three_to_five_with_a_source_that_is_a_definition(name):
    readouts = last_frame(name)["readouts"]
    assert 3 <= len(readouts) <= 5
    for r in readouts:
        path, line = re.fullmatch(r"(sim/.+\.py)#L(\d+)", r["source"]).groups()
        definitions = (
            n for n in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(n, ast.FunctionDef | ast.ClassDef)
        )
        assert int(line) in {min([n.lineno, *(d.lineno for d in n.decorator_list)]) for n in definitions}


@every_widget
def test_a_run_counts_its_steps_and_ends_at_the_last(name):
    progress = [f["progress"] for f in every_frame(name)]
    if progress[0] is None:
        assert len(progress) == 1, "a closed form yields once"
    else:
        assert [p[1] for p in progress] == sorted(p[1] for p in progress) and progress[-1][1] == progress[-1][2]


@every_widget
def test_a_result_is_the_same_when_it_is_computed_again(name):
    assert json.loads(list(host.stream(name))[-1])["hash"] == every_frame(name)[-1]["hash"] == last_frame(name)["hash"]


@every_widget
def test_a_value_that_is_not_on_offer_is_refused_in_one_sentence(name):
    for f in fields(host.widget(name).Knobs):
        with pytest.raises(ValueError, match=f.name):
            list(host.stream(name, json.dumps({f.name: "<b>no</b>"})))
