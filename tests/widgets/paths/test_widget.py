"""What each knob must do, and that what is drawn is what is counted."""

from math import log10

import pytest

from sim.cluster import paths
from sim.cluster.paths import CONTROLLER, EXPERIENCE, FULL, FUNNEL, TRAINER, WEIGHTS
from tests.widgets.catalogue import last, panel
from tests.widgets.grid import answers
from widgets.paths import widget
from widgets.paths.widget import LIMIT, PRESETS, Knobs


def report(**knobs):
    return last(widget, **knobs).report


def test_only_both_mistakes_together_break_the_data_paths():
    for alone in (dict(payload=FULL), dict(route=CONTROLLER)):
        k = Knobs(**alone)
        r = last(widget, **alone)
        assert widget.broken(k, r) is None and widget.worse(k, r) is None


def test_a_path_is_broken_only_if_a_quarter_of_the_updates_is_lost():
    """Beyond a quarter of the step a third of the updates is lost and more: 1/(1 − 1/4) = 4/3."""
    for answer in answers("paths"):
        if answer.broken and not answer.result.misfits:
            r = answer.result.report
            assert r.share(r.largest) > LIMIT and r.seconds > 4 / 3 * r.work * (1 - 1e-9)


def test_the_exposed_seconds_of_a_path_lie_between_zero_and_its_duration():
    for answer in answers("paths"):
        if not answer.result.misfits:
            for path in answer.result.report.paths.values():
                slack = 1e-9 * answer.result.report.seconds
                assert -slack <= path.exposed <= path.seconds + slack, (answer.knobs, path)


def test_faster_schedules_never_lengthen_a_step():
    steps = [report(schedule=schedule).seconds for schedule in paths.SCHEDULES]
    assert steps == sorted(steps, reverse=True)


def test_a_dot_on_a_line_uses_all_of_its_link():
    drawn = panel(widget, "Bytes and seconds")
    dots = {mark["name"]: (mark["x"][0], mark["y"][0]) for mark in drawn["data"] if mark["mode"] == "markers"}
    lines = {mark["name"]: mark["x"][1] / mark["y"][1] for mark in drawn["data"] if mark["mode"] == "lines"}
    for name, cards in ((WEIGHTS, 1), (EXPERIENCE, 1), (TRAINER, 8)):  # a ring passes eight GPUs for each card
        size, seconds = dots[name]
        assert size / seconds == pytest.approx(cards * lines["64 cards"])
    words = {mark["text"]: (10 ** mark["x"], 10 ** mark["y"]) for mark in drawn["layout"]["annotations"]}
    assert log10(words["weights"][0]) == pytest.approx(log10(dots[WEIGHTS][0]))


def test_one_sender_uses_the_bandwidth_of_one_network_card():
    path = report(schedule=FUNNEL).paths[WEIGHTS]
    assert path.bytes / path.seconds == pytest.approx(50e9)


def test_the_bars_show_the_shares_of_the_step():
    k = PRESETS["All logits, through the controller"]
    drawn = panel(widget, "What the step waits for", **vars(k))
    bars = {mark["name"]: mark["y"][0] for mark in drawn["data"]}
    # 2,041.09 of 3,711.85 s
    assert bars[EXPERIENCE] == pytest.approx(100 * 2041.0859 / 3711.8546, abs=1e-3)
    assert bars[TRAINER] == 0


def test_a_sequence_is_not_cut():
    """Completions of 65,536 after prompts of 1,024 go through whole, however few tokens are asked for at a time."""
    k = Knobs(micro_batch=1024, **widget.of_length(65536))
    assert widget.setting(k).micro_batch == 66_560
