"""What is found in completions, among the events of a log."""

from importlib.resources import files

from rlpt import doctor, logs, rollouts
from rlpt.doctor import completions, words
from rlpt.doctor.files import Brought
from sim.rollouts import report
from tests.rlpt.doctor import real_logs


def kept(name):
    text = (files("rlpt.rollouts") / "data" / f"{name}.jsonl").read_bytes()
    read = rollouts.read([(f"{name}.jsonl", [text])])
    return read, report.report(read.rollouts)


def added(name, log=None):
    log = log or real_logs.read(real_logs.text("hack-plus"))
    return doctor.report(log), completions.added(doctor.report(log), Brought(log, *kept(name)))


def test_a_finding_is_an_event_of_the_step_at_which_it_begins():
    _, found = added("verifier")
    of_completions = {event.kind: event for event in found.events if not event.quantity}
    # as it is known of the run: the README of the shipped runs names what fires, and says that from step 8 on most of
    # what is paid lists guesses
    assert set(of_completions) == {
        *("paid, not correct", "reward up, score down", "a phrase pays, the score does not", "new habit", "cut off")
    }
    assert of_completions["paid, not correct"].step == 8
    (line,) = [line for line in words.lines(found) if "paid, not correct" in line]
    assert line.startswith("      step 8  paid, not correct: 40 of the ") and line.endswith(" (read the rollouts)")


def test_completions_change_no_sign_and_no_fact():
    for name in ("verifier", "length", "cut-off"):
        alone, found = added(name)
        assert (found.signs, found.facts, found.status) == (alone.signs, alone.facts, alone.status)
        assert [event for event in found.events if event.quantity] == list(alone.events)
        steps = [event.step for event in found.events]
        assert steps == sorted(steps) and len(steps) > len(alone.events)


def test_completions_in_which_nothing_was_found_are_mentioned():
    alone, found = added("sound")  # nothing was wrong with this run: 5 steps of 64 completions
    assert found.events == alone.events
    said = "TRL's completions were read, too: 320 completions of 5 steps, in which nothing was found."
    assert said in list(words.lines(found)) and said in words.as_dict(found)["notes"]


def test_a_log_that_names_no_steps_has_no_place_for_what_was_found():
    text = "".join(f"{{'loss': 0.1, 'reward': {n / 40}, 'reward_std': 0.5}}\n" for n in range(40))
    log = logs.read([("printed.txt", [text.encode()])])
    alone, found = added("verifier", log)
    assert found.events == alone.events and "The log names no steps" in found.beside[0]


def test_why_completions_could_not_be_read_is_said():
    log = real_logs.read(real_logs.text("hack-plus"))
    found = completions.added(doctor.report(log), Brought(log, fault="A parquet file needs pyarrow."))
    assert found.beside == ("The completions could not be read: A parquet file needs pyarrow.",)


def test_a_log_without_a_sign_does_not_hide_what_its_completions_show():
    _, found = added("cut-off", real_logs.read(real_logs.text("healthy-defaults")))
    assert words.headline(found) == "Nothing was found in the log."
    assert words.lead(found).startswith("The completions show more: never paid; ")
    _, quiet = added("sound", real_logs.read(real_logs.text("healthy-defaults")))
    assert words.headline(quiet) == "Nothing was found."
