"""The sums of "RL post-training, from first principles", trained with TRL TRL_VERSION by THE_ALGORITHM.

    pip install trl==TRL_VERSION
    python THE_FILE                                   # Qwen/Qwen2.5-0.5B-Instruct, on a GPU
    python THE_FILE --model NAME_OR_FOLDER --steps 500
    python THE_FILE --tiny                            # a model of two layers made here, on a CPU

This file is all that is needed. Each prompt is a sum of two digits, and the book's own scorer, copied below word for
word, decides which answers are correct. Twenty sums are kept out of training. The log and the completions of every
step are kept, and the last two lines printed are the commands that read them.
"""

import argparse
import random
import re
import shlex
from pathlib import Path

from datasets import Dataset
from trl import THE_TRAINERConfig, THE_TRAINERTrainer
from trl.rewards import get_soft_overlong_punishment

# ── the setting: what "Export" shows for TRL, between the brackets of THE_TRAINERConfig ──
CONFIG = dict(THE_CONFIG)
OVERLONG = THE_OVERLONG  # tokens before the longest completion over which a penalty rises to 1; 0: no penalty


# ── the scorer ──
THE_SCORER


# ── the task ──
PROMPTS = THE_PROMPTS  # (a sum, its answer)
ASKED = "What is {}? Answer with one line and nothing else, in this form: Final: 42"


def reward(completions, answer, completion_ids, **others):
    """1.0 or 0.0 for each completion. One of maximum length was cut off, and nobody knows how it would have ended, so
    it counts as wrong.
    """
    texts = [said if isinstance(said, str) else said[-1]["content"] for said in completions]
    return [
        score({"expected_answer": right}, text)["reward"] if len(ids) < longest() else 0.0
        for text, right, ids in zip(texts, answer, completion_ids)
    ]


def held_out(completions, answer, **others):
    """1.0 if the last whole number of a completion is the answer, whatever surrounds it: a second opinion with weight
    0, which affects no gradient. If it falls while the reward rises, the reward measures something else.
    """
    texts = [said if isinstance(said, str) else said[-1]["content"] for said in completions]
    return [float((re.findall(r"\d+", text) or [""])[-1] == right) for text, right in zip(texts, answer)]


def longest():
    return CONFIG.get("max_completion_length", 32)


def datasets(tiny):
    """(80 sums to train on, 20 kept out). The tiny model completes plain text, 3+4=; any other is asked a question."""

    def ask(sum_):
        return f"{sum_}=" if tiny else [{"role": "user", "content": ASKED.format(sum_.replace("+", " + "))}]

    rows = [{"prompt": ask(sum_), "answer": answer} for sum_, answer in PROMPTS]
    random.Random(0).shuffle(rows)
    return Dataset.from_list(rows[20:]), Dataset.from_list(rows[:20])


# ── a model that needs no download ──
def tiny(folder):
    """Makes a model in a folder: two layers, one token per character, trained for some seconds on sums of which half
    are correct, so that some completions earn a reward.
    """
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    torch.set_num_threads(1)  # more gain nothing for a model of this size, and cost much on a busy machine
    pieces = ["<pad>", "<eos>", "Final: ", "+", "=", *"0123456789"]
    parts = Tokenizer(models.WordLevel({piece: i for i, piece in enumerate(pieces)}, unk_token="<pad>"))
    parts.pre_tokenizer = pre_tokenizers.Split(Regex("Final: |."), "isolated")
    parts.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=parts, pad_token="<pad>", eos_token="<eos>", padding_side="left"
    )
    sizes = dict(hidden_size=64, intermediate_size=128, num_attention_heads=4, num_key_value_heads=4)
    ends = dict(bos_token_id=None, eos_token_id=1, pad_token_id=0)
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(pieces), num_hidden_layers=2, **sizes, **ends))
    chance, optimizer = random.Random(0), torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(200):
        rows = []
        for sum_, answer in chance.choices(PROMPTS, k=64):
            shown = answer if chance.random() < 0.5 else str(abs(int(answer) + chance.choice([-2, -1, 1, 2])))
            rows.append(f"{sum_}=Final: {shown}<eos>")
        ids = tokenizer(rows, return_tensors="pt", padding=True)
        inputs, mask = ids["input_ids"], ids["attention_mask"]
        loss = model(input_ids=inputs, attention_mask=mask, labels=inputs.masked_fill(mask == 0, -100)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder)  # TRL loads a reference by its path
    tokenizer.save_pretrained(folder)


# ── the completions ──
THE_KEEPER


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    parser.add_argument("--tiny", action="store_true", help="a small model made here, nothing downloaded")
    parser.add_argument("--steps", type=int, help="steps of the optimizer: 200, tiny 1000")
    parser.add_argument("--learning-rate", type=float, help="1e-6, tiny THE_TINY_RATE")
    parser.add_argument("--out", type=Path, default=Path("THE_FOLDER"))
    given = parser.parse_args()
    if given.tiny:
        given.model = str(given.out / "tiny")
        tiny(given.model)
    steps = given.steps or (1000 if given.tiny else 200)
    rewards, weights = [reward, held_out], [1.0, 0.0]
    if OVERLONG:
        rewards.append(get_soft_overlong_punishment(longest(), OVERLONG))
        weights.append(1.0)
    options = dict(
        output_dir=str(given.out),
        max_steps=steps,
        learning_rate=given.learning_rate or (THE_TINY_RATE if given.tiny else 1e-6),
        max_completion_length=longest(),
        reward_weights=weights,
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=max(steps // 10, 1),
        eval_on_start=True,
        per_device_eval_batch_size=4 * CONFIG["num_generations"],
        save_strategy="no",
        report_to="none",
        log_completions=True,
        num_completions_to_print=0,
        seed=0,
    )
    if given.tiny:
        options |= dict(bf16=False, use_cpu=True)
    trained_on, kept_out = datasets(given.tiny)
    run = THE_TRAINERTrainer(
        model=given.model,
        reward_funcs=rewards,
        args=THE_TRAINERConfig(**options | CONFIG),
        train_dataset=trained_on,
        eval_dataset=kept_out,
    )
    run.add_callback(KeepRollouts(run))
    run.train()
    run.save_state()
    log, kept = given.out / "trainer_state.json", given.out / "completions"
    print(f"What happened: drop {log} at THE_DOCTOR, or run: rlpt doctor {shlex.quote(str(log))}")
    read = f"rlpt rollouts {shlex.quote(str(kept))}"
    print(f"Read the completions: drop the files of {kept} at THE_ROLLOUTS, or run: {read}")


if __name__ == "__main__":
    main()
