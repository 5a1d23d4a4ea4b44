import re
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from sim.cluster.memory import LEDGERS
from sim.synthesis import forces
from tests.lessons.prose import Lesson
from widgets.forces import widget
from widgets.frame import values

LESSON = Lesson("26")


def result(knobs):
    (r,) = widget.run(knobs)
    return r


def link(words):
    (query,) = re.findall(rf"\[{re.escape(words)}\]\(#forces\)\{{ data-knobs=\"([^\"]+)\" \}}", LESSON.text)
    return result(values.knobs_from(widget.Knobs, dict(parse_qsl(query))))


def test_wrong_labels():
    LESSON.says("0.44", forces.signal("reward model"))
    LESSON.says("5.2", 1 / forces.signal("reward model") ** 2)
    LESSON.says("2 %", 100 * forces.ASSUMED.verifier)


def test_siblings_and_a_critic():
    LESSON.says("0.178", forces.variance("group"))
    effort = lambda baseline, s: forces.effort("verifier", baseline, False, foreseen=s)
    assert effort("critic", 0.9) / effort("group", 0.9) == pytest.approx(3 / 8)
    LESSON.says("57 %", 100 * forces.crossing("verifier", False))
    LESSON.says("42 %", 100 * forces.crossing("reward model", True))
    assert effort("critic", 0) / effort("group", 0) == pytest.approx(2.06, abs=0.01)
    assert [forces.cost("verifier", b, False) for b in ("group", "critic")] == [8, 16]
    assert forces.cost("reward model", "group", True) == 14


def test_memory():
    LESSON.says("18", LEDGERS["2 + 4 + 12"].whole)
    LESSON.says("24", forces.memory("reward model", "group", True))
    plain, other = result(widget.OPENING.plain), link("with 22")
    LESSON.says("7.2", plain.best.compute)
    LESSON.says("35.2", other.best.compute)
    assert other.best.unanchored and not plain.best.unanchored
    assert widget.OPENING.other == replace(widget.Knobs(), room=22, pairs=0.36)
    LESSON.says("18.3", link("better pairs").best.compute)
    assert forces.name(link("better pairs").best) == "Tülu 3.1 (DPO, verifier)"


@pytest.mark.parametrize(
    "words, recipe",
    [
        ("nothing could be checked", "RLHF (InstructGPT)"),
        ("little memory", "DPO alone (Zephyr)"),
        ("mathematics and code", "R1-Zero, DAPO"),
        ("agents work step by step", "PPO, verifier (ORZ, VAPO)"),
        ("labels cost 5", "RLAIF (judge)"),
        ("InstructGPT", "RLHF (InstructGPT)"),
        ("Zephyr", "DPO alone (Zephyr)"),
        ("RLAIF", "RLAIF (judge)"),
        ("Tülu 3.1", "Tülu 3.1 (DPO, verifier)"),
        ("R1-Zero", "R1-Zero, DAPO"),
        ("R1, last stage", "R1’s last stage"),
        ("Open-Reasoner-Zero, VAPO", "PPO, verifier (ORZ, VAPO)"),
    ],
)
def test_every_link_leads_to_the_recipe_that_it_names(words, recipe):
    assert forces.name(link(words).best) == recipe


def test_dpo_takes_six_times_the_compute_of_a_reward_model_with_a_critic():
    assert link("little memory").best.compute / link("nothing could be checked").best.compute == pytest.approx(
        6, abs=0.3
    )


def test_a_hopeless_scorer_is_left_out():
    r = link("near chance")
    assert r.best.dropped == 0.5 and r.best.unchecked is None


def test_a_judge_at_a_price_of_five():
    # (12 + 2) and (12 + 4.94): a reward model's whole sample; labels alone 2 and 4.94
    price = forces.cost("judge", "group", True) * (0.44 / 0.4) ** 2 - 12
    assert 4.5 < price < 5 and price / forces.ASSUMED.labels == pytest.approx(2.5, abs=0.05)


def test_the_answers():
    more = link("Set it up")
    fewer = result(widget.Knobs(checkable=1.0, foreseen=0.0, room=24))
    assert 1 - more.best.compute / fewer.best.compute == pytest.approx(0.03, abs=0.005)
    LESSON.says("2.22", link("Turn it").best.compute)
    LESSON.says("1.54", fewer.best.compute)
