"""What every widget promises; a new one is tested by existing."""

import ast
import json
import random
import re
from collections import deque
from dataclasses import fields, replace
from pathlib import Path

import plotly.graph_objects as go
import pytest

from tests.widgets.catalogue import (
    NAMES,
    after,
    breaking,
    called,
    each_where_changed,
    early_frame,
    ends,
    every_frame,
    form,
    frame_of,
    last_frame,
    settings,
    state,
    values,
)
from tests.widgets.grid import MACHINES
from tools.pages import frames, results
from widgets.frame.contract.values import is_pasted
from widgets.frame.contract.widget import FEW, LEADING, Widget, extras, grouped, leading
from widgets.frame.reader import host

ROOT = Path(__file__).parents[3]
LOOK = json.loads((ROOT / "site" / "assets" / "look.json").read_text(encoding="utf-8"))
every_widget = pytest.mark.parametrize("name", NAMES, scope="module")
# what takes all settings of a widget, or its run once more: of at most twelve widgets on a push
every_changed_widget = each_where_changed(most=12)


def must(holds, name, rule):
    """Fail with the promise as a sentence."""
    __tracebackhide__ = True
    assert holds, f'widgets/{name}/widget.py: {rule} (CONTRIBUTING.md, "A widget")'


@every_widget
def test_every_widget_defines_the_functions_that_the_contract_names(name):
    must(isinstance(host.widget(name), Widget), name, "it offers all that widgets/frame/contract/widget.py names")


@every_widget
def test_the_default_setting_holds_and_is_the_first_preset(name):
    w = host.widget(name)
    must(state(last_frame(name)) == "holds", name, "the default is the textbook case, not broken and not worse")
    must(next(iter(w.PRESETS.values())) == w.Knobs(), name, "the first of PRESETS is the default, Knobs()")
    must(2 <= len(w.PRESETS) <= 6, name, f"two to six PRESETS, not {len(w.PRESETS)}")


@every_widget
def test_one_preset_breaks_its_widget_and_no_preset_name_mentions_a_break(name):
    must(breaking(name), name, "at least one of PRESETS reaches the break")
    for preset in host.widget(name).PRESETS:
        must("break" not in preset and "broke" not in preset, name, f"a preset says what it sets, not more: {preset!r}")


@every_changed_widget
def test_a_verdict_is_one_or_two_short_sentences_without_emphasis(name):
    w = host.widget(name)
    settled = [frame_of(name, k) for k in w.PRESETS.values()]
    for frame in settled + [early_frame(name, k) for k in settings(name)]:
        why = frame["verdict"]["sentence"]
        must(len(why) <= 150, name, f"a verdict has at most 150 characters, not {len(why)}: {why}")
        must(why.endswith(".") and "!" not in why, name, f"a verdict ends in a period and has no emphasis: {why}")


@every_widget
def test_a_break_names_its_cause_in_a_few_words(name):
    for cause in frames.causes(name):
        must(1 <= len(cause.split()) <= 6, name, f"the `cause` of a break has one to six words: {cause!r}")
        must(not re.search(r"[.!]", cause), name, f"the `cause` of a break is no sentence: {cause!r}")


@every_widget
def test_a_break_is_seen_at_a_place_within_the_axes_in_at_most_six_words(name):
    for k in breaking(name).values():
        at = frame_of(name, k)["verdict"]["at"]
        must(at, name, f"`seen_at` says where the break of {k} is seen")
        panel = frame_of(name, k)["panels"][at["panel"]]
        must(at["inside"], name, f"the place of the break lies within the axes of {panel['title']!r}: {at}")
        must(1 <= len(at["words"].split()) <= 6, name, f"one to six words say what is seen: {at['words']!r}")
        named = {mark["name"] for mark in panel["data"]}
        must(at["curve"] in named | {""}, name, f"`curve` of `seen_at` is one of {named}, not {at['curve']!r}")


@every_widget
def test_few_knobs_stand_at_the_picture_and_each_other_once_in_the_column(name):
    w = host.widget(name)
    named = [*leading(w), *(knob for names in grouped(w).values() for knob in names)]
    tool = extras(w).FIELDS
    must(bool(tool) == bool(extras(w).answer), name, "a tool has FIELDS and an `answer`")
    must(tool or len(leading(w)) == LEADING, name, f"LEAD has {LEADING} knobs")
    must(len(tool) <= FEW, name, f"FIELDS are at most {FEW}, not {len(tool)}")
    must(sorted(named) == sorted(f.name for f in fields(w.Knobs)), name, "KNOB_GROUPS names knobs, each at most once")


