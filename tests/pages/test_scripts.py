"""The scripts that a reader takes away, as far as they go without torch: that they are Python, judge as the book does,
and write no option that was not read in the release.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from rlpt import options
from sim.worlds import scorer, tasks
from tests.rlpt.test_options import READ
from tests.sim.worlds.test_scorer import GOLDEN
from tools.pages import scripts
from widgets.frame.reader import host

# names of the rest of the TRL script: trl/trainer/grpo_config.py and rloo_config.py, transformers/training_args.py
TRAINING = {"output_dir", "max_steps", "learning_rate", "max_completion_length", "logging_steps", "save_strategy"}
TRAINING |= {"report_to", "seed", "bf16", "use_cpu", "reward_weights", "eval_strategy", "eval_steps", "eval_on_start"}
TRAINING |= {"per_device_eval_batch_size", "log_completions", "num_completions_to_print"}
# of the verl script's command: verl 0.9.1, trainer/config/ppo_trainer.yaml and what it takes in
RUN = {
    "actor_rollout_ref.model.path",
    "actor_rollout_ref.rollout.name",
    "actor_rollout_ref.rollout.tensor_model_parallel_size",
    "actor_rollout_ref.actor.use_dynamic_bsz",
    "data.train_files",
    "data.val_files",
    "data.max_prompt_length",
    "data.max_response_length",
    "reward.custom_reward_function.path",
    "reward.custom_reward_function.name",
    "trainer.n_gpus_per_node",
    "trainer.total_training_steps",
    "trainer.logger",
    "trainer.test_freq",
    "trainer.rollout_data_dir",
}
HOME = "https://example.org/book/"
FILES = {
    (page, name, program): scripts.path(page, name, program)
    for page, named in scripts.ALGORITHMS.items()
    for name, setting in named.items()
    for program in scripts.PROGRAMS
    if scripts.exists(program, setting)
}


def text_of(page, name, program):
    return scripts.script(program, name, scripts.ALGORITHMS[page][name], scripts.path(page, name, program), HOME)


def grpo(program):
    return text_of("grpo", "GRPO", program)


def tree(program):
    return ast.parse(grpo(program))


def part(text, begin, end):
    return text.partition(begin)[2].partition(end)[0]


def assigned(program, name):
    """What a script says a name is, its names of texts taken as they stand."""
    (node,) = [n for n in tree(program).body if isinstance(n, ast.Assign) and n.targets[0].id == name]
    return node.value


@pytest.mark.parametrize("page, name, program", FILES, ids=FILES.values())
def test_a_script_is_python_and_nothing_is_left_to_fill_in(page, name, program):
    text = text_of(page, name, program)
    compile(text, program, "exec")
    assert not re.search(r"THE_[A-Z]+|_VERSION", text)
    assert f"{program.lower()}=={options.VERSIONS[program]}" in text and f"by {name}" in text
    assert f"python {FILES[page, name, program].removeprefix('run/')}" in text


def judged(source, call):
    """What a text's functions say of the golden cases, in an interpreter that knows nothing of this book."""
    cases = [(example, completion) for _, example, completion, *_ in GOLDEN]
    program = f"import json, sys\n{source}\nprint(json.dumps([{call} for e, c in json.load(sys.stdin)]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_trl_s_script_judges_every_golden_case_as_the_scorer_does():
    source = part(grpo("TRL"), "# ── the scorer ──\n", "# ── the task ──")
    ours = [json.loads(json.dumps(scorer.score(example, completion))) for _, example, completion, *_ in GOLDEN]
    assert judged(source, "score(e, c)") == ours


def test_verl_s_reward_file_judges_every_golden_case_that_has_an_answer_as_the_scorer_does():
    call = 'compute_score("add", c, e["expected_answer"], {}) if type(e) is dict and "expected_answer" in e else None'
    got = [result and result["score"] for result in judged(assigned("verl", "REWARD").value, call)]
    asked = [(e, c) if isinstance(e, dict) and "expected_answer" in e else None for _, e, c, *_ in GOLDEN]
    ours = [case and scorer.score(*case)["reward"] for case in asked]
    assert got == ours and {0.0, 1.0} <= set(got)


def test_trl_s_reward_takes_texts_and_conversations_and_calls_what_was_cut_off_wrong():
    text = grpo("TRL")
    source = part(text, "# ── the scorer ──\n", "# ── a model that needs")
    space = {"CONFIG": dict(max_completion_length=8), "__name__": "script"}
    exec(compile(source, "script", "exec"), space)
    completions = ["Final: 7", [{"role": "assistant", "content": "Final: 7"}], "Final: 8", "Final: 7"]
    ids = [[1, 2, 3]] * 3 + [[1] * 8]
    assert space["reward"](completions=completions, answer=["7"] * 4, completion_ids=ids, prompts=[]) == [
        1.0,
        1.0,
        0.0,
        0.0,
    ]
    assert space["longest"]() == 8


