"""Adapters on one GPU as Unsloth starts them."""

import ast

import pytest

from rlpt.planning import options, unsloth
from tests.rlpt.planning.test_options import ALONE, READ

# Arguments as read in unsloth 2026.10.9 (models/loader.py, models/llama.py) and in load_vllm of unsloth_zoo, to which
# from_pretrained hands on what it does not know itself
LOADING = """load_in_4bit fast_inference max_lora_rank max_seq_length gpu_memory_utilization float8_kv_cache load_in_fp8
    max_num_seqs max_num_batched_tokens enable_prefix_caching"""
ADAPTING = "r lora_alpha use_gradient_checkpointing"
ALL = ALONE | dict(
    base_bits=4,
    shared_weights=True,
    optimizer_bits=8,
    concurrency=64,
    chunk=8192,
    prefix_cache=True,
    kv_dtype="fp8",
    weights_dtype="fp8",
    recompute="full",
    turns=3,
    reference=True,
    logits_chunk=1024,
)


def written(setting):
    return options.texts(setting).get(f"Unsloth {unsloth.VERSION}")


def arguments(text):
    """{function: {argument: value}} of a text, which is Python."""
    calls = [node.value for node in ast.parse(text).body if isinstance(getattr(node, "value", None), ast.Call)]
    return {
        getattr(call.func, "attr", getattr(call.func, "id", "")): {
            keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords
        }
        for call in calls
    }


def test_a_setting_becomes_arguments_that_were_read_in_the_release():
    calls = arguments(written(ALL))
    assert set(calls["from_pretrained"]) == set(LOADING.split())
    assert set(calls["get_peft_model"]) == set(ADAPTING.split())
    assert set(calls["GRPOConfig"]) <= set(READ["TRL"].split())
    assert calls["get_peft_model"] == dict(r=32, lora_alpha=64, use_gradient_checkpointing="unsloth")
    assert calls["from_pretrained"]["gpu_memory_utilization"] == 0.9 and calls["GRPOConfig"]["optim"] == "adamw_8bit"
    # 8 prompts x 8 completions; Unsloth wants a multiple of a group in each update
    assert calls["GRPOConfig"]["gradient_accumulation_steps"] == 64
    assert "not written here" not in written(ALL)
    # bitsandbytes left vLLM with 0.28; unsloth_zoo names the plugin, too
    assert "vllm-bnb-plugin" in written(ALL) and "vllm-bnb-plugin" not in written(ALONE)


def test_what_unsloth_does_by_default_is_turned_off_where_it_is_not_asked_for():
    calls = arguments(written(ALONE))
    assert calls["from_pretrained"]["load_in_4bit"] is False and calls["GRPOConfig"]["optim"] == "adamw_torch"


def test_an_engine_reserves_room_for_the_next_rank_that_vllm_knows():
    assert arguments(written(ALONE | dict(adapters=24)))["from_pretrained"]["max_lora_rank"] == 32


def test_what_is_left_out_is_said():
    text = written(ALONE | dict(block=16, weights_dtype=options.CONVERTED, plan="plan: 9 s a step"))
    assert text.startswith("# plan: 9 s a step\n") and "# not written here: block, weights dtype\n" in text


@pytest.mark.parametrize(
    "more",
    [
        dict(training_gpus=8),
        dict(placement="split"),
        dict(overlap="async"),
        dict(offload=True),
        dict(offload_state="optimizer"),
    ],
)
def test_only_adapters_on_one_gpu_are_written(more):
    assert written(ALONE) and written(ALONE | more) is None
    assert written({quantity: value for quantity, value in ALONE.items() if quantity != "adapters"}) is None
