import re
from urllib.parse import parse_qsl

import pytest

from sim.cluster.hardware import ACCELERATORS
from sim.synthesis import gaps
from tests.lessons.prose import Lesson
from widgets.frame.values import knobs_from
from widgets.gaps import widget

LESSON = Lesson("27")


def link(words):
    (query,) = re.findall(rf"\[{re.escape(words)}\]\(#gaps\)\{{ data-knobs=\"([^\"]+)\" \}}", LESSON.text)
    k = knobs_from(widget.Knobs, dict(parse_qsl(query)))
    return k, next(widget.run(k))


def value(job, gap_id):
    return gaps.value_of(job)[gaps.IDS.index(gap_id)]


def test_the_smallest_case():
    LESSON.says("30", gaps.minutes_of(["10a"]))
    LESSON.says("20", gaps.minutes_of(["20a"]))
    assert value("kernels and serving", "20a") == 3 and value("kernels and serving", "10a") == 0


def test_bundles_and_sets():
    LESSON.says("35", gaps.minutes_of(["22e"]))
    LESSON.says("85", gaps.minutes_of(gaps.needed("22e")))
    assert gaps.needed("22e") == ("03a", "19a", "22e")
    LESSON.says("131,072", 2 ** len(gaps.GAPS))
    LESSON.says("20,736", len(gaps.closed_sets()[0]))


def test_the_famous_one_first():
    k, r = link("the second plan")
    assert widget.broken(k, r).cause == "minutes spent on nothing" and k == widget.OPENING.other
    _, r = link("two hours")
    assert (r.plan.value, r.best.value) == (9, 11)
    assert "10a" in link("agents")[1].plan.ids
    assert "10a" not in gaps.plan(gaps.value_of("agents"), 50).ids
    assert (
        "10a" in gaps.plan(gaps.value_of("research"), 75).ids
        and "10a" not in gaps.plan(gaps.value_of("research"), 70).ids
    )


def test_a_quarter_of_an_hour():
    k, r = link("nothing useful")
    assert widget.broken(k, r).cause == "no useful lesson fits" and min(gaps.MINUTES) == 20


def test_what_you_know():
    _, r = link("you know the KL estimators")
    values = gaps.value_of("research")
    assert (gaps.plan(values, 90).value, r.plan.value) == (10, 9)


def test_rewards_in_pairs():
    k, r = link("work on rewards")
    assert {"15a", "15b"} <= set(r.plan.ids) and value(k.work, "15b") == 3
    ids = gaps.needed("15b")
    worth = sum(value("rewards and data", i) for i in ids)
    LESSON.says("55", gaps.minutes_of(ids))
    LESSON.says("0.109", worth / gaps.minutes_of(ids))
    k, r = link("that you know 15a")
    assert r.plan.value == 3


def test_first_picks_by_value_a_minute():
    first = {job: gaps.greedy(gaps.value_of(job), 30).ids[0] for job in gaps.JOBS}
    assert first["research"] == "03a" and first["rewards and data"] == "14a"
    assert first["kernels and serving"] == "20a" and first["agents"] == "18b"


def test_doubling_cost_leaves_the_kernels_plan():
    _, doubled = link("kernels and serving")
    plain = gaps.plan(gaps.value_of("kernels and serving"), 120)
    assert len(set(doubled.plan.ids) ^ set(plain.ids)) <= 2


def test_a_link_and_a_memory():
    LESSON.says("64", ACCELERATORS["h100"].host_gb_per_second)
    LESSON.says("3,350", 1000 * ACCELERATORS["h100"].hbm_tb_per_second)
    assert pytest.approx(52, abs=1) == 3350 / 64
