"""The stages as the page shows them: what breaks a path and why, what leads back, and what streams."""

from dataclasses import replace

import pytest

from sim.pipeline import stages
from sim.worlds.tasks import TRAIN
from tests.widgets.catalogue import fixed, last
from widgets.pipeline import widget as pipeline
from widgets.pipeline.widget import PATHS, Knobs, first


def result(k):
    return last(pipeline, **k.__dict__)


def end(k):
    return first(result(k).reports[-1])


def test_right_answers_rise_along_the_textbook_path():
    rates = [first(outcome) for outcome in result(Knobs()).reports]
    assert rates == sorted(rates) and rates[0] == 0 and rates[-1] > 0.5


@pytest.mark.when_changed()
def test_the_separate_sft_buys_nothing():
    """Over eight seeds +.005 ± .016; here within what two evaluations of 100 prompts differ by."""
    assert end(Knobs(order="CoT RL")) == pytest.approx(end(Knobs(order="SFT CoT RL")), abs=0.1)
    skills = [outcome.skill for outcome in result(Knobs()).reports]
    assert skills[1] < 0.1 < 0.8 < skills[0]


def test_rl_alone_ends_about_as_high_where_one_document_in_a_hundred_answers():
    alone = end(Knobs(order="RL", rare=0.01))
    assert alone == pytest.approx(end(Knobs()), abs=0.15)
    assert pipeline.GUESS.answers[pipeline.GUESS.right] == "about as high"
    assert pipeline.GUESS.knobs == Knobs(order="RL", rare=0.01)


@pytest.mark.when_changed()
def test_more_of_the_same_thoughts_leaves_the_score_and_takes_the_tries():
    few, many = result(Knobs(thoughts="200 × 400")).reports, result(Knobs(thoughts="200 × 6400")).reports
    assert first(many[2]) == pytest.approx(first(few[2]), abs=0.05)
    assert many[2].pass_at[64][0] < few[2].pass_at[64][0] - 0.1
    assert first(many[-1]) < first(few[-1]) - 0.1


@pytest.mark.when_changed()
def test_a_length_penalty_costs_no_score_once_thinking_pays_off():
    assert pipeline.broken(Knobs(L_cache=2), result(Knobs(L_cache=2))) is None
    assert result(Knobs(L_cache=4)).reports[-1].thinks < 0.3


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "k",
    [
        Knobs(order="SFT RL"),
        Knobs(order="CoT SFT RL"),
        Knobs(order="RL", rl_steps=25, L_cache=4),
        Knobs(order="SFT RL", stages=2),
        Knobs(thoughts="200 × 6400", L_cache=5),
        Knobs(order="CoT RL", prompts=8),
        Knobs(order="DPO of borrowed pairs RL", rl_steps=25),
    ],
)
def test_the_suggested_fix_mends_what_no_preset_breaks_by(k):
    mended = fixed("pipeline", k, pipeline.broken(k, result(k)).fix)
    assert pipeline.broken(mended, result(mended)) is None


def test_each_path_runs_its_stages_in_order_and_computes_stages_that_are_not_shipped():
    for name, order in PATHS.items():
        k = Knobs(order=name, rl_steps=25)
        begun = next(pipeline.run(k))
        assert begun.names == ("base", *order) and begun.done == 0 and not begun.ended
    assert next(pipeline.run(Knobs())).updates == 100
    assert next(pipeline.run(replace(Knobs(), seed=1))).updates == 200 + 400 + 100 + 100
    assert next(pipeline.run(Knobs(order="CoT RL"))).updates == 500


@pytest.mark.when_changed()
def test_every_update_of_rl_is_a_frame():
    k = Knobs(rl_steps=25)
    *frames, last = pipeline.run(k)
    assert [len(r.accuracy) for r in frames if r.stage and not r.ended][:3] == [1, 2, 3]
    assert len(last.accuracy) == 25 == last.done == last.updates
    assert last.ended and isinstance(last.stage, stages.Stage)


