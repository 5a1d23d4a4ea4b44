"""The sums of "RL post-training, from first principles", trained with TRL TRL_VERSION by GRPO or RLOO.

    pip install trl==TRL_VERSION
    python trl-add.py                                   # Qwen/Qwen2.5-0.5B-Instruct, on a GPU
    python trl-add.py --model NAME_OR_FOLDER --steps 500
    python trl-add.py --tiny                            # a model of two layers made here, on a processor

Nothing but this file is needed. Each prompt is a sum of two digits, and what is right is judged by the scorer of the
book, whose text stands below as it is there.
"""

import argparse
import random

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

# ── the setting: what "Copy as config" shows under TRL, between the brackets; for an RLOOConfig write RLOO ──
TRAINER = "GRPO"
CONFIG = dict(THE_CONFIG)


# ── the scorer ──
THE_SCORER


# ── the task ──
PROMPTS = THE_PROMPTS  # (a sum, its answer)
ASKED = "What is {}? Answer with one line and nothing else, in this form: Final: 42"


def reward(completions, answer, completion_ids, **others):
    """1.0 or 0.0 a completion. One that is as long as it may be was cut off, and nobody knows what it would have said:
    it is wrong.
    """
    texts = [said if isinstance(said, str) else said[-1]["content"] for said in completions]
    return [
        score({"expected_answer": right}, text)["reward"] if len(ids) < longest() else 0.0
        for text, right, ids in zip(texts, answer, completion_ids)
    ]


def longest():
    return CONFIG.get("max_completion_length", 32)


def dataset(tiny):
    """What the tiny model completes is plain text, 3+4=; any other model is asked."""
    ask = lambda sum_: f"{sum_}=" if tiny else [{"role": "user", "content": ASKED.format(sum_.replace("+", " + "))}]
    return Dataset.from_list([{"prompt": ask(sum_), "answer": answer} for sum_, answer in PROMPTS])


# ── a model that nothing is downloaded for ──
def tiny():
    """(model, tokenizer): two layers, one token a character, fitted for some seconds to sums of which half are right,
    so that there is something to be rewarded.
    """
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    torch.set_num_threads(1)  # a model of this size gains nothing from more, and loses much where others work
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
    return model, tokenizer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    parser.add_argument("--tiny", action="store_true", help="a small model made here, nothing downloaded")
    parser.add_argument("--steps", type=int, help="steps of the optimizer: 200, tiny 1000")
    parser.add_argument("--learning-rate", type=float, help="1e-6, tiny 1e-3")
    parser.add_argument("--out", default="trl-add")
    given = parser.parse_args()
    model, tokenizer = tiny() if given.tiny else (given.model, None)
    configuration, trainer = (GRPOConfig, GRPOTrainer) if TRAINER == "GRPO" else (RLOOConfig, RLOOTrainer)
    options = dict(
        output_dir=given.out,
        max_steps=given.steps or (1000 if given.tiny else 200),
        learning_rate=given.learning_rate or (1e-3 if given.tiny else 1e-6),
        max_completion_length=longest(),
        logging_steps=20,
        save_strategy="no",
        report_to="none",
        seed=0,
    )
    if given.tiny:
        options |= dict(bf16=False, use_cpu=True)
    trainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[reward],
        args=configuration(**options | CONFIG),
        train_dataset=dataset(given.tiny),
    ).train()


if __name__ == "__main__":
    main()
