import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlpt import plan
from rlpt.planning import changes, planner
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS

CONFIG = dict(
    model_type="qwen2",
    num_hidden_layers=28,
    hidden_size=3584,
    num_attention_heads=28,
    num_key_value_heads=4,
    intermediate_size=18944,
    vocab_size=152064,
)


@pytest.mark.skipif(sys.platform == "emscripten", reason="a page starts no processes")
def test_the_module_is_a_command():
    root = Path(__file__).parents[2]
    asked = [sys.executable, "-m", "rlpt.plan", "--config", "llama3.1-8b", "--gpus", "16", "--json"]
    done = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["gpus"] == 16 and not done.stderr


def test_a_file_and_a_name_give_the_same(tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    told = []
    for model in (str(tmp_path / "config.json"), "qwen2.5-7b"):
        assert plan.main(["--config", model, "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out))
    names = [one.pop("model") for one in told]
    assert names == ["your model", "Qwen2.5-7B"] and told[0] == told[1]


def test_keys_that_are_not_read_are_named(tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "a_new_kind_of_layer": 3}), encoding="utf-8")
    assert plan.main(["--config", str(tmp_path / "config.json"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) and "a_new_kind_of_layer" in err


@pytest.mark.slow
def test_the_numbers_are_those_of_the_plan(capsys):
    asked = ["--model", "qwen3-8b", "--overlap", "async", "--reference", "--test-seconds", "2", "--limit", "4096"]
    plan.main([*asked, "--json"])
    told = json.loads(capsys.readouterr().out)
    made = planner.Scenario(
        MODELS["qwen3-8b"],
        plan.ACCELERATORS["h100"],
        Law(720, 2000, 4600, 4096),
        overlap="async",
        reference=True,
        test_seconds=2.0,
        longest_test=2.0,
    )
    found = planner.plan(made)
    assert told["step_seconds"] == pytest.approx(found.step_range) and told["lag"] == pytest.approx(found.lag)
    assert [change["change"] for change in told["changes"]] == [change.words for change in changes.best_changes(made)]
    plan.main(asked)
    shown = capsys.readouterr().out
    assert all(answer.words in shown and answer.question in shown for answer in planner.answers(found))


def test_what_a_timed_engine_shows_is_said_below_the_table(capsys):
    # 7B in bf16 on an H100: 57,344 bytes in 22 ns are 2.607 of 3.35 TB/s, at which weights take 5.425 of 7.1 ms
    asked = ["--gpus", "8", "--timed", "7.1 ms + 60 us a sequence + 22 ns a token, 1 GPUs"]
    plan.main(asked)
    shown = capsys.readouterr().out.splitlines()[-1]
    plan.main([*asked, "--json"])
    assert json.loads(capsys.readouterr().out)["timed"] == shown
    assert "1.67 ms for launching" in shown and "60 µs of the host" in shown and "78% of the memory" in shown
    plan.main(["--gpus", "8", "--json"])
    assert json.loads(capsys.readouterr().out)["timed"] is None


@pytest.mark.slow
def test_sessions_of_several_turns_are_in_the_numbers_and_in_the_table(capsys):
    asked = ["--model", "qwen3-8b", "--turns", "10", "--returned", "500", "--tool-seconds", "5"]
    plan.main([*asked, "--json"])
    told = json.loads(capsys.readouterr().out)
    law = Law(720, 2000, 4600, 8192)
    assert told["tokens_of_a_completion"] == {
        "trained": pytest.approx(512 + law.mean + 9 * 500),
        "written": pytest.approx(law.mean),
        "read": 512 / 16 + 9 * 500,
    }
    one = told["engine_of_sessions"]
    assert one["alive"] == pytest.approx(told["sequences_in_flight_per_engine"]) and one["decoding"] < one["alive"]
    plan.main(asked)
    assert "sequences that are writing" in capsys.readouterr().out


@pytest.mark.parametrize(
    "asked, said",
    [
        (["--gpus", "0"], "must be a whole number from 1 to 8,192, not 0"),
        (["--gpus", "many"], "must be a whole number"),
        (["--gpus", "1,5"], "must be a whole number from 1 to 8,192, not 1,5; commas are for groups of three digits"),
        (["--price", "1,5"], "must be a number from 0 to 10,000, not 1,5; commas are for groups of three digits"),
        (["--price", "nan"], "must be a number from 0"),
        (["--lengths", "5 4 3 2"], "quantiles must increase"),
        (["--config", "no-such-file"], "no-such-file"),
        (
            ["--chip", "h1000"],
            "no chip is called “h1000”; did you mean h100. Use a name from --help, or numbers, for example: 80 GB",
        ),
        (["--chip", "80 GB, 3 apples"], "“3 apples” is not one of the numbers that are read here"),
        (["--overlap", "both"], "invalid choice"),
        (["--timed", "12 ms"], "missing"),
        (["--timed", "7 ms + 3 apples"], "“3 apples” is no term of a line"),
        (["--measured", "update=0.5"], "at the chip's peak"),
        (["--measured", "tests=3"], "spends no time on tests"),
        (["--measured", "step=1e308"], "must lie between"),
        (["--measured", "step=-3"], "must lie between"),
        (["--measured", "step=3 step=4"], "given twice"),
        (["--measured", "fast"], "is neither a time nor a property of the job"),
        (["--measured", "gpus=64"], "at least one time"),
        (["--measured", "step=100 gpus=1 model=llama3.1-405b"], "the job that was timed does not fit"),
        (["--measured", "step=1 rollout=90 update=90"], "the roles that were timed make it"),
        (["--prompts", "8", "--samples", "1", "--gpus", "16"], "8 completions for 16 engines: 8 have none"),
        (["--model", "deepseek-v3", "--gpus", "8"], "does not fit"),
        (["--gpus", "1", "--overlap", "async"], "two pools on one GPU"),
        (["--turns", "0"], "must be a whole number from 1 to 1,000, not 0"),
        (["--returned", "-1"], "must be a whole number"),
        (["--tool-seconds", "inf"], "must be a number"),
        (["--kept", "lost"], "invalid choice"),
        (["--batches", "0.5"], "must be a number from 1 to 64, not 0.5"),
        (["--updates", "600"], "600 updates of 512 prompts a step: 88 have none"),
        (["--turns", "1000", "--returned", "1000"], "1,007,704 tokens a sequence"),
        (["--turns", "9", "--kept", "offload", "--host-memory", "60"], "of caches"),
        (["--measured", "step=100 turns=2.5"], "is not whole"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_is_wrong_is_one_sentence_and_status_2(asked, said, form, capsys):
    with pytest.raises(SystemExit) as ended:
        plan.main([*asked, *form])
    out, told = capsys.readouterr()
    sentence, *would_fit = told.splitlines()
    assert ended.value.code == 2 and said in sentence
    assert all(line.startswith(("what would fit", "  ")) for line in would_fit)
    assert not out or (form and json.loads(out)["why"] in sentence)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"model_type": "bert"}', "\x00" * 10])
def test_a_file_that_is_no_config_is_refused(tmp_path, text, capsys):
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        plan.main(["--config", str(tmp_path / "config.json")])
    told = capsys.readouterr().err
    assert ended.value.code == 2 and told.count("\n") == 1 and "Traceback" not in told


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as ended:
        plan.main(["--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0 and all(name in shown for name in ("--config", "--steps", "--json", "qwen2.5-32b"))


def test_numbers_are_understood_with_grouped_thousands_as_on_the_page(capsys):
    shown = []
    for n, lengths in (("1024", "1200 3400 7700 8192"), ("1,024", "1,200 3,400 7,700 8,192")):
        plan.main(["--gpus", n, "--prompts", n, "--host-memory", n, "--lengths", lengths])
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and "on 1,024 H100" in shown[0]


ONE_CARD = ("--gpus", "1", "--chip", "rtx4090")


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked, fitting",
    [
        (["--model", "qwen3-8b", "--gpus", "1"], ["host memory", "2 GPUs", "LoRA of rank 32"]),
        (["--model", "qwen3-8b", *ONE_CARD, "--lora", "16"], ["one copy of the weights"]),
        (["--model", "deepseek-v3", "--gpus", "96", "--chip", "h20"], ["host memory"]),
        (["--model", "qwen2.5-7b", "--recompute", "none"], ["recompute activations"]),
        (["--model", "llama3.1-70b", "--gpus", "8", "--prompts", "64", "--samples", "8"], ["host memory"]),
        (["--model", "mixtral-8x7b", "--gpus", "4"], ["host memory"]),
        (["--gpus", "7", "--train-cp", "2"], ["8 GPUs"]),
        (["--model", "qwen2.5-1.5b", "--gpus", "1", "--overlap", "async"], ["one pool"]),
        (["--updates", "600"], ["600 prompts"]),
        (["--model", "qwen2.5-32b", "--gpus", "8", "--logits", "whole"], ["logits in chunks"]),
        (
            ["--model", "qwen2.5-7b", "--gpus", "8", "--logits", "whole", "--lengths", "8000 16000 30000 60000"],
            ["logits in chunks"],
        ),
        (
            ["--model", "qwen2.5-32b", "--gpus", "16", "--sharing", "in-turn", "--host-memory", "100"],
            ["state on the GPUs"],
        ),
        (["--model", "qwen3-8b", *ONE_CARD, "--sharing", "engine-sleeps"], ["one copy of the weights"]),
        (["--model", "qwen2.5-32b", "--gpus", "8", "--overlap", "sync", "--measured", "step=500 gpus=64"], ["GPUs"]),
        (
            [
                "--model",
                "qwen2.5-32b",
                "--gpus",
                "8",
                "--overlap",
                "sync",
                "--timed",
                "64 sequences, 2048 tokens, 30 ms",
            ],
            ["GPUs"],
        ),
    ],
)
def test_a_job_that_does_not_fit_names_the_nearest_that_do(asked, fitting, capsys):
    with pytest.raises(SystemExit):
        plan.main([*asked, "--json"])
    out, told = capsys.readouterr()
    listed = json.loads(out)
    assert listed["fits"] is False and 1 <= len(listed["would_fit"]) <= 3
    changes = "; ".join(one["change"] for one in listed["would_fit"])
    assert all(words in changes for words in fitting)
    assert all(one["change"] in told and one["step_seconds"] > 0 for one in listed["would_fit"])
    for one in listed["would_fit"]:  # typed, they fit, and take as long
        assert plan.main([*asked, *one["options"].split(), "--json"]) == 0
        predicted = json.loads(capsys.readouterr().out)["step_seconds"]
        assert (predicted[0] * predicted[1]) ** 0.5 == pytest.approx(one["step_seconds"], rel=1e-6)


@pytest.mark.parametrize("currency, price", [("€", "€3"), ("CHF", "CHF 3")])
def test_a_price_has_the_readers_currency(currency, price, capsys):
    plan.main(["--config", "qwen3-8b", "--price", "3", "--currency", currency])
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "cost at" in line)
    assert f"cost at {price} per GPU-hour" in line and line.count(currency) == 2


@pytest.mark.parametrize(
    "asked, option",
    [
        (["--batches", "2"], "--batches changes nothing with --overlap sync"),
        (["--dp", "2"], "--dp changes nothing with a model without experts"),
        (["--kept", "drop"], "--kept changes nothing with one turn"),
        (["--train-ep", "8"], "--train-ep changes nothing with a model without experts"),
    ],
)
def test_an_option_that_changes_nothing_is_said_and_does_change_nothing(asked, option, capsys):
    plan.main(["--json"])
    before, silent = capsys.readouterr()
    plan.main([*asked, "--json"])
    after, said = capsys.readouterr()
    assert option in said and not silent and json.loads(after) == json.loads(before)
