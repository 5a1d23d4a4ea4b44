"""What a page says is so at every setting: sentences carry their claims, settings are drawn, and the claims asked; and
it is written as numbers and nouns are.
"""

import ast
from collections import deque
from datetime import date
from itertools import islice
from pathlib import Path

import pytest

from tests import skip_unchanged
from tests.widgets.catalogue import NAMES, results, where_changed
from tests.widgets.claims import IN_PICTURES, badly_written, drawn, faults, faults_beside, turned, words_in
from tests.widgets.grid import near_and_far
from widgets.frame.contract.readouts import Break
from widgets.frame.contract.sentences import Said, end, false_claims
from widgets.frame.contract.widget import extras
from widgets.frame.drawing.small_figures import Played
from widgets.frame.reader import host

OPENINGS = [name for name in NAMES if extras(host.widget(name)).OPENING]
TRAINED = {name for name in NAMES if extras(host.widget(name)).progress}
# settings of a closed form that are drawn at night: fewer where one takes long. Together more than 100,000
AT_NIGHT = dict.fromkeys(("throughput", "paths"), 20_000)
AT_NIGHT |= dict.fromkeys(("memory", "long_tail", "kernels"), 12_000)
AT_NIGHT |= dict.fromkeys(("gaps", "bottlenecks", "kl_estimators"), 8_000)
AT_NIGHT |= dict.fromkeys(("forces", "plan", "rlhf", "kv_cache"), 3_000)
AT_NIGHT |= dict.fromkeys(("asynchrony", "curation", "dpo", "search", "topology", "trace_lab", "verifiers"), 500)
TRAININGS = 12  # that are drawn at night, of each
ON_A_PUSH = 40


def each(names):
    """Marks each widget: all at night, on a push those it changed."""
    marked = [pytest.param(name, marks=where_changed(name, family="said"), id=name) for name in names]
    return pytest.mark.parametrize("name", marked)


def so(claims):
    __tracebackhide__ = True
    more = f"\n… and {len(claims) - 10} more" if len(claims) > 10 else ""
    assert not claims, "\n".join(claims[:10]) + more + '\n(CONTRIBUTING.md, "A widget")'


@each([name for name in NAMES if name not in TRAINED])
def test_what_a_closed_form_says_is_so_wherever_its_knobs_stand(name):
    night = skip_unchanged.nightly()
    so(drawn(name, AT_NIGHT.get(name, 1_000) if night else ON_A_PUSH, date.today() if night else "push"))


@each(NAMES)
def test_what_is_said_of_a_preset_is_so(name):
    so([fault for k in host.widget(name).PRESETS.values() for fault in faults(name, k, results.last(name, k))])


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in NAMES if name in TRAINED])
def test_what_a_training_says_is_so_wherever_its_knobs_stand(name):
    so(drawn(name, TRAININGS, date.today()))


@each([name for name in NAMES if name in TRAINED])
def test_what_a_training_shows_as_it_begins_is_well_written(name):
    """Of settings drawn, some with their numbers at 1: the second picture, which costs no training."""
    w = host.widget(name)
    early = ((k, deque(islice(w.run(k), 2), maxlen=1)[0]) for k in near_and_far(name, 9, "early"))
    so([f"{name} {turned(k)}: {fault}" for k, r in early for fault in faults_beside(w, k, r)])


@pytest.mark.slow
def test_small_figures_and_openings_are_written_as_numbers_are_in_every_position():
    so(
        [
            f"{module}.{name}: {fault}"
            for module in results.DRAWN
            for name in results.figures(module)
            for fault in badly_written(shown_by(module, name), IN_PICTURES)
        ]
        + [f"{name}: {fault}" for name in OPENINGS for fault in badly_written(opened(name), IN_PICTURES)]
    )


def shown_by(module, name):
    """The texts in all positions of a figure."""
    return {
        str(text)
        for panels, sentence, _ in results.positions(module, name)
        for text in words_in([panels, sentence or ""])
    }


def opened(name):
    """The texts of an opening that is two pictures."""
    opening = host.widget(name).OPENING
    ends = [results.last(name, knobs) for knobs in (opening.plain, opening.other)]
    return [] if isinstance(opening, Played) else words_in(list(opening.panels(*ends)))


@pytest.mark.parametrize("name", NAMES)
def test_no_verdict_is_a_plain_string(name):
    for line in plain_verdicts(Path(host.widget(name).__file__).read_text(encoding="utf-8")):
        pytest.fail(f"widgets/{name}/widget.py:{line}: a verdict is a Said with its claims", pytrace=False)