@pytest.mark.parametrize("program", scripts.PROGRAMS)
def test_the_prompts_are_those_of_the_task(program):
    pairs = ast.literal_eval(assigned(program, "PROMPTS"))
    assert pairs == [(example["id"], example["expected_answer"]) for example in tasks.Add.examples]
    assert len(pairs) == 100 and ("3+4", "7") in pairs


def recorded(column):
    return {name for place in READ[column].values() for name in place}


def test_the_options_of_the_trl_script_are_in_the_record():
    options_set = {word.arg for word in assigned("TRL", "CONFIG").keywords}
    (main,) = [n for n in tree("TRL").body if isinstance(n, ast.FunctionDef) and n.name == "main"]
    calls = [n for n in ast.walk(main) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "dict"]
    assert options_set <= recorded("GRPOConfig") and {"num_generations", "loss_type"} <= options_set
    assert {word.arg for call in calls for word in call.keywords} == TRAINING


def module(page, name, program="verl"):
    exec(compile(text_of(page, name, program), "script", "exec"), space := {"__name__": "script"})
    return space


VERL = [(page, name) for page, name, program in FILES if program == "verl"]


@pytest.mark.parametrize("page, name", VERL, ids=[FILES[page, name, "verl"] for page, name in VERL])
def test_verl_s_options_are_in_the_record_and_none_is_given_twice(page, name):
    space = module(page, name)
    lines = space["options"]()
    assert {line.split("=")[0].lstrip("+") for line in lines} <= recorded("verl") and len(lines) > 5
    words = shlex.split(space["command"]("MODEL", Path("/out")).replace("\\\n", " "))
    names = [word.split("=")[0].lstrip("+") for word in words if "=" in word and not word.startswith("VERL")]
    assert len(names) == len(set(names)) and set(names) <= recorded("verl") | RUN | {"critic.model.path"}
    assert set(names) >= RUN


def test_a_critic_is_the_same_model_and_not_verl_s_own_of_seven_billion_weights():
    command = module("ppo", "PPO")["command"]("MODEL", Path("/out"))
    assert "critic.model.path=MODEL" in command
    assert "critic" not in module("grpo", "GRPO")["command"]("MODEL", Path("/out"))


def test_a_path_with_a_space_stays_one_word():
    command = module("grpo", "GRPO")["command"]("MODEL", Path("/my out"))
    words = shlex.split(command.replace("\\\n", " "))
    assert "data.train_files=/my out/train.parquet" in words and "VERL_FILE_LOGGER_PATH=/my out/log.jsonl" in words
    assert 'trainer.logger=["console","file"]' in words


def test_a_whole_block_may_be_pasted_with_its_remarks_its_command_and_its_backslashes():
    space = module("grpo", "GRPO")
    lines, block = space["options"](), options.text("verl", scripts.ALGORITHMS["grpo"]["GRPO"])
    assert block.startswith("#") and "python -m" in block and "\\\n" in block
    space["CONFIG"] = block
    assert space["options"]() == lines


def test_groups_are_filtered_by_what_is_paid_and_not_by_the_second_opinion():
    assert "algorithm.filter_groups.metric=score" in module("dapo", "DAPO")["options"]()


def test_verl_s_data_rows_have_the_columns_that_verl_reads():
    space = module("grpo", "GRPO")
    train, kept_out = list(space["rows"]("train")), list(space["rows"]("test"))
    assert (len(train), len(kept_out)) == (80, 20)
    assert set(train[0]) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
    prompts = [row["prompt"][0]["content"] for row in train + kept_out]
    assert len(set(prompts)) == 100 and all(text.startswith("What is ") for text in prompts)
    answers = {sum_.replace("+", " + "): answer for sum_, answer in space["PROMPTS"]}
    for row in train + kept_out:
        sum_ = row["prompt"][0]["content"].removeprefix("What is ").partition("?")[0]
        assert row["reward_model"] == {"style": "rule", "ground_truth": answers[sum_]}


def test_verl_s_reward_has_a_second_opinion_that_no_wording_changes():
    exec(module("grpo", "GRPO")["REWARD"], space := {})

    def judge(text):
        return space["compute_score"]("add", text, "7", {})

    assert judge("Final: 7") == {"score": 1.0, "acc": 1.0}
    assert judge("It is 7") == {"score": 0.0, "acc": 1.0}  # the format alone is wrong
    assert judge("Final: 8") == {"score": 0.0, "acc": 0.0} == judge("nothing")


