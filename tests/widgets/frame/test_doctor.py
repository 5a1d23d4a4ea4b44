"""The doctor's half in Python: a conversation as the page leads it, and what it answers."""

import html
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from sim import companion, framework_logs, logs
from sim import doctor as sim_doctor
from sim.experiments import tracelab
from widgets.frame import doctor
from widgets.frame.values import knobs_from, plain
from widgets.trace_lab import widget as trace_lab


def says(what, data=""):
    (answer,) = doctor.stream(what, data)
    return json.loads(answer)


def brought(files, asked="{}", size=1000):
    says("begin", asked)
    for name, text in files.items():
        says("file", name)
        raw = text.encode()
        for at in range(0, len(raw), size):
            if refused := says("piece", raw[at : at + size]):
                return refused
    return says("end") or says("ask", asked)


@pytest.mark.parametrize("format", doctor.SAMPLES)
def test_each_sample_is_a_log_that_is_read_in_pieces_and_gets_its_answer(format):
    files = says("sample", format)["files"]
    asked = dict(k="16")
    answer = brought(files, json.dumps(asked))
    first = [number for number, row in sim_doctor.SPEC.items() if row[2] == doctor.SAMPLES[format]]
    unseen = doctor.SAMPLES[format] in ("healthy", "reward_hacking")  # no held-out score is named
    assert answer["first"] == (0 if unseen else first[0])
    assert len(answer["tests"]) == 7 and {"reward", "length"} <= answer["panels"].keys()
    assert re.search(r"<option>[^<]*held_out", answer["written"]["[name=held_out]"])


def test_the_samples_cover_every_log_format_and_all_kinds_of_run_but_one():
    assert list(doctor.SAMPLES) == list(framework_logs.FORMATS)
    assert set(tracelab.KINDS) - set(doctor.SAMPLES.values()) == {"entropy_collapse"}


def test_a_named_held_out_score_and_changed_thresholds_change_the_diagnosis():
    brought(says("sample", "TRL, trainer_state.json")["files"])
    named = says("ask", json.dumps(dict(held_out=doctor.HELD_OUT)))
    assert named["first"] == 4 and named["tests"][3][0] == "fired"
    assert "−0." in named["tests"][3][1] and "fires below −0.1" in named["tests"][3][1]
    assert f"<option selected>{doctor.HELD_OUT}</option>" in named["written"]["[name=held_out]"]
    higher = says("ask", json.dumps(dict(held_out=doctor.HELD_OUT, held_out_drop="0.9", rise="")))
    assert higher["first"] == 7


def test_a_threshold_field_without_a_number_keeps_the_default():
    brought(says("sample", "TRL, trainer_state.json")["files"])
    usual = says("ask", "{}")["tests"]
    for value in ("", "abc", "nan", "inf", "1e999", "-1e999"):
        assert says("ask", json.dumps(dict(k=value, updates=value, length=value, gap_first=value)))["tests"] == usual
    assert says("ask", json.dumps(dict(length="-1")))["tests"][5][0] == "fired"


def test_numbers_of_any_size_are_drawn():
    rows = [{"step": n, "reward": (-1) ** n * 1e99, "reward_std": 1e-99, "grad_norm": 1e308} for n in range(1, 41)]
    answer = brought({"x": json.dumps(rows)})
    assert (
        np.isfinite(answer["panels"]["reward"]["layout"]["yaxis"]["range"]).all()
        and "grad_norm" not in answer["panels"]
    )


def test_the_recorded_log_is_the_one_that_the_page_shows():
    assert brought(says("sample", "")["files"], json.dumps(dict(held_out=doctor.HELD_OUT))) == plain(
        doctor.pair()[2][1]
    )


def test_a_log_column_can_be_named_by_hand():
    text = "step,score,spread\n" + "".join(f"{n},{n / 40},0.5\n" for n in range(1, 41))
    refused = brought({"log.csv": text})
    offered = '<option value="">not in the log</option><option>score</option><option>spread</option>'
    assert "None of its 2 columns" in refused["refused"] and refused["written"]["[name=map_reward]"] == offered
    answer = says("ask", json.dumps(dict(map_reward="score", map_reward_sd="spread")))
    assert "<td>reward</td><td>score</td>" in answer["written"][".read tbody"]
    assert html.unescape(answer["written"][".whose"]).endswith("the names are no framework's.")


