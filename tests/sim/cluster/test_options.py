import re

import pytest

from sim.cluster import options

# Every name that may be written, as read in the source of the releases; --no-… is argparse's form of a switch.
READ = {
    "vLLM": """
        --tensor-parallel-size --decode-context-parallel-size --gpu-memory-utilization --max-model-len --max-num-seqs
        --max-num-batched-tokens --enable-prefix-caching --no-enable-prefix-caching --kv-cache-dtype --block-size
        --kv-offloading-size --quantization --enable-sleep-mode --weight-transfer-config --speculative-config""",
    "SGLang": """
        --model-path --tp-size --dcp-size --mem-fraction-static --context-length --max-running-requests
        --chunked-prefill-size --disable-radix-cache --kv-cache-dtype --page-size --quantization
        --enable-memory-saver --speculative-num-draft-tokens --speculative-algorithm""",
    "verl": """
        actor_rollout_ref.rollout.tensor_model_parallel_size actor_rollout_ref.rollout.gpu_memory_utilization
        actor_rollout_ref.rollout.max_model_len actor_rollout_ref.rollout.max_num_seqs
        actor_rollout_ref.rollout.max_num_batched_tokens actor_rollout_ref.rollout.enable_prefix_caching
        actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype
        actor_rollout_ref.rollout.engine_kwargs.vllm.decode_context_parallel_size
        actor_rollout_ref.rollout.quantization actor_rollout_ref.rollout.free_cache_engine
        actor_rollout_ref.rollout.checkpoint_engine.backend actor_rollout_ref.rollout.n data.train_batch_size
        data.max_prompt_length data.max_response_length actor_rollout_ref.actor.use_dynamic_bsz
        actor_rollout_ref.actor.ppo_max_token_len_per_gpu trainer.v1.trainer_mode
        actor_rollout_ref.actor.ppo_mini_batch_size trainer.v1.separate_async.parameter_sync_step
        trainer.v1.sampler.max_off_policy_threshold algorithm.rollout_correction.bypass_mode""",
    "TRL": """
        vllm_tensor_parallel_size vllm_gpu_memory_utilization vllm_max_model_length vllm_mode vllm_enable_sleep_mode
        use_vllm generation_batch_size
        num_generations max_completion_length mask_truncated_completions max_staleness""",
    "OpenRLHF": """
        --vllm.tensor_parallel_size --vllm.gpu_memory_utilization --vllm.enable_prefix_caching --vllm.num_engines
        --vllm.sync_backend --vllm.enable_sleep --ds.enable_sleep --data.max_len --rollout.batch_size
        --train.batch_size --rollout.n_samples_per_prompt --rollout.max_new_tokens --train.dynamic_batch_enable
        --train.max_tokens_per_gpu --train.colocate_all --train.async_enable --train.partial_rollout_enable
        --train.async_queue_size""",
}
ONE = dict(
    tensor_parallel=2,
    dcp=2,
    memory_fraction=0.9,
    context=8704,
    concurrency=104,
    chunk=2048,
    prefix_cache=True,
    drafts=3,
    block=16,
    kv_dtype="fp8",
    weights_dtype="fp8",
    offload_gib=64,
    engines=4,
    placement="split",
    prompts=512,
    samples=16,
    prompt=512,
    completion=8192,
    micro_batch_tokens=8192,
    overlap="async",
    lag=4,
    reuse_log_probs=True,
    cut="masked",
)
OTHER = dict(prefix_cache=False, kv_dtype="bf16", weights_dtype="bf16", placement="colocated", overlap="carry-over")
OTHER |= dict(reuse_log_probs=False, cut="scored wrong")
SETTINGS = [ONE, ONE | OTHER, ONE | dict(overlap="one-off"), ONE | dict(overlap="sync")]


def names(program, text):
    """The names of options in a text, without values, notes and the command."""
    form = {"TRL": r"\b([a-z_]+)=", "verl": r"(?<=[\s+])([a-z][\w.]*)="}.get(program, r"(?<=\s)(--[a-z][\w.-]*)")
    return set(re.findall(form, text))


def written(program, setting):
    return options.texts(setting)[f"{program} {options.VERSIONS[program]}"]


@pytest.mark.parametrize("program", READ)
def test_no_option_is_written_that_was_not_read_in_the_release_and_each_is_written_somewhere(program):
    seen = set().union(*(names(program, written(program, setting)) for setting in SETTINGS))
    assert seen == set(READ[program].split())


def test_the_setting_above_asks_for_every_quantity_of_the_table():
    assert set(ONE) == set(options.TABLE)


@pytest.mark.parametrize(
    "program, line",
    [
        ("vLLM", "--max-num-seqs 104"),
        ("vLLM", '--weight-transfer-config \'{"backend":"nccl"}\''),
        ("SGLang", "--kv-cache-dtype fp8_e4m3"),
        ("verl", "actor_rollout_ref.rollout.n=16"),
        ("verl", "+actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype=fp8"),
        ("TRL", "generation_batch_size=8192,"),  # 512 × 16: TRL counts completions
        ("OpenRLHF", "--rollout.batch_size 512 --train.batch_size 8192"),
    ],
)
def test_a_value_stands_beside_its_name(program, line):
    assert line in [row.strip().removesuffix(" \\") for row in written(program, ONE).splitlines()]


def test_what_a_program_cannot_say_is_one_line_each():
    notes = [line for line in written("TRL", ONE).splitlines() if "no option" in line]
    assert "# TRL has no option for sequences at once" in notes
    assert len(notes) == len(set(notes)) == 12  # of the 23 quantities; three more are notes that name another place


def test_an_engine_is_not_asked_for_what_a_trainer_sets():
    text = written("vLLM", dict(tensor_parallel=4, samples=16, prompts=8))
    assert text == "# the rest is the trainer's\nvllm serve MODEL \\\n    --tensor-parallel-size 4"


def test_only_what_is_set_is_written():
    assert written("TRL", dict(samples=8)) == "GRPOConfig(\n    num_generations=8,\n)"


def test_a_quantity_that_the_table_does_not_have_is_refused():
    with pytest.raises(ValueError, match="swap_space: the quantities are tensor_parallel"):
        options.texts(dict(swap_space=4))