TRL = [(page, name) for page, name, program in FILES if program == "TRL"]


@pytest.mark.parametrize("page, name", TRL, ids=[FILES[page, name, "TRL"] for page, name in TRL])
def test_a_trl_script_has_its_page_s_trainer_and_options_that_were_read_in_the_release(page, name):
    text = text_of(page, name, "TRL")
    (config,) = [n.value for n in ast.parse(text).body if isinstance(n, ast.Assign) and n.targets[0].id == "CONFIG"]
    trainer = "RLOO" if "RLOO" in name else "GRPO"
    assert f"from trl import {trainer}Config, {trainer}Trainer\n" in text
    assert {word.arg for word in config.keywords} <= recorded(f"{trainer}Config")


def test_pages_export_the_algorithm_that_they_are_about():
    dr_grpo, dapo, rloo = (
        text_of(*one, "TRL") for one in (("dr_grpo", "Dr. GRPO"), ("dapo", "DAPO"), ("rloo", "RLOO"))
    )
    assert 'scale_rewards="none"' in dr_grpo and 'loss_type="dr_grpo"' in dr_grpo
    assert "epsilon=0.2, epsilon_high=0.28" in dapo and "OVERLONG = 8" in dapo
    assert "num_generations=4" in rloo
    assert all("3e-4 if given.tiny" in text for text in (dr_grpo, dapo, rloo))  # at 1e-3 the tiny model is ruined
    assert "OVERLONG = 0" in rloo


def test_a_log_has_every_step_a_held_out_scorer_and_prompts_that_were_kept_out():
    text = grpo("TRL")
    for words in ("logging_steps=1", "reward_weights=weights", "[1.0, 0.0]", "eval_on_start=True", "save_state()"):
        assert words in text
    assert text.index("rlpt doctor") > text.index("save_state()")


@pytest.mark.parametrize("program, folder", [("TRL", "completions"), ("verl", "rollouts")])
def test_the_last_lines_name_the_pages_that_read_log_and_completions_and_the_commands(program, folder):
    *_, log, _, completions = part(grpo(program), "def main():", 'if __name__ == "__main__"').strip().splitlines()
    assert f"at {HOME}doctor/, or run: rlpt doctor" in log
    assert f"at {HOME}rollouts/, or run: {{read}}" in completions
    assert f'"{folder}"' in grpo(program) and "rlpt rollouts {shlex.quote(str(kept))}" in grpo(program)


@pytest.mark.parametrize("page, name, file", [("grpo", "GRPO", "keep_training"), ("rloo", "RLOO", "keep_rollouts")])
def test_trl_s_scripts_keep_completions_by_the_book_s_own_callback(page, name, file):
    text = text_of(page, name, "TRL")
    callback = (files("rlpt.rollouts") / "data" / f"{file}.py").read_text(encoding="utf-8")
    assert f"class{callback.partition('class')[2]}" in text  # word for word
    assert "log_completions=True" in text
    assert text.index("run.add_callback(KeepRollouts(run))") < text.index("run.train()")


def test_the_held_out_scorer_takes_the_last_whole_number():
    source = part(grpo("TRL"), "# ── the scorer ──\n", "# ── a model that needs")
    exec(compile(f"import random, re\n{source}", "script", "exec"), space := {"CONFIG": {}})
    completions = ["Final: 7", "7 or 8", [{"role": "assistant", "content": "It is 17."}], ""]
    assert space["held_out"](completions=completions, answer=["7", "8", "7", "7"], prompts=[]) == [1.0, 1.0, 0.0, 0.0]


def test_a_program_without_an_algorithm_has_no_script():
    assert scripts.of("reinforce") == {"verl": "run/reinforce-verl.py"}  # TRL has no such trainer
    assert scripts.of("ppo") == {"verl": "run/ppo-verl.py"}
    for page in ("grpo", "rloo", "dapo", "dr_grpo"):
        assert set(scripts.of(page)) == {"TRL", "verl"}
    assert not scripts.of("dpo") and not scripts.of("plan")
    assert all(
        name in host.widget("compare").Knobs.__dataclass_fields__["a"].metadata["options"]
        for name in scripts.ALGORITHMS["compare"]
    )


def test_the_training_scripts_are_written_into_the_site(tmp_path):
    scripts.write(tmp_path, HOME)
    assert {f"run/{path.name}" for path in (tmp_path / "run").iterdir()} == set(FILES.values())