def test_column_names_of_a_log_are_shown_as_text_and_never_as_markup():
    name = "<img src=x onerror=alert(1)>&\"'"
    text = json.dumps([{"step": n, "reward": n, "reward_std": 1, name: n} for n in range(1, 41)])
    written = "".join(brought({name: text}, json.dumps(dict(held_out=name)))["written"].values())
    assert "<img" not in written and html.escape(name) in written


def test_an_unreadable_log_gives_one_sentence_and_the_next_log_is_still_read():
    assert "No row of a log" in brought({"x": "dear <b>diary</b>"})["refused"]
    assert "empty" in brought({"x": ""})["refused"]
    assert "compressed" in brought({"x.zip": "PK\x03\x04"})["refused"]
    assert "No file was given." in brought({})["refused"]
    assert brought(says("sample", "verl, JSONL")["files"])["tests"]


def test_long_curves_keep_their_lowest_and_highest():
    steps, values = np.arange(100_000.0), np.sin(np.arange(100_000.0))
    values[77_777], values[33_333] = 9, -9
    at, shown = doctor.thinned(steps, values)
    assert len(at) <= doctor.POINTS and shown.max() == 9 and shown.min() == -9
    assert np.all(np.diff(at) > 0)


def test_the_rows_that_a_test_looked_at_are_marked():
    answer = brought(says("sample", "verl, charts of Weights & Biases")["files"])
    entropy = answer["panels"]["entropy"]
    assert [shape["x0"] for shape in entropy["layout"]["shapes"]] == [1, 71]  # tests 5 and 7
    gap = brought(says("sample", "OpenRLHF, console")["files"])["panels"]["gap"]
    assert [mark["meta"]["role"] for mark in gap["data"]] == ["", "here"]


def test_the_pair_of_the_lesson_is_what_its_opening_shows():
    settings = [trace_lab.setting(k) for k in (trace_lab.OPENING.plain, trace_lab.OPENING.other)]
    assert [setting.hack for setting in settings] == [0, 1.01]
    said = [answer["said"] for _, answer in doctor.pair()]
    assert (
        said[0]
        == said[1]
        == ("Nothing that this log can show; 6 of 7 tests ran. A training log cannot show that nothing is wrong.")
    )
    assert said[2].startswith("Test 4 fired first.")


@pytest.mark.when_changed()
def test_suggested_similar_settings_belong_to_the_widget_and_break_it():
    for _, _, kind, _ in sim_doctor.SPEC.values():
        form = dict(part.split("=") for part in doctor.setting(kind).split("&"))
        knobs = knobs_from(trace_lab.Knobs, form)
        assert trace_lab.setting(knobs) == tracelab.Setting(**tracelab.KINDS[kind])
        result = next(trace_lab.run(knobs))
        assert kind in (result.seen.verdict, "logprob_mismatch", "stale_rollouts")


@pytest.mark.when_changed()
def test_no_diagnosis_calls_a_run_healthy():
    for format in doctor.SAMPLES:
        answer = brought(says("sample", format)["files"])
        assert not re.search(r"\b(healthy|fine|good|okay|normal)\b", json.dumps(answer), re.I)


@pytest.mark.when_changed()
def test_the_log_doctor_is_warmed_up_before_a_snapshot_is_made():
    doctor.warmed()
    with pytest.raises(logs.Unreadable):
        doctor.SESSION.end()


def test_the_log_of_a_run_of_the_book_is_read_and_late_weights_are_found_in_it():
    def first(lag):
        unset = dict(beta=None, passes=None, optimizer=None, learning_rate=None)
        standard = dict(algorithm="grpo", updates=30, seed=0, K=8, micro_batches=1, eval_every=10)
        run = companion.Session(SimpleNamespace(**standard, **unset, policy="window", lag=lag), "add")
        for _ in run.events():
            pass
        answer = brought({"log.jsonl": run.lines().decode()}, json.dumps(dict(held_out="eval_rewards/score/mean")))
        assert answer["panels"].keys() == set(doctor.SHOWN)
        return answer["tests"][1][0]

    assert first(lag=0) == "quiet" and first(lag=16) == "fired"
