"""A job goes from page to page: what is kept, what another page takes of it, what the bar says."""

import html
import json
import re
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

import pytest

from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from tests.rlpt.planning.test_user_inputs import QWEN3_14B
from widgets.frame.contract import machine_knobs, values
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.reader import host, job

CHIP = "80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s"


@dataclass(frozen=True)
class Knobs:
    model: str = choice("Model", "qwen2.5-7b", ["qwen2.5-7b", "qwen2.5-32b"])
    accelerator: str = choice("Accelerator", "h100", ["h100", "h200"])
    gpus: int = ladder("GPUs", 8, [1, 8, 64, 512])
    prompts: int = ladder("Prompts", 64, [64, 512])
    samples: int = ladder("Samples", 8, [8, 16])
    prompt: int = slider("Prompt", 512, low=128, high=4096, step=128)
    config: str = machine_knobs.config()
    chip: str = machine_knobs.chip()
    sigma: float = slider("Spread", 0.8, low=0, high=1, step=0.1)  # no part of a job


@dataclass(frozen=True)
class Few:
    model: str = choice("Model", "qwen2.5-7b", list(MODELS))
    gpus: int = ladder("GPUs", 8, [1, 8])
    sigma: float = slider("Spread", 0.8, low=0, high=1, step=0.1)


def words(bar):
    return html.unescape(re.search("<span>(.*?)</span>", bar)[1])


def buttons(bar):
    """{label: its value or the knobs that it turns}."""
    pairs = re.findall(r'<button type="button" (?:class="mine" value|data-knobs)="(.*?)">(.*?)</button>', bar)
    return {label: html.unescape(value) for value, label in pairs}


def keeps(bar, label="Keep as my job"):
    return json.loads(buttons(bar)[label])


def test_a_page_with_three_shared_knobs_has_the_job_bar():
    assert job.shared(Few) == []
    assert job.shared(Knobs) == ["model", "accelerator", "gpus", "prompts", "samples", "prompt", "config", "chip"]


def test_no_job_is_kept_until_the_reader_asks_for_it():
    bar = job.bar(Knobs(), {})
    assert buttons(bar).keys() == {"Keep as my job"}
    assert keeps(bar)["knobs"] == dict(
        model="qwen2.5-7b", accelerator="h100", gpus="8", prompts="64", samples="8", prompt="512"
    )


def test_the_saved_job_is_in_force_and_described_in_the_bar():
    k = Knobs(model="qwen2.5-32b", gpus=64, prompts=512, samples=16)
    stored = keeps(job.bar(k, {})) | {"from": "22-memory"}
    bar = job.bar(k, stored)
    assert words(bar) == (
        "Your job: Qwen2.5-32B · H100 (SXM) · 64 GPUs · 512 × 16 completions · prompts of 512 tokens, from lesson 22"
    )
    assert buttons(bar).keys() == {"Forget it"} and keeps(bar, "Forget it") == dict(knobs={})
    assert words(job.bar(replace(k, sigma=0.1), stored)) == words(bar)


def test_a_setting_other_than_the_saved_job_is_said_and_either_can_be_chosen():
    k = Knobs(gpus=64)
    stored = keeps(job.bar(k, {}))
    bar = job.bar(replace(k, gpus=8), stored)
    assert words(bar).startswith("Your job, not in force here: Qwen2.5-7B")
    assert list(buttons(bar)) == ["Use my job", "Keep as my job", "Forget it"]
    turned = dict(parse_qsl(buttons(bar)["Use my job"], keep_blank_values=True))
    assert values.knobs_from(Knobs, turned) == k
    assert keeps(bar)["knobs"]["gpus"] == "8"


def test_a_page_adds_its_knobs_to_the_saved_job():
    stored = dict(knobs=dict(p50="720", samples="16", model="qwen2.5-32b"))
    after = keeps(job.bar(Knobs(), stored))["knobs"]
    assert (after["p50"], after["samples"], after["model"]) == ("720", "8", "qwen2.5-7b")


