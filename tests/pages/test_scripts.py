"""The scripts that a reader takes away, as far as they go without torch: that they are Python, judge as the book does,
and write no option that was not read in the release.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sim.algorithms import options
from sim.worlds import scorer, tasks
from tests.sim.algorithms.test_options import READ
from tests.sim.worlds.test_scorer import GOLDEN
from tools.pages import scripts
from widgets.frame import host

# names of the rest of the TRL script: trl/trainer/grpo_config.py and rloo_config.py, transformers/training_args.py
TRAINING = {"output_dir", "max_steps", "learning_rate", "max_completion_length", "logging_steps", "save_strategy"}
TRAINING |= {"report_to", "seed", "bf16", "use_cpu"}
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
}


def tree(program):
    return ast.parse(scripts.script(program))


def part(text, begin, end):
    return text.partition(begin)[2].partition(end)[0]


def assigned(program, name):
    """What a script says a name is, its names of texts taken as they stand."""
    (node,) = [n for n in tree(program).body if isinstance(n, ast.Assign) and n.targets[0].id == name]
    return node.value


@pytest.mark.parametrize("program", scripts.SCRIPTS)
def test_a_script_is_python_and_nothing_is_left_to_fill_in(program):
    text = scripts.script(program)
    compile(text, program, "exec")
    assert not re.search(r"THE_[A-Z]+|_VERSION", text)
    assert f"{program.lower()}=={options.VERSIONS[program]}" in text


def judged(source, call):
    """What a text's functions say of the golden cases, in an interpreter that knows nothing of this book."""
    cases = [(example, completion) for _, example, completion, *_ in GOLDEN]
    program = f"import json, sys\n{source}\nprint(json.dumps([{call} for e, c in json.load(sys.stdin)]))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_trl_s_script_judges_every_golden_case_as_the_scorer_does():
    source = part(scripts.script("TRL"), "# ── the scorer ──\n", "# ── the task ──")
    ours = [json.loads(json.dumps(scorer.score(example, completion))) for _, example, completion, *_ in GOLDEN]
    assert judged(source, "score(e, c)") == ours


def test_verl_s_reward_file_judges_every_golden_case_that_has_an_answer_as_the_scorer_does():
    has = lambda example: isinstance(example, dict) and "expected_answer" in example
    call = 'compute_score("add", c, e["expected_answer"], {}) if type(e) is dict and "expected_answer" in e else None'
    got = judged(assigned("verl", "REWARD").value, call)
    ours = [scorer.score(e, c)["reward"] if has(e) else None for _, e, c, *_ in GOLDEN]
    assert got == ours and {0.0, 1.0} <= set(got)


def test_trl_s_reward_takes_texts_and_conversations_and_calls_what_was_cut_off_wrong():
    text = scripts.script("TRL")
    source = part(text, "# ── the scorer ──\n", "# ── a model that nothing")
    space = {"CONFIG": dict(max_completion_length=8), "__name__": "script"}
    exec(compile(source, "script", "exec"), space)
    said = ["Final: 7", [{"role": "assistant", "content": "Final: 7"}], "Final: 8", "Final: 7"]
    ids = [[1, 2, 3]] * 3 + [[1] * 8]
    assert space["reward"](completions=said, answer=["7"] * 4, completion_ids=ids, prompts=[]) == [1.0, 1.0, 0.0, 0.0]
    assert space["longest"]() == 8


@pytest.mark.parametrize("program", scripts.SCRIPTS)
def test_the_prompts_are_those_of_the_task(program):
    found = ast.literal_eval(assigned(program, "PROMPTS"))
    assert found == [(example["id"], example["expected_answer"]) for example in tasks.Add.examples]
    assert len(found) == 100 and ("3+4", "7") in found


def recorded(column):
    return {name for place in READ[column].values() for name in place}


def test_trl_s_options_are_in_the_record():
    given = {word.arg for word in assigned("TRL", "CONFIG").keywords}
    (main,) = [n for n in tree("TRL").body if isinstance(n, ast.FunctionDef) and n.name == "main"]
    calls = [n for n in ast.walk(main) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "dict"]
    assert given <= recorded("GRPOConfig") and {"num_generations", "loss_type"} <= given
    assert {word.arg for call in calls for word in call.keywords} == TRAINING


def test_verl_s_options_are_in_the_record_and_none_is_given_twice():
    exec(compile(scripts.script("verl"), "script", "exec"), module := {"__name__": "script"})
    said = module["CONFIG"].split()
    assert {line.split("=")[0] for line in said} <= recorded("verl") and len(said) > 5
    command = module["command"]("MODEL", Path("/out"))
    names = [line.strip(" \\").split("=")[0] for line in command.splitlines()[1:]]
    assert len(names) == len(set(names)) and set(names) <= recorded("verl") | RUN
    assert set(names) >= RUN


def test_verl_s_data_rows_have_the_columns_that_verl_reads():
    exec(compile(scripts.script("verl"), "script", "exec"), module := {"__name__": "script"})
    first, *_ = rows = list(module["rows"]())
    assert len(rows) == 100 and set(first) == {"data_source", "prompt", "ability", "reward_model", "extra_info"}
    assert first["reward_model"] == {"style": "rule", "ground_truth": "0"}
    assert first["prompt"][0]["content"].startswith("What is 0 + 0?")


def test_training_scripts_are_offered_only_by_widgets_of_algorithms_trained_on_rewards():
    for name in ("reinforce", "ppo", "grpo", "rloo", "dapo", "dr_grpo", "compare"):
        assert scripts.beside(host.widget(name)) == scripts.SCRIPTS
    assert not scripts.beside(host.widget("dpo")) and not scripts.beside(host.widget("plan"))


def test_the_training_scripts_are_written_into_the_site(tmp_path):
    scripts.write(tmp_path)
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"trl-add.py", "verl-add.py"}
