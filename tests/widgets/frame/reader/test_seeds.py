"""A setting over further seeds: nothing is computed twice, the seed that is set is shown, two samples are compared."""

import json
import sys

import numpy as np
import pytest

from sim.estimators import welch_interval
from tests.widgets import catalogue
from widgets.frame.drawing import written
from widgets.frame.drawing.written import figures
from widgets.frame.reader import host, seeds

SEEDED = [name for name in catalogue.NAMES if "seed" in host.widget(name).Knobs.__dataclass_fields__]


def asked(name, **form):
    return [frame for frame in map(json.loads, host.stream(name, json.dumps(form))) if frame]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(seeds, "computed", {})


def test_the_first_frame_is_that_of_the_seed_that_is_set():
    first, second = asked("kl_estimators", more=1, seed="5")
    *_, plain = map(json.loads, host.stream("kl_estimators", json.dumps(dict(seed="5"))))
    assert [row["text"] for row in first["readouts"]] == [row["text"] for row in plain["readouts"]]
    assert [row["text"] for row in second["readouts"]] == [row["text"] for row in plain["readouts"]]
    assert second["said"].startswith("2 choices of Seed: ")


def test_more_seeds_join_those_that_were_computed(monkeypatch):
    ran = []
    widget = host.widget("kl_estimators")
    run = widget.run
    monkeypatch.setattr(widget, "run", lambda knobs: ran.append(knobs.seed) or run(knobs))
    asked("kl_estimators", more=2, seed="98")
    asked("kl_estimators", more=2, seed="98")
    assert ran == [98, 99, 0, 1, 2]  # the seeds on offer end at 99
    assert len(asked("kl_estimators", more=1, seed="98")[-1]["sample"][0]) == 6


def test_the_range_of_a_readout_is_that_of_single_runs():
    last = asked("kl_estimators", more=2)[-1]
    alone = [asked("kl_estimators", seed=str(seed))[-1]["readouts"] for seed in range(3)]
    for i, row in enumerate(last["readouts"]):
        values = last["sample"][i]
        assert {figures(value) for value in values} == {rows[i]["text"] for rows in alone}
        if not any(isinstance(value, str) for value in values) and len(set(values)) > 1:
            assert row["over"] in (f"{figures(min(values))} to {figures(max(values))}", f"{row['text']} in each")


def test_a_kept_sample_differs_where_welchs_interval_leaves_out_zero():
    rows = [dict(label="Reward"), dict(label="Word"), dict(label="Length")]
    before, now = [[1.0, 1.1, 0.9], ["a"] * 3, [1.0, 2.0, 3.0]], [[2.0, 2.1, 1.9], ["a"] * 3, [1.5, 2.5, 2.4]]
    reward, length = seeds.against(rows, before, now)
    low, high = welch_interval.interval(before[0], now[0])
    assert reward.startswith("Reward differs from the kept run: by +1 in the mean, 95 % interval ")
    assert f"+{figures(low)} to +{figures(high)}." in reward
    assert length.startswith("Length may be that of the kept run")
    assert not list(seeds.against(rows, [[1.0, 2.0], [], []], now)) and not list(seeds.against(rows, None, now))


def curve(x, y, role=""):
    return dict(type="scatter", mode="lines", x=x, y=y, name="", meta=dict(series=2, role=role))


def test_a_band_is_the_range_of_a_curve_with_the_same_places_and_no_other():
    panel = written.plain(dict(title="t", note="n", caption="t <span>n</span>", data=[], layout={}))
    runs = [dict(panel, data=[curve([0, 1], y)]) for y in ([1, 2], [0, 5], [3, 3])]
    banded = seeds.banded(runs[0], runs)
    assert banded["data"][0]["y"] == [3, 5, 2, 0] and banded["note"] == "n; band: 3 choices of Seed"
    assert banded["caption"] == "t <span>n; band: 3 choices of Seed</span>"
    assert banded["data"][0]["meta"] == dict(series=2, role="band")
    for different in (curve([0, 2], [1, 2]), curve([0, 1], [None, 2]), curve([0, 1], [1, 2])):
        same = [runs[0], dict(panel, data=[different])]
        assert seeds.banded(runs[0], same) is runs[0]
    assert seeds.banded(dict(panel, data=[curve([0, 1], [1, 2], "exact")]), runs)["data"][0]["meta"]["role"] == "exact"


@pytest.mark.skipif(sys.platform == "emscripten", reason="runs are looked at there by the contract")
@pytest.mark.parametrize("name", [pytest.param(n, marks=catalogue.where_changed(n, family="seeds")) for n in SEEDED])
def test_every_widget_with_a_seed_can_run_more_seeds(name):
    frames = asked(name, more=1)
    assert len(frames) == 2 and len(frames[-1]["sample"]) == len(frames[-1]["readouts"])
    assert all(len(values) == 2 for values in frames[-1]["sample"])
    moved = np.ptp([value for value in map(seeds_of_number, frames[-1]["sample"])], axis=1)
    assert moved.any(), "no readout depends on the seed"


def seeds_of_number(values):
    return [0.0 if isinstance(value, str) else value for value in values]