# Settings of the two knobs that reach the break of the opening where the opening turns others too
REACHED = dict(throughput=dict(overlap="asynchronous", test_seconds=10.0), verifier_pool=dict(slots=128))
OUT_OF_REACH = {
    "compare",  # its two knobs are the lists that readers come for; its break takes an optimizer and a rate
    "gaps",  # its break takes three knobs: the work, the minutes, the order
}


@every_changed_widget
def test_the_two_knobs_reach_the_break_of_the_opening(name):
    w = host.widget(name)
    opening = extras(w).OPENING
    wanted = opening and w.broken(opening.other, results.last(name, opening.other))
    if not wanted or name in OUT_OF_REACH:
        return
    turned = REACHED.get(name) or {knob: getattr(opening.other, knob) for knob in leading(w)}
    assert {*turned} <= {*leading(w)}
    k = replace(w.Knobs(), **turned)
    break_ = w.broken(k, results.last(name, k))
    must(break_ and break_.cause == wanted.cause, name, f"{turned} reaches the break of the opening, {wanted.cause!r}")


@every_widget
def test_the_question_and_its_answer_stand_in_one_line(name):
    guess = extras(host.widget(name)).GUESS
    if guess is None:
        return
    must(len(guess.question) <= 115, name, f"the question has at most 115 characters: {len(guess.question)}")
    outcome = guess.told(guess.knobs, results.last(name, guess.knobs))
    line = f"Your guess: {max(guess.answers, key=len)}. {outcome}"
    must(len(line) <= 130, name, f"with a guess, what it is has at most 130 characters, not {len(line)}: {line}")
    labels = [r["label"] for r in last_frame(name)["readouts"]]
    must(guess.reveals in ["", *labels], name, f"`reveals` is the label of a readout, one of {labels}")


@every_widget
def test_notes_stand_in_one_line_and_labels_in_two(name):
    for k in host.widget(name).PRESETS.values():
        frame = frame_of(name, k)
        for panel in frame["panels"]:
            beside = [p for p in frame["panels"] if p["tab"] == panel["tab"]]
            leads = panel["front"] or (not any(p["front"] for p in beside) and panel is beside[0])
            most = 140 if len(beside) == 1 else 84 if leads else 52
            must(len(panel["note"]) <= most, name, f"a note here has at most {most} characters: {panel['note']!r}")
        for r in frame["readouts"]:
            must(len(r["label"]) <= 44, name, f"the label of a readout has at most 44 characters: {r['label']!r}")


@every_changed_widget
def test_the_suggested_fix_of_every_broken_preset_leads_to_a_sound_setting(name):
    for k in breaking(name).values():
        steps = frame_of(name, k)["verdict"]["fix"]
        must(steps, name, f"the break of {k} has a `fix`, {{knob: value}}")
        must(state(frame_of(name, after(k, steps))) != "broken", name, f"a `fix` leads back: {steps}")


@every_widget
def test_a_readout_is_marked_violated_exactly_where_the_widget_is_broken(name):
    for k in host.widget(name).PRESETS.values():
        frame = frame_of(name, k)
        marked, broken = any(r["state"] == "violated" for r in frame["readouts"]), state(frame) == "broken"
        must(marked == broken, name, f'a readout has state="violated" exactly where the widget is broken, unlike {k}')


@every_changed_widget
def test_every_knob_at_its_ends_gives_a_frame_that_plotly_accepts(name):
    whole = [frame_of(name, k) for k in host.widget(name).PRESETS.values()]
    for frame in [*whole, *(early_frame(name, k) for k in settings(name))]:
        json.dumps(frame, allow_nan=False)
        for panel in frame["panels"]:
            go.Figure(dict(data=panel["data"], layout=panel["layout"]))


@every_changed_widget
def test_all_knobs_at_their_ends_together_give_a_frame(name):
    w, chance = host.widget(name), random.Random(name)
    for _ in range(12):
        assert early_frame(name, w.Knobs(**{f.name: chance.choice(ends(f)) for f in fields(w.Knobs)}))["panels"]