def test_a_night_draws_a_hundred_thousand_settings():
    assert sum(AT_NIGHT.values()) >= 100_000 and not set(AT_NIGHT) & TRAINED


def plain_verdicts(source):
    """The lines of `broken`, `worse` and `holds` that return a plain string or a Break with one: it has no claims."""
    functions = [f for f in ast.walk(ast.parse(source)) if isinstance(f, ast.FunctionDef)]
    nodes = [n for f in functions if f.name in ("broken", "worse", "holds") for n in ast.walk(f)]
    returned = [n.value for n in nodes if isinstance(n, ast.Return)]
    whys = [n.args[0] for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == "Break" and n.args]
    return sorted(value.lineno for value in returned + whys if is_text(value))


def is_text(node):
    plain = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return plain or isinstance(node, ast.JoinedStr | ast.BinOp)


# --- the sentences themselves, and that what is wrong with them is noticed


def test_a_sentence_is_its_text_and_names_the_claims_that_are_not_so():
    sentence = Said("Rain, because of clouds.", {"it rains": lambda: True, "there are clouds": lambda: False})
    assert sentence == "Rain, because of clouds." and false_claims(sentence) == ["there are clouds"]


def test_a_plain_string_asserts_nothing_that_can_be_asked():
    assert false_claims("It holds.") == []


def test_what_would_be_at_other_knobs_is_the_last_result_and_computed_once():
    runs = []

    def run(k):
        runs.append(k)
        yield from (k, 2 * k)

    assert [end(run, 3), end(run, 3)] == [6, 6] and runs == [3]


@pytest.mark.parametrize(
    "verdict, fault",
    [
        ("It holds.", "claims nothing"),
        (Said("It holds.", {}), "claims nothing"),
        (Said("It holds.", {"it holds": lambda: False}), "not so: it holds"),
        (Said("It holds" + " well and" * 20 + ".", {"it holds": lambda: True}), "189 characters"),
        *(
            (Said(text, {"it holds": lambda: True}), fault)
            for text, fault in {
                "It takes 2.3e+02 s.": "a power of ten as code",
                "It gains −0.00 s.": "a zero with a sign",
                "It takes 1 samples.": "one of them in the plural",
                "A policy 1 nats from the start.": "one of them in the plural",
                "It keeps 1 different completions.": "one of them in the plural",
                "Of 16 holes 1 are open.": "one with the verb of several",
                "1 of 16 runs have ended.": "one with the verb of several",
                "It takes 704 % of the peak.": "a share beyond 100",
                "It wins 101 of 100.": "a share beyond 100",
                "It takes 12345 s.": "thousands that are not grouped",
                "It takes nan s.": "no value",
                "It takes the the time.": "a word twice",
            }.items()
        ),
    ],
)
def test_a_verdict_that_is_false_or_claims_nothing_is_a_fault(monkeypatch, verdict, fault):
    w = host.widget("paths")
    monkeypatch.setattr(w, "broken", lambda k, r: None)
    monkeypatch.setattr(w, "holds", lambda k, r: verdict)
    monkeypatch.setattr(w, "worse", lambda k, r: None, raising=False)
    (complaint,) = faults("paths", w.Knobs(), end(w.run, w.Knobs()))
    assert complaint.startswith("paths") and fault in complaint


@pytest.mark.parametrize(
    "text",
    [
        "At 1 s it is 1 nat away, 1 hole is open, and 1 of 16 runs ends.",
        "In update 1 the rows are right, run 1 ends, k1 pulls; 1 times as likely, 0–1 runs and 2.1 runs are.",
        "All 100 % of it, 100 of 100, 87.5 % and −132 %.",
    ],
)
def test_what_is_well_written_is_no_fault(text):
    assert badly_written([text]) == []


def test_a_way_back_that_does_not_mend_is_a_fault(monkeypatch):
    w = host.widget("paths")
    knob = next(f for f in w.Knobs.__dataclass_fields__.values() if f.metadata["kind"] == "ladder")
    why = Said("It breaks.", {"it breaks": lambda: True})
    monkeypatch.setattr(w, "broken", lambda k, r: Break(why, {knob.name: knob.metadata["rungs"][0]}, "a cause"))
    (fault,) = faults("paths", w.Knobs(), end(w.run, w.Knobs()))
    assert "does not mend" in fault


def test_a_plain_string_is_found_in_the_source():
    source = """
def holds(k, r):
    if k:
        return "It holds."
    return f"It holds, {k}."

def broken(k, r):
    return Break("It breaks.", None, "a cause") if r else None
"""
    assert plain_verdicts(source) == [4, 5, 8]