def test_a_saved_number_moves_to_the_nearest_offered_value_and_the_bar_says_so():
    wanted = dict(model="qwen2.5-32b", accelerator="h20", gpus="100", prompts="1e9", prompt="700", samples="many")
    adapted = job.taken(Knobs, wanted)
    # an accelerator that is not on offer and a word for a number are left; 640 and 768 are on offer around 700
    assert adapted == dict(model="qwen2.5-32b", gpus="64", prompts="512", prompt="640")
    bar = job.bar(values.knobs_from(Knobs, adapted), dict(knobs=wanted))
    assert "Your job: " in bar and "nearest on offer here: GPUs 64, Prompts 512, Prompt" in bar
    assert job.taken(Knobs, dict(gpus="-3", prompt="1e308")) == dict(gpus="1", prompt="4096")
    assert job.taken(Knobs, dict(gpus="nan", prompt="inf")) == {}


def test_texts_that_were_brought_are_part_of_a_job():
    k = values.knobs_from(Knobs, dict(config=json.dumps(QWEN3_14B), chip=CHIP))
    stored = keeps(job.bar(k, {}))
    bar = job.bar(k, stored)
    assert words(bar).startswith("Your job: your model of 14.8 billion parameters · your chip · 8 GPUs")
    assert values.knobs_from(Knobs, job.taken(Knobs, job.kept(stored))) == k
    without = job.bar(Knobs(), stored)  # another setting
    assert "not in force" in words(without)
    assert keeps(without)["knobs"].keys() & {"config", "chip"} == set()
    back = job.bar(k, keeps(without))  # a job without texts is not in force where one stands
    assert "not in force" in words(back)
    assert dict(parse_qsl(buttons(back)["Use my job"], keep_blank_values=True))["config"] == ""


@pytest.mark.parametrize(
    "stored",
    [
        None,
        7,
        "text",
        [],
        {},
        {"knobs": 7},
        {"knobs": []},
        {"knobs": {"model": 7, "gpus": None, "chip": ["a"]}},
        {"knobs": {"__proto__": "1", "sigma": "0.5", "<b>": "1"}},
        {"knobs": {"gpus": ""}, "from": "<b>"},
    ],
)
def test_stored_data_that_is_no_job_is_ignored(stored):
    assert job.kept(stored) == {} and job.taken(Knobs, job.kept(stored)) == {}
    assert buttons(job.bar(Knobs(), stored)).keys() == {"Keep as my job"}


def test_markup_in_the_stored_job_is_never_run_or_shown():
    wild = '"><img src=x onerror=alert(1)>'
    stored = {"knobs": {name: wild for name in machine_knobs.JOB}, "from": wild}
    bar = job.bar(Knobs(), stored)
    assert "<img" not in bar and bar.count("<") == 2 * (1 + bar.count("<button"))
    assert job.taken(Knobs, job.kept(stored)) == {}
    assert "from" not in words(bar)


def test_the_page_hears_of_a_job_before_its_figure():
    form = dict(job={"knobs": dict(model="qwen2.5-32b", gpus="1000")}, opened=True)
    (turn,) = host.stream("throughput", json.dumps(form))
    assert dict(parse_qsl(json.loads(turn)["turn"])) == dict(model="qwen2.5-32b", gpus="1024")
    first, frame = host.stream("throughput", json.dumps(form | dict(opened=False)))
    assert json.loads(first).keys() == {"job"} and "panels" in json.loads(frame)
    _, nothing_kept = host.stream("throughput", json.dumps(dict(job={}, opened=True)))
    assert nothing_kept == next(host.stream("throughput"))  # the recorded frame says nothing of jobs


def test_a_page_without_the_job_bar_sends_no_job_message():
    frames = list(host.stream("rloo", json.dumps(dict(job={"knobs": dict(gpus="8")}, opened=True))))
    assert all("panels" in json.loads(frame) for frame in frames[:1])


@pytest.mark.parametrize("name", machine_knobs.JOB)
def test_every_part_of_a_job_is_a_word_or_a_number_of_the_pages(name):
    row = dict(model=MODELS["llama3.1-8b"].key, accelerator=ACCELERATORS["h200"].key, config=json.dumps(QWEN3_14B))
    row |= dict(chip=CHIP, log="720 2000 4600 8192", timed="64 sequences, 2048 tokens, 12 ms")
    quantiles = {q: "4096" for q in job.QUANTILES if name in job.QUANTILES}  # of lengths all four, or none
    words = job.words({**quantiles, name: row.get(name, "4096"), "gpus": "8"})
    assert words != "8 GPUs" or name in ("gpus", "timed")