@every_changed_widget
def test_random_settings_are_answered_in_a_sentence_and_every_break_has_a_fix(name):
    w, chance = host.widget(name), random.Random(name)
    if extras(w).progress or name in MACHINES:
        return  # a training takes seconds; tests/widgets/frame/test_grid.py draws the jobs of machines
    for _ in range(25):
        k = w.Knobs(**{f.name: chance.choice(values(f)) for f in fields(w.Knobs) if chance.random() < 0.6})
        verdict = json.loads(deque(host.stream(name, form(k)), maxlen=1)[0])["verdict"]
        must(len(verdict["sentence"]) <= 150, name, f"a verdict has at most 150 characters: {verdict['sentence']}")
        must(verdict["state"] != "broken" or verdict["fix"], name, f"there is a way back from {k}")


@every_changed_widget
def test_every_knob_changes_something_visible(name):
    w = host.widget(name)
    for f in fields(w.Knobs):
        moves = [(k, replace(k, **{f.name: v})) for k in w.PRESETS.values() for v in ends(f) if v != getattr(k, f.name)]
        # most knobs show in the first frames already; the others act later in the training
        assert any(
            (seen(look(name, after)), look(name, after)["config"])
            != (seen(look(name, before)), look(name, before)["config"])
            for look in (early_frame, frame_of)
            for before, after in moves
        ), f"widgets/{name}/widget.py: the knob {f.name} changes nothing that is seen"


@every_changed_widget
def test_a_knob_that_is_said_to_change_nothing_changes_nothing(name):
    w = host.widget(name)
    for k in w.PRESETS.values():
        usual = seen(frame_of(name, k))
        for knob, why in extras(w).idle(k).items():
            must(1 <= len(why) <= 28, name, f"why a knob changes nothing is said in 28 characters: {why!r}")
            value = next(v for v in ends(w.Knobs.__dataclass_fields__[knob]) if v != getattr(k, knob))
            must(seen(frame_of(name, replace(k, **{knob: value}))) == usual, name, f"{knob} does change something: {k}")


@every_widget
def test_no_knob_hides_a_property_of_the_form(name):
    # a form's controls shadow its own properties of the same name, and the page asks a form for the first two; with a
    # setting it sends the others
    clashing = {"elements", "reset", "job", "opened"} & host.widget(name).Knobs.__dataclass_fields__.keys()
    must(not clashing, name, f"no knob is called {' or '.join(clashing)}: the page means something else by it")


def seen(frame):
    return frame["panels"], frame["readouts"]


@every_widget
def test_every_panel_names_its_quantity_and_unit(name):
    panels = last_frame(name)["panels"]
    tabs = list(dict.fromkeys(p["tab"] for p in panels))
    chosen = [tab for tab in tabs if tab or not extras(host.widget(name)).FIELDS]  # a tool's picture is always in view
    few = len(chosen) <= 3 and all(sum(p["tab"] == t for p in panels) <= 2 for t in tabs)
    must(few, name, "at most three tabs of two panels each")
    for p in panels:
        must(p["title"] and not p["title"].endswith("."), name, f"a panel has a title without a period: {p['title']!r}")
        must(p["note"], name, f"the panel {p['title']!r} has a note: unit, scale, how many seeds")
        axis = p["layout"]["xaxis"]
        named = axis["title"]["text"] or not axis["visible"] or all(m["type"] in ("bar", "heatmap") for m in p["data"])
        must(named, name, f'the panel {p["title"]!r} names its horizontal axis: panel(…, x="…")')


@every_widget
def test_marks_use_only_roles_and_series_of_the_look_file(name):
    for mark in (mark for p in last_frame(name)["panels"] for mark in p["data"]):
        worn = f"{mark['type']} {mark['meta']['role']}".strip()
        must(worn in LOOK, name, f"{worn!r} is no role of a mark; site/assets/look.json has {', '.join(roles())}")
        must(mark["meta"]["series"] in range(1, 9), name, f"a series is 1 to 8, not {mark['meta']['series']}")


def roles():
    return [key for key in LOOK if " " in key and key.split()[0] in ("scatter", "bar", "heatmap")]


