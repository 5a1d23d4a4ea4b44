"""The sums of "RL post-training, from first principles", by THE_ALGORITHM in verl VERL_VERSION: writes two data sets
and a reward function into a folder, and prints the command that trains on them and those that read what it leaves.

    pip install verl==VERL_VERSION datasets
    python THE_FILE --model Qwen/Qwen2.5-0.5B-Instruct --out THE_FOLDER

This file is all that is needed. Each prompt is a sum of two digits, and the book's own scorer, copied below word for
word, decides which answers are correct. Twenty sums are kept out of training.
"""

import argparse
import random
import shlex
from pathlib import Path

# ── the setting: what "Export" shows for verl, as a whole or line by line ──
CONFIG = """
THE_CONFIG
"""

PROMPTS = THE_PROMPTS  # (a sum, its answer)
ASKED = "What is {}? Answer with one line and nothing else, in this form: Final: 42"


# ── the reward function: this text is written to reward.py ──
REWARD = r'''THE_SCORER


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **others):
    """What verl calls for each completion: 1.0 or 0.0, and a second opinion that no gradient sees: whether the last
    whole number is the answer, whatever stands around it. It is not told whether a completion was cut off; a longest
    response far above what an answer needs makes that rare.
    """
    numbers = re.findall(r"\d+", str(solution_str)) or [""]
    right = score({"expected_answer": ground_truth}, solution_str)["reward"]
    return {"score": right, "acc": float(numbers[-1] == ground_truth)}
'''


def rows(split):
    """The columns that verl reads, for the 80 sums to train on or the 20 kept out: prompt, data_source, reward_model
    and extra_info.
    """
    shuffled = random.Random(0).sample(PROMPTS, len(PROMPTS))
    for index, (sum_, answer) in enumerate(shuffled[20:] if split == "train" else shuffled[:20]):
        yield {
            "data_source": "add",
            "prompt": [{"role": "user", "content": ASKED.format(sum_.replace("+", " + "))}],
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": answer},
            "extra_info": {"split": split, "index": index},
        }


def options():
    """CONFIG as a list of options. A whole block may be pasted, with its comments, its command and its backslashes."""
    lines = [line for line in CONFIG.splitlines() if not line.strip().startswith("#")]
    return [word for word in " ".join(lines).replace("\\", " ").split() if "=" in word]


def command(model, out):
    """The command that trains; options in the setting override the defaults here."""
    said = [
        f"actor_rollout_ref.model.path={model}",
        "actor_rollout_ref.rollout.name=vllm",
        "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
        "actor_rollout_ref.actor.use_dynamic_bsz=True",
        f"data.train_files={out / 'train.parquet'}",
        f"data.val_files={out / 'kept-out.parquet'}",
        "data.max_prompt_length=128",
        "data.max_response_length=64",
        f"reward.custom_reward_function.path={out / 'reward.py'}",
        "reward.custom_reward_function.name=compute_score",
        "trainer.n_gpus_per_node=1",
        "trainer.total_training_steps=200",
        "trainer.test_freq=10",
        'trainer.logger=["console","file"]',
        f"trainer.rollout_data_dir={out / 'rollouts'}",
    ]
    setting = options()
    if "algorithm.adv_estimator=gae" in setting:
        said.append(f"critic.model.path={model}")  # verl's default is a model of seven billion weights
    chosen = {line.split("=")[0].lstrip("+") for line in setting}
    said = [line for line in said if line.split("=")[0] not in chosen]
    log = f"VERL_FILE_LOGGER_PATH={shlex.quote(str(out / 'log.jsonl'))}"
    return " \\\n    ".join([f"{log} python -m verl.trainer.main_ppo", *map(shlex.quote, [*said, *setting])])


def main():
    parser = argparse.ArgumentParser(description="Writes data sets and a reward function, prints the command")
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    parser.add_argument("--out", type=Path, default=Path("THE_FOLDER"))
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    from datasets import Dataset

    for split, name in (("train", "train.parquet"), ("test", "kept-out.parquet")):
        Dataset.from_list(list(rows(split))).to_parquet(out / name)
    (out / "reward.py").write_text(REWARD, encoding="utf-8")
    print(command(given.model, out))
    log, kept = out / "log.jsonl", out / "rollouts"
    print(f"\nWhat happened: drop {log} at THE_DOCTOR, or run: rlpt doctor {shlex.quote(str(log))}")
    read = f"rlpt rollouts {shlex.quote(str(kept))}"
    print(f"Read the completions: drop the files of {kept} at THE_ROLLOUTS, or run: {read}")


if __name__ == "__main__":
    main()