@pytest.mark.when_changed()
def test_a_small_set_of_prompts_is_memorized():
    k = Knobs(prompts=8)
    assert pipeline.broken(k, result(k)).cause == pipeline.SOME and len(TRAIN) == 8_000


@pytest.mark.when_changed()
@pytest.mark.parametrize("stages_run", [1, 2, 3])
def test_a_path_can_be_run_stage_by_stage_and_is_judged_at_its_end_alone(stages_run):
    k = Knobs(stages=stages_run)
    part, all_of_it = result(k), result(Knobs())
    assert part.names == all_of_it.names[: stages_run + 1] and part.ended
    assert end(k) == pytest.approx(first(all_of_it.reports[stages_run]), abs=0.02)  # stored ones are in 32 bits
    assert pipeline.broken(k, part) is None is pipeline.worse(k, part)
    assert pipeline.holds(k, part).endswith(f"{('CoT', 'DPO', 'RL')[stages_run - 1]} comes next.")


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    ("k", "title", "curves"),
    [
        (Knobs(stages=1), "SFT, update by update", 1),
        (Knobs(stages=3), "DPO, update by update", 2),
        (Knobs(order="SFT CoT RFT RL", stages=3), "RFT, update by update", 1),
        (Knobs(), "RL, update by update", 2),
    ],
)
def test_each_stage_has_its_own_figure(k, title, curves):
    (panel,) = (panel for panel in pipeline.figure(k, result(k)) if "update by update" in panel["title"])
    lines = [mark for mark in panel["data"] if mark["mode"] == "lines"]
    assert panel["title"] == title and len(lines) == curves and all(len(mark["x"]) > 5 for mark in lines)


def test_completions_are_shown_before_and_after_the_last_stage():
    after = result(Knobs()).reports
    panel = pipeline.completions(result(Knobs()))
    words = [note["text"] for note in panel["layout"]["annotations"]]
    assert panel["title"] == "Completions of 7 8 3 5"
    written = [outcome.written[: pipeline.ROWS] for outcome in after[-2:]]
    expected = [f"{n}: {pipeline.VERDICTS[mode]}" for n, rows in zip(("DPO", "RL"), written) for _, mode in rows]
    assert [word for word in words if ":" in word] == expected and len(expected) == 6
    first_only = pipeline.completions(replace(result(Knobs()), reports=after[:1]))
    assert sum(note["text"].startswith("base: ") for note in first_only["layout"]["annotations"]) == 3


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    ("k", "sentence"),
    [
        (Knobs(order="DPO of borrowed pairs RL", stages=1), "After DPO, pass@1 is still 0.00"),
        (Knobs(order="CoT SFT RL", stages=2), "SFT took correct answers away"),
    ],
)
def test_a_cut_path_that_is_dead_or_set_back_is_not_said_to_hold(k, sentence):
    assert pipeline.worse(k, result(k)).startswith(sentence)


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "k, cause",
    [
        (Knobs(L_cache=5), pipeline.TAXED),
        (Knobs(order="DPO of borrowed pairs RL", seed=3), pipeline.BORROWED),
        # two that are not as in the textbook: undoing one of them does not say which it was
        (Knobs(order="RL", L_cache=5), pipeline.MIXED),
        (Knobs(order="SFT RL", rare=0.03, L_cache=5), pipeline.MIXED),
        (Knobs(order="DPO of borrowed pairs RL", rare=0.003, rl_steps=25), pipeline.MIXED),
    ],
)
def test_a_break_is_told_by_what_happened_where_one_knob_is_turned(k, cause):
    assert pipeline.broken(k, result(k)).cause == cause


def test_a_slip_rate_is_stated_only_where_a_score_shows_it():
    def slips(k):
        return {r.label: r.value for r in pipeline.readouts(k, result(k))}["Slip rate per step"]

    assert 0.05 < slips(Knobs()) < 0.2 and slips(Knobs(order="RL")) == "–"
    assert slips(Knobs(thoughts="200 × 6400")) == "–"  # as often right as a guess


def test_rare_rates_are_shown_with_three_decimals():
    k = Knobs(order="RL", rare=0.01)
    assert "0.005 at the base" in pipeline.holds(k, result(k))
