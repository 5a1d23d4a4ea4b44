"""The page and the terminal are two ways into one plan: the same numbers to the last digit."""

import json
import random
from dataclasses import asdict, fields, replace

import pytest

from rlpt import plan as terminal
from rlpt.planning import planner
from tests import skip_unchanged
from tests.rlpt.planning.test_user_inputs import QWEN3_14B
from tests.widgets.grid import any_of
from widgets.plan import widget as plan
from widgets.plan.widget import AUTO, Knobs

TIMED = "64 sequences, 4096 tokens, 12 ms"
LIKELY = (
    "step={}",
    "update={} rollout={}",
    "step={} gpus=16",
    "rollout={} overlap=sync",
    "log_probs={} weights={} tp=2",
    "update={} zero=1 train_tp=2 train_pp=2",
)


def drawn(n):
    """Settings of the page, more than half of which fit."""
    chance = random.Random(32)
    for _ in range(n):
        k = {f.name: any_of(f, chance) for f in fields(Knobs) if f.metadata["kind"] != "pasted"}
        k |= dict(p50=chance.randint(200, 3000), p90=chance.randint(3000, 9000), p99=chance.randint(9000, 40000))
        k |= dict(longest=chance.randint(1000, 30000), prompt=chance.randint(32, 2048), training_parallel=1)
        k |= dict(gpus=chance.randint(16, 600), prompts=chance.randint(64, 900), samples=chance.randint(4, 40))
        k |= dict(model=chance.choice(["qwen2.5-1.5b", "qwen2.5-7b", "qwen3-8b", "qwen3-30b-a3b", "qwen2.5-32b"]))
        k |= dict(tensor_parallel=chance.choice([AUTO, "1", "2", "4"]), recompute="full", util=0.9, overhead=1.5)
        k |= dict(data_parallel=chance.choice([1, 1, 2]), pipeline=chance.choice([1, 1, 1, 2]))
        k |= dict(zero=chance.choice(["1", "2", "3", "3"]), training_stages=chance.choice(["1", "1", "2", "4"]))
        k |= dict(training_tensor=chance.choice(["1", "1", "2", "4"]))
        if k["training_tensor"] + k["training_stages"] != "11":  # whole copies of the model, in one pool or in two
            k |= dict(gpus=32 * (k["gpus"] // 32 + 1), share=0.5)
        k |= dict(turns=chance.choice([1, 1, 2, 10]), returned=chance.randint(0, 1000))
        k |= dict(tool_seconds=chance.choice([0.0, 5.0, 60.0]), updates=chance.choice([1, 1, 2, 4]))
        k |= dict(bandwidth=0.75, flops=0.6, host=60.0)  # what the terminal does not ask for
        k |= dict(trained=chance.choice([plan.ALL_WEIGHTS, plan.ALL_WEIGHTS, plan.LORA, plan.QLORA]))
        if chance.random() < 0.3:
            k["timed"] = TIMED if chance.random() < 0.5 else f"{TIMED}, 2 GPUs"
        if chance.random() < 0.5:
            k["seconds"] = chance.choice(LIKELY).format(*(round(chance.uniform(20, 3000), 3) for _ in range(2)))
        if chance.random() < 0.3:
            k["log"] = f"{k['p50']} {k['p90']} {k['p99']} {k['longest']}"
        if chance.random() < 0.2:
            k["config"] = json.dumps(QWEN3_14B)
        yield Knobs(**k)


ALIKE = "gpus prompts samples prompt overlap share weights cache recompute steps zero workers price test_seconds turns"
ALIKE += " returned tool_seconds kept batches updates host_memory program on_host transfer currency"  # named the same
RENAMED = dict(utilization="util", dp="data_parallel", pp="pipeline", train_cp="training_parallel")
RENAMED |= dict(adam_bits="adam", train_tp="training_tensor", train_pp="training_stages", train_ep="expert_parallel")


def arguments(k, config):
    """The words that ask the terminal for the same."""
    words = ["--config", config if k.config else k.model, "--chip", k.accelerator]
    for option, knob in [*((name, name) for name in ALIKE.split()), *RENAMED.items()]:
        words += [f"--{option.replace('_', '-')}", f"{getattr(k, knob)}"]
    words += ["--lengths", f"{k.p50} {k.p90} {k.p99} {k.longest}"]
    words += [] if k.tensor_parallel == AUTO else ["--tp", k.tensor_parallel]
    words += [f"--{name}" for name in ("reference", "reuse") if getattr(k, name)]
    words += ["--dcp", "0"] if k.cut_copies else []
    words += ["--shared-cache"] if k.shared_cache else []
    words += ["--group-prompts"] if k.grouped else []
    words += ["--lora", str(k.rank)] if k.trained != plan.ALL_WEIGHTS else []
    words += ["--four-bits"] if k.trained == plan.QLORA else []
    words += ["--logits", "whole"] if k.whole_logits else []
    words += ["--unpacked"] if k.unpacked else []
    named = dict(zip(plan.SHARING, terminal.SHARING))
    if k.sharing in named:
        alone = k.trained == plan.ALL_WEIGHTS and named[k.sharing] == "one-copy"  # it shares what is below adapters
        words += ["--sharing", "engine-sleeps" if alone else named[k.sharing]]
    words += ["--timed", k.timed] if k.timed else []
    return words + (["--measured", k.seconds] if k.seconds else [])


@pytest.mark.slow()
def test_random_settings_are_the_same_plan_on_the_page_and_in_the_terminal(tmp_path, capsys):
    n = 200 if skip_unchanged.nightly() else 60
    config = tmp_path / "config.json"
    config.write_text(json.dumps(QWEN3_14B), encoding="utf-8")
    fitting = timed = 0
    parser = terminal.arguments("rlpt plan")
    for i, k in enumerate(drawn(n)):
        words = arguments(k, str(config))
        s, contradictions = plan.scenario(k)
        if i % 4 and not contradictions and not plan.misfits(k):  # the same job is the same plan
            typed = terminal.scenario(parser, parser.parse_args(words))
            assert replace(typed, sharing=s.sharing, calibration=None) == replace(s, calibration=None), k
            assert planner.roles(typed) == planner.roles(s) and planner.spread(typed) == planner.spread(s), k
            fitting, timed = fitting + 1, timed + bool(k.timed or k.seconds)
            continue
        (r,) = plan.run(k)
        if r.misfits:
            with pytest.raises(SystemExit):
                terminal.main(words)
            assert r.misfits[0].what in capsys.readouterr().err, k
            continue
        fitting, timed = fitting + 1, timed + bool(k.timed or k.seconds)
        assert terminal.main([*words, "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["step_seconds"] == list(r.found.step_range), k
        assert printed["role_seconds"]["predicted"] == asdict(r.found.predicted), k
        assert (printed["gpu_hours"], printed["money"]) == (list(r.found.gpu_hours), list(r.found.money)), k
        assert printed["peak_bytes"] == r.found.peak.needs and printed["lag"] == r.found.lag, k
        assert printed["sequences_in_flight_per_engine"] == r.found.live, k
        assert printed["range"] == planner.spread(r.scenario).words, k
        assert [c["step_seconds"] for c in printed["changes"]] == [c.seconds for c in r.path], k
    assert fitting > 0.3 * n and timed > 0.1 * n


def test_the_setting_of_the_review_is_the_same_on_the_page_and_in_the_terminal(capsys):
    # an engine of narrow weights and a narrow cache, and an iteration that was timed on it
    k = Knobs(model="qwen2.5-7b", gpus=16, overlap="sync", weights="fp8", cache="fp8", timed=TIMED)
    (r,) = plan.run(k)
    assert terminal.main([*arguments(k, ""), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step_seconds"] == list(r.found.step_range)
