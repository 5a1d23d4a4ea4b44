"""The doctor's half in Python: a conversation as the page leads it, and what it answers."""

import html
import json
import re
from importlib.resources import files

import pytest

from rlpt import companion, framework_logs, logs
from rlpt import run as command
from rlpt.doctor.words import SIGNS
from sim.experiments import tracelab
from tests.rlpt.doctor import real_logs
from widgets.frame.drawing.written import plain
from widgets.frame.reader import doctor

UNSCORED = json.dumps(dict(held_out=doctor.NONE))


def says(step, data=""):
    (answer,) = doctor.stream(step, data)
    return json.loads(answer)


def brought(texts, form="{}", size=1000):
    says("begin", form)
    for name, text in texts.items():
        says("file", name)
        raw = text.encode()
        for at in range(0, len(raw), size):
            if refused := says("piece", raw[at : at + size]):
                return refused
    return says("end") or says("ask", form)


@pytest.mark.parametrize("name", doctor.SAMPLES)
def test_each_sample_is_a_real_log_that_is_read_in_pieces_and_gets_its_sign(name):
    answer = brought(says("sample", name)["files"])
    truth = real_logs.TRUTHS[doctor.SAMPLES[name]]
    assert answer["first"] in (truth.right or ("",))
    assert answer["found"] == bool(truth.right) and "<svg" in answer["written"][".chart"]


def test_samples_are_small_and_are_the_logs_that_the_tests_know():
    assert len(doctor.SAMPLES) == len(doctor.buttons()) == 4
    for name, text in doctor.TEXTS.items():
        assert text == real_logs.text(name) and len(text) <= 25_000


@pytest.mark.parametrize("format", framework_logs.FORMATS)
def test_every_format_of_a_log_is_read_in_pieces(format):
    run = tracelab.trace(tracelab.Setting(**tracelab.KINDS["stale_rollouts"]), seed=0)
    answer = brought(framework_logs.export(run, format), json.dumps(dict(k="16")))
    assert answer["first"] == "stale"


def test_the_page_opens_on_what_the_first_sample_says():
    opened = doctor.opening()
    assert opened["first"] == "hacked" and opened["said"] == "At step 24, the reward and another score part ways."
    assert "went from 0.25 to 0" in opened["written"][".lead"]
    assert "<code>max_steps=23</code>" in opened["written"][".change"]
    assert brought(says("sample", "")["files"]) == plain(opened)


def test_without_its_score_and_with_a_named_one_the_diagnosis_changes():
    brought(says("sample", "")["files"])
    assert says("ask", "{}")["first"] == "hacked"
    assert says("ask", UNSCORED)["first"] == "saturated" and "step 42" in says("ask", UNSCORED)["said"]
    assert "selected>none<" in says("ask", UNSCORED)["written"]["[name=held_out]"]
    named = says("ask", json.dumps(dict(held_out="rewards/exact/mean")))
    assert named["first"] == "hacked"
    assert "selected>rewards/exact/mean<" in named["written"]["[name=held_out]"]


def test_a_log_without_a_sign_has_nothing_to_change():
    written = brought(says("sample", "sums, 300 steps")["files"])["written"]
    assert written[".change"] == "" and "no proof" in written[".lead"] and "<svg" in written[".picture"]


def test_a_field_without_a_number_keeps_the_default():
    brought(says("sample", "")["files"])
    usual = says("ask", "{}")["written"][".facts"]
    for value in ("", "abc", "nan", "inf", "1e999", "-1e999"):
        assert says("ask", json.dumps(dict(k=value, updates=value)))["written"][".facts"] == usual


def test_numbers_of_any_size_are_drawn():
    rows = [{"step": n, "reward": (-1) ** n * 1e99, "reward_std": 1e-99, "grad_norm": 1e308} for n in range(1, 41)]
    chart = brought({"x": json.dumps(rows)})["written"][".chart"]
    assert "nan" not in chart and "inf" not in chart


def test_one_row_is_answered():
    answer = brought({"x": json.dumps([{"step": 7, "reward": 0.5}])})
    assert "The reward is 0.5 in the one batch." in answer["written"][".facts"]


def test_a_log_column_can_be_named_by_hand():
    text = "step,alpha,spread\n" + "".join(f"{n},{n / 40},0.5\n" for n in range(1, 41))
    refused = brought({"log.csv": text})
    offered = '<option value="" selected>not in the log</option>', '<option value="alpha">alpha</option>'
    assert "None of its 2 columns" in refused["refused"]
    assert refused["written"]["[name=map_reward]"].startswith("".join(offered))
    answer = says("ask", json.dumps(dict(map_reward="alpha", map_reward_sd="spread")))
    assert "<td>reward</td><td>alpha</td>" in answer["written"][".read tbody"]
    assert "column names of no known framework" in answer["written"][".whose"]