@every_changed_widget
def test_axes_stay_where_they_are_while_a_run_grows(name):
    ranges = [
        [(p["layout"][a].get("range"), p["layout"][a]["type"]) for p in f["panels"] for a in ("xaxis", "yaxis")]
        for f in every_frame(name)
    ]
    must(all(r == ranges[0] for r in ranges), name, "x_range, y_range and log of a panel are the same in every frame")


def heights(frame):
    """{title: range of the vertical axis}; a sentence in the place of a plot, where nothing fits, has no axis."""
    plots = [panel for panel in frame["panels"] if panel["layout"]["yaxis"].get("visible") is not False]
    return {panel["title"]: panel["layout"]["yaxis"].get("range") for panel in plots}


@every_changed_widget
def test_no_knob_moves_the_range_of_a_vertical_axis_but_one_that_is_its_unit(name):
    usual = heights(last_frame(name))
    for k in settings(name):
        (turned,) = [f.name for f in fields(k) if getattr(k, f.name) != f.default]
        ranges = heights(early_frame(name, k))
        moved = {title for title in ranges.keys() & usual.keys() if ranges[title] != usual[title]}
        must(not moved or turned in UNIT.get(name, ()), name, f"{turned} does not move the vertical axis of {moved}")


# the knobs that are the unit of an axis: a reward, the memory of a GPU, the seconds of a role, the rows of a group or
# the ways to answer a task
UNIT = dict(
    kl_estimators=("pair",),
    kv_cache=("accelerator",),
    memory=("accelerator", "chip"),
    reward_and_reference=("hack",),
    rollout=("K",),
    scheduling=("prompts", "samples"),
    throughput=(
        *("prompts", "samples", "old_log_probs", "other", "reference", "reuse", "rollout", "role", "source", "sync"),
        *("workers", "train", "test_seconds", "longest_test", "overlap", "k"),
    ),
    verifiers=("archetype",),
)


@every_widget
def test_readouts_are_three_to_five_with_a_source_that_is_a_definition(name):
    readouts = last_frame(name)["readouts"]
    must(3 <= len(readouts) <= 5, name, f"three to five readouts, not {len(readouts)}")
    for r in readouts:
        ours = re.fullmatch(r"((?:sim|rlpt)/.+\.py)#L(\d+)", r["source"])
        must(ours, name, f"the readout {r['label']!r} has a function of sim/ or rlpt/ as its `source`")
        path, line = ours.groups()
        definitions = (
            n for n in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(n, ast.FunctionDef | ast.ClassDef)
        )
        begun = {min([n.lineno, *(d.lineno for d in n.decorator_list)]) for n in definitions}
        must(int(line) in begun, name, f"the `source` of {r['label']!r} is a function that a `def` or `class` made")


@every_changed_widget
def test_the_source_function_of_every_readout_is_called_for_its_frame(name):
    for r in every_frame(name)[-1]["readouts"]:
        fault = f"the `source` of {r['label']!r}, {r['source']}, was not called while the default frame was made"
        must(r["source"] in called(name), name, f"{fault}: it names the function that computed the value")


@every_changed_widget
def test_a_run_counts_its_steps_and_ends_at_the_last(name):
    progress = [f["progress"] for f in every_frame(name)]
    if progress[0] is None:
        must(len(progress) == 1, name, "`run` yields once, or the widget has a function `progress`")
    else:
        done = [p[1] for p in progress]
        must(done == sorted(done) and done[-1] == progress[-1][2], name, "`progress` counts up and ends at its total")


@every_changed_widget
def test_a_result_is_the_same_when_it_is_computed_again(name):
    same = every_frame(name)[-1]["hash"] == last_frame(name)["hash"]  # computed here; by whoever asked first
    must(same, name, "a run with the same knobs gives the same figure: every rng comes from a seed")


@every_widget
def test_a_value_that_is_not_on_offer_is_refused_in_one_sentence(name):
    for f in fields(host.widget(name).Knobs):
        if is_pasted(f):  # the page keeps its last result and says why
            (answer,) = host.stream(name, json.dumps({f.name: "<b>no</b>"}))
            assert json.loads(answer)["brought"][f.name]["value"] is None
        else:
            with pytest.raises(ValueError, match=f.name):
                list(host.stream(name, json.dumps({f.name: "<b>no</b>"})))