def test_column_names_of_a_log_are_shown_as_text_and_never_as_markup():
    name = "<img src=x onerror=alert(1)>&\"'"
    text = json.dumps([{"step": n, "reward": n, "reward_std": 1, name: n / 40} for n in range(1, 41)])
    written = "".join(brought({name: text}, json.dumps(dict(held_out=name)))["written"].values())
    assert "<img" not in written and html.escape(name) in written


def test_an_unreadable_log_gives_one_sentence_and_the_next_log_is_still_read():
    assert "No row of a log" in brought({"x": "dear <b>diary</b>"})["refused"]
    assert "empty" in brought({"x": ""})["refused"]
    assert "compressed" in brought({"x.zip": "PK\x03\x04"})["refused"]
    assert "No file was given." in brought({})["refused"]
    assert brought(says("sample", "")["files"])["said"]


KEPT = (files("rlpt.rollouts") / "data" / "verifier.jsonl").read_text(encoding="utf-8")


def test_completions_beside_a_log_are_events_and_change_no_sign():
    (log,) = says("sample", "")["files"].items()
    alone, both = brought(dict([log])), brought({"all.jsonl": KEPT, log[0]: log[1]}, size=1 << 16)
    assert (both["said"], both["first"]) == (alone["said"], alone["first"])
    written, before = both["written"], alone["written"]
    same = (".lead", ".change", ".facts", ".later", "[name=held_out]")
    assert [written[place] for place in same] == [before[place] for place in same]
    events = re.findall(r"<li.*?</li>", written[".events"])
    assert sorted(keys(written[".events"])) == sorted(keys(written[".chart"]) - keys(written[".facts"]))
    (paid,) = [each for each in events if "paid, not correct" in each]
    assert '<a href="../rollouts/">read the rollouts</a>' in paid and ">step 8</button>" in paid
    assert sum("../rollouts/" in each for each in events) == len(events) - before[".events"].count("<li")
    assert "320 completions of 5 steps" in written[".whose"]
    assert 'class="mark first"' in before[".chart"]  # the event with which the verdict starts is the log's
    first = r'mark first" data-look="\w+"><title>(.*?)<'
    assert re.search(first, written[".chart"])[1] == re.search(first, before[".chart"])[1]


def test_completions_alone_are_sent_to_their_own_page():
    assert "*Read the rollouts*" in brought({"all.jsonl": KEPT}, size=1 << 16)["refused"]
    assert brought(says("sample", "")["files"])["said"]


def test_texts_of_completions_are_shown_as_text_and_never_as_markup():
    (log,) = says("sample", "")["files"].items()
    text = "<img src=x onerror=alert(1)>"
    rows = [
        dict(step=step, prompt=f"{n % 32}", completion=text if step > 2 else f"{step} {n}", right=n % 2, advantage=0.0)
        for step in range(1, 5)
        for n in range(64)
    ]
    kept = "".join(json.dumps(row) + "\n" for row in rows)
    written = "".join(brought(dict([log, ("1.jsonl", kept)]), size=1 << 16)["written"].values())
    assert "<img" not in written and html.escape(text) in written


def keys(text):
    return set(re.findall(r'data-look="(\w+)"', text))


def test_every_event_and_fact_has_its_rows_in_the_drawing():
    for name in doctor.SAMPLES:
        written = brought(says("sample", name)["files"])["written"]
        listed = keys(written[".facts"]) | keys(written[".events"])
        assert listed == keys("".join(re.findall(r'<rect class="rows"[^>]*>', written[".chart"])))
        assert keys(written[".events"]) == keys("".join(re.findall(r'<g class="mark[^>]*>', written[".chart"])))


@pytest.mark.when_changed()
def test_no_diagnosis_calls_a_run_healthy():
    for name in doctor.SAMPLES:
        answer = brought(says("sample", name)["files"])
        assert not re.search(r"\b(healthy|fine|good|okay|normal|solved)\b", json.dumps(answer), re.I)


@pytest.mark.when_changed()
def test_the_log_doctor_is_warmed_up_before_a_snapshot_is_made():
    doctor.warmed()
    with pytest.raises(logs.Unreadable):
        doctor.SESSION.end()


def test_the_log_of_a_run_of_the_book_is_read_and_late_weights_are_found_in_it():
    def first(lag):
        _, chosen = command.options(f"grpo --updates 30 --eval-every 10 --lag {lag}".split(), "rlpt.run")
        session = companion.Session(chosen, "add")
        for _ in session.events():
            pass
        return brought({"log.jsonl": session.lines().decode()})["first"]

    assert first(lag=0) in ("", "memorized") and first(lag=16) == "stale"
    assert {"stale", "memorized"} <= SIGNS.keys()
