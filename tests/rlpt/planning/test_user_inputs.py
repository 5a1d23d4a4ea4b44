"""What readers bring: published files as they are, hostile ones, and numbers written in several ways."""

import json
import string
from urllib.parse import quote_plus

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlpt.planning import user_inputs
from rlpt.planning.configs import HARMLESS, model_from_config
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from tests.rlpt.planning.test_configs import CONFIGS, OTHERS, published

PUBLISHED = CONFIGS | {name: config for name, (config, *_) in OTHERS.items()}
# what stands around the shape in a file as it is published
AROUND = dict(
    architectures=["ForCausalLM"],
    attention_dropout=0.0,
    bos_token_id=1,
    eos_token_id=[2, 3],
    hidden_act="silu",
    initializer_range=0.02,
    max_position_embeddings=131072,
    rms_norm_eps=1e-05,
    rope_scaling=dict(factor=8.0, rope_type="llama3"),
    torch_dtype="bfloat16",
    transformers_version="4.43.0",
    use_cache=True,
)
# Qwen3-14B, which is in no table: 14.8 billion parameters by its card
QWEN3_14B = dict(
    model_type="qwen3",
    num_hidden_layers=40,
    hidden_size=5120,
    num_attention_heads=40,
    num_key_value_heads=8,
    head_dim=128,
    intermediate_size=17408,
    vocab_size=151936,
    tie_word_embeddings=False,
)


def same(one, other):
    """Whether two models are one but for their names."""
    named = dict(key="", name="")
    return type(one)(**{**vars(one), **named}) == type(other)(**{**vars(other), **named})


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_gives_its_model_and_a_short_text_that_gives_it_again(name):
    found, text, said = user_inputs.model(json.dumps({**PUBLISHED[name], **AROUND}, indent=2))
    assert same(found, model_from_config(PUBLISHED[name])[0])
    assert user_inputs.model(text)[:2] == (found, text)
    assert len(quote_plus(text)) < 900
    assert "Not read" not in said


@pytest.mark.parametrize("name", MODELS)
def test_a_row_of_the_table_comes_back_from_its_file(name):
    assert same(user_inputs.model(json.dumps(published(name)))[0], MODELS[name])


def test_a_model_that_no_table_has():
    found, text, said = user_inputs.model(json.dumps({**QWEN3_14B, "quickness": 3}))
    attention = 2 * 5120 * 40 * 128 + 2 * 5120 * 8 * 128 + 2 * 128
    params = 40 * (attention + 3 * 5120 * 17408 + 2 * 5120) + 2 * 151936 * 5120 + 5120
    assert found.params() == params == pytest.approx(14.8e9, rel=0.005)
    assert said == "14.8 billion parameters in 40 layers, in place of the model above. Not read: quickness."
    assert "quickness" not in text and not json.loads(text).keys() - QWEN3_14B.keys()


def test_layers_that_differ_are_kept_and_those_that_follow_the_family_are_not():
    turns = ["sliding_attention", "full_attention"] * 18
    plain, *_ = user_inputs.model(json.dumps(CONFIGS["gpt-oss-120b"]))
    named, text, _ = user_inputs.model(json.dumps({**CONFIGS["gpt-oss-120b"], "layer_types": turns}))
    assert same(named, plain) and "layer_types" not in text
    other, text, _ = user_inputs.model(json.dumps({**CONFIGS["gpt-oss-120b"], "layer_types": ["full_attention"] * 36}))
    assert other.sliding is None and user_inputs.model(text)[0] == other


HOSTILE = {
    "nothing but words": "please",
    "markup": '<img src=x onerror="alert(1)">',
    "a script as the family": '{"model_type": "<script>alert(1)</script>"}',
    "a list": "[1, 2, 3]",
    "a number": "7",
    "null": "null",
    "an empty object": "{}",
    "half a file": json.dumps(QWEN3_14B)[:60],
    "NaN": json.dumps({**QWEN3_14B, "hidden_size": float("nan")}),
    "infinity": json.dumps({**QWEN3_14B, "hidden_size": float("inf")}),
    "too large for a float": json.dumps(QWEN3_14B).replace("5120", "1e999"),
    "more digits than Python reads": json.dumps(QWEN3_14B).replace("5120", "9" * 5000),
    "a fraction": json.dumps({**QWEN3_14B, "hidden_size": 5120.5}),
    "zero layers": json.dumps({**QWEN3_14B, "num_hidden_layers": 0}),
    "a size below zero": json.dumps({**QWEN3_14B, "vocab_size": -1}),
    "a word for a number": json.dumps({**QWEN3_14B, "hidden_size": "5120"}),
    "true for a number": json.dumps({**QWEN3_14B, "hidden_size": True}),
    "a list for a number": json.dumps({**QWEN3_14B, "hidden_size": [5120]}),
    "a family that is a list": json.dumps({**QWEN3_14B, "model_type": ["qwen3"]}),
    "a family that is not modeled": json.dumps({**QWEN3_14B, "model_type": "deepseek_v4"}),
    "a key that is missing": json.dumps({k: v for k, v in QWEN3_14B.items() if k != "vocab_size"}),
    "lists in lists": "[" * 60_000,
    "objects in objects": '{"a":' * 12_000,
    "lists in lists, as deep as is read": "[" * 299 + "]" * 299,
    "a null byte": json.dumps(QWEN3_14B).replace("{", "{\0"),
    "more weights than there are": json.dumps({**QWEN3_14B, "hidden_size": 10**7, "intermediate_size": 10**7}),
    "next to no weights": json.dumps({**QWEN3_14B, "num_hidden_layers": 1, "hidden_size": 1, "vocab_size": 1}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_model_is_refused_in_one_sentence_that_says_what_is_valid(what):
    with pytest.raises(ValueError) as refusal:
        user_inputs.model(HOSTILE[what])
    said = str(refusal.value)
    assert said.endswith(".") and "\n" not in said and 20 < len(said) < 900
    assert "Valid" in said or "paste" in said


@pytest.mark.when_changed()
@given(
    st.dictionaries(
        st.sampled_from(sorted([*QWEN3_14B, *HARMLESS, "layer_types", "sliding_window", "num_experts"])),
        st.recursive(
            st.none() | st.booleans() | st.integers(-5, 10**9) | st.floats() | st.text(max_size=9),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        ),
        max_size=6,
    )
)
def test_whatever_a_file_says_gives_a_model_or_one_sentence(changes):
    try:
        found, text, said = user_inputs.model(json.dumps({**QWEN3_14B, **changes}))
    except ValueError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert user_inputs.model(text)[:2] == (found, text)
        assert found.params() > 0 and said.endswith(".")


def test_a_file_of_thousands_of_keys_is_read_at_once():
    keys = {f"key_{i}": i for i in range(3000)}
    found, text, said = user_inputs.model(json.dumps({**keys, **QWEN3_14B}))
    assert len(text) < 300 and "key_0" in said and "and others" in said and len(said) < 300
    assert same(found, model_from_config(QWEN3_14B)[0])


def test_broken_json_is_refused_with_its_line():
    with pytest.raises(ValueError, match="line 3: Expecting ',' delimiter"):
        user_inputs.model('{"model_type": "qwen3",\n "hidden_size": 4096\n "vocab_size": 3}')


def test_a_file_that_also_sees_is_said_to_be_read_for_its_text():
    inside = dict(model_type="qwen3_vl", text_config=QWEN3_14B, vision_config=dict(depth=27))
    found, short, said = user_inputs.model(json.dumps(inside))
    assert "the text part: towers are left out" in said and found == user_inputs.model(json.dumps(QWEN3_14B))[0]
    assert user_inputs.model(short)[0] == found


def test_how_a_file_is_stored_is_said_and_goes_into_the_short_text():
    left = [f"model.layers.{i}.self_attn.q_proj" for i in range(40)]
    stored = dict(quant_method="fp8", weight_block_size=[128, 128], modules_to_not_convert=left)
    found, short, said = user_inputs.model(json.dumps({**QWEN3_14B, "quantization_config": stored}))
    assert found.quantized and "Stored as fp8, 18.8 GB" in said and len(short) < 400
    again, shorter, _ = user_inputs.model(short)
    assert (again, shorter) == (found, short)


def test_positions_are_kept_in_the_short_text():
    found, short, _ = user_inputs.model(json.dumps({**QWEN3_14B, "max_position_embeddings": 40960}))
    assert found.positions == user_inputs.model(short)[0].positions == 40960


# Chips


def test_a_chip_is_what_its_four_numbers_say():
    found, text, said = user_inputs.chip("80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s")
    assert (found.hbm_bytes, found.hbm_bytes_per_second, found.flops()) == (80e9, 3.35e12, 989e12)
    assert (found.scaleup_gb_per_second, found.scaleup_domain, found.nic_gb_per_second) == (450, 8, 50)
    assert found.fp8_tflops is None and found.unverified
    assert text == "80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s"
    assert "295 FLOP a byte" in said  # 989 / 3.35


@pytest.mark.parametrize(
    "text",
    [
        "450GB/s; 989TFLOPS; 3.35TB/s; 80GB; NIC 25 GB/s; domain 72; FP8 1,979 TFLOP/s",
        "80 gb\n3.35 tb/s\n989 tflops/s\n450 gb/s\nfp8 1979 TFLOPS\ndomain 72\nnic 25 GB/s\n",
        "80 GB,3.35 TB/s,989 TFLOP/s,450 GB/s,fp8 1979 TFLOP/s,domain 72,NIC 25 GB/s",
    ],
)
def test_parts_of_a_chip_come_in_any_order_and_spelling(text):
    found, short, _ = user_inputs.chip(text)
    assert (found.fp8_tflops, found.scaleup_domain, found.nic_gb_per_second) == (1979, 72, 25)
    assert short == "80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s, fp8 1979 TFLOP/s, domain 72, NIC 25 GB/s"
    assert user_inputs.chip(short)[:2] == (found, short)


@pytest.mark.parametrize(
    "text, because",
    [
        ("80 GB, 3.35 TB/s, 989 TFLOP/s", "The links is missing"),
        ("fast", "“fast” is not one of the numbers that are read here"),
        ("80 GB, 80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s", "given twice"),
        ("0 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s", "must lie between 1 GB and 4000 GB"),
        ("-80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s", "not one of the numbers"),
        ("1e999 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s", "must lie between"),
        ("NaN GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s", "not one of the numbers"),
        ("80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s, domain 8.5", "not one of the numbers"),
        ("<b>80 GB</b>, 3.35 TB/s, 989 TFLOP/s, 450 GB/s", "not one of the numbers"),
        ("80 GB\0, 3.35 TB/s, 989 TFLOP/s, 450 GB/s", "not one of the numbers"),
        (",;,", "The memory is missing"),
        ("8" * 60_000, "not one of the numbers"),
    ],
)
def test_what_is_no_chip_is_refused_with_a_reason(text, because):
    with pytest.raises(ValueError, match=r".*\.$") as refusal:
        user_inputs.chip(text)
    assert because in str(refusal.value) and len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    "words, reader", [(user_inputs.CHIP, user_inputs.chip), (user_inputs.TIMED, user_inputs.timed)]
)
@pytest.mark.parametrize("end", [1, 2])
def test_the_ends_of_every_range_are_read_and_written_alike(words, reader, end):
    text = ", ".join(form.format(row[end]) for row in words.values() for form in [row[3]])
    found, short, _ = reader(text)
    assert (reader(short)[:2], short) == ((found, short), text)


def test_an_iteration_that_was_timed():
    one, text, _ = user_inputs.timed("12 ms, 2,048 tokens, 64 sequences")
    assert one == (64, 2048, 0.012, 0)  # of the engine at hand
    assert text == "64 sequences, 2048 tokens, 12 ms"
    assert user_inputs.timed("64 sequences, 2048 tokens, 12 ms, 4 GPUs")[0].gpus == 4


@pytest.mark.parametrize(
    "text",
    [
        "7.1 ms + 60 us a sequence + 22 ns a token, 2 GPUs",
        "7.1ms+60µs/sequence+0.022 us per token; 2 gpus",
        "22 ns a token + 0.06 ms a sequence + 7100 us a pass\n2 GPUs",
    ],
)
def test_the_line_of_an_engine_in_any_unit_and_order(text):
    one, short, said = user_inputs.timed(text)
    assert one == (pytest.approx(7.1e-3), pytest.approx(60e-6), pytest.approx(22e-9), 2)
    assert short == "7.1 ms + 60 us a sequence + 22 ns a token, 2 GPUs" and user_inputs.timed(short)[:2] == (one, short)
    assert "60 µs for each sequence" in said


def test_a_line_may_leave_out_its_tokens():
    assert user_inputs.timed("7.1 ms + 60 us a sequence")[1] == "7.1 ms + 60 us a sequence + 0 ns a token"


def test_three_passes_that_were_timed_become_their_line():
    # 2 ms, 50 µs and 0.1 µs: 2 + 0.05 + 0.1, 2 + 0.8 + 0.16, and 2 + 0.8 + 3.2 ms
    text = "1 sequences, 1000 tokens, 2.15 ms and 16 sequences, 100 tokens, 2.96 ms and 16 sequences, 2000 tokens, 6 ms"
    one, short, _ = user_inputs.timed(text)
    assert short == "2 ms + 50 us a sequence + 100 ns a token"
    assert user_inputs.timed(short)[:2] == (one, short)


@pytest.mark.parametrize(
    "text, because",
    [
        ("7 ms + 3 apples", "“3 apples” is no term of a line"),
        ("7 ms + 8 ms + 60 us a sequence", "is given twice"),
        ("60 us a sequence + 22 ns a token", "The time of a pass is missing"),
        ("7 ms + 22 ns a token", "The time of a sequence is missing"),
        ("7 ms + 60 ms a sequence + 3 ms a token", "must lie between 0 and 1,000,000 ns"),
        ("7 ms + 60 us a sequence, 2000 GPUs", "must lie between"),
        ("64 sequences, 512 tokens, 9 ms and 8 sequences, 512 tokens, 7 ms", "at least three different ones"),
        ("4 sequences, 9 tokens, 9 ms, 1 GPUs and 8 sequences, 9 tokens, 9 ms, 2 GPUs", "of different sizes"),
    ],
)
def test_what_is_no_line_is_refused_with_a_reason(text, because):
    with pytest.raises(ValueError, match=r".*\.$") as refusal:
        user_inputs.timed(text)
    assert because in str(refusal.value) and len(str(refusal.value)) < 200


# Lengths


def test_four_numbers_are_quantiles():
    law, text, said = user_inputs.lengths("720, 2000, 4600, 8192")
    assert (law.p50, law.p90, law.p99, law.longest) == (720, 2000, 4600, 8192)
    assert text == "720 2000 4600 8192" and user_inputs.lengths(text)[:2] == (law, text)
    assert "median 720" in said and "longest 8,192" in said


@pytest.mark.parametrize("between", ["\n", ",", " ", "\t", ", ", "\r\n", ";"])
def test_a_column_becomes_its_quantiles(between):
    law, text, said = user_inputs.lengths(between.join(map(str, range(1000, 0, -1))))
    # of 1 to 1000 by linear interpolation: 1 + 999 q
    assert (law.p50, law.p90, law.p99, law.longest) == (500, 900, 990, 1000)  # 500.5 goes to the even neighbor
    assert said.startswith("1,000 lengths: ") and user_inputs.lengths(text)[0] == law


def test_a_heading_is_passed_over_and_thousands_may_have_a_comma():
    column = "response_length\n" + "\n".join(f"{n:,}" for n in range(100, 3100, 100))
    law, _, said = user_inputs.lengths(column)
    assert (law.p50, law.longest) == (1550, 3000) and said.startswith("30 lengths")
    assert user_inputs.lengths("[" + ", ".join(["128"] * 20) + "]")[1] == "128 128 128 128"


@pytest.mark.parametrize(
    "text, because",
    [
        ("720 2000 4600", "3 numbers"),
        ("1 " * 19, "19 numbers"),
        ("2000 720 4600 8192", "quantiles must increase"),
        ("720 4600 2000 8192", "quantiles must increase"),
        ("0 1 2 3", "“0” is not a number of tokens"),
        ("-5 1 2 3", "“-5” is not a number of tokens"),
        ("nan 1 2 3", "“nan” is not a number"),
        ("1 2 3 1e999", "“1e999” is not a number"),
        ("1 2 3 <script>alert(1)</script>", "is not a number"),
        ("1 2 3 4\0", "is not a number"),
        ("two words", "“two” is not a number"),
        ("9" * 60_000, "is not a number"),
    ],
)
def test_what_are_no_lengths_is_refused_with_a_reason(text, because):
    with pytest.raises(ValueError, match=r".*\.$") as refusal:
        user_inputs.lengths(text)
    assert because in str(refusal.value) and len(str(refusal.value)) < 200


def test_the_longest_may_lie_below_the_99th_percentile_and_cuts_the_law():
    law, text, _ = user_inputs.lengths("6116 17049 39327 32768")
    assert law == Law(6116, 17049, 39327, 32768) and text == "6116 17049 39327 32768"
    assert 0.01 < law.truncated < 0.1  # between the 90 % and the 99 % quantile


def test_a_log_that_comes_in_blocks_is_read_like_one_text():
    numbers = np.random.default_rng(5).integers(1, 30_000, 50_000)
    lines = [f"{n}\n" for n in numbers]
    blocks = ["".join(["response_length\n"] * (i == 0) + lines[i : i + 7_000]) for i in range(0, len(lines), 7_000)]
    law, _, said = user_inputs.column(blocks)
    assert [law.p50, law.p90, law.p99] == [round(q) for q in np.quantile(numbers, [0.5, 0.9, 0.99])]
    assert law.longest == numbers.max() and said.startswith("50,000 lengths")
    with pytest.raises(ValueError, match="“x” is not a number"):
        user_inputs.column([*blocks, "x\n"])


def test_more_lengths_than_anyone_has_are_refused(monkeypatch):
    monkeypatch.setattr(user_inputs, "MOST", 99)
    with pytest.raises(ValueError, match="more than 99 lengths"):
        user_inputs.column(["1 2 3 4 5 6 7 8 9 10\n"] * 10)


# Seconds that were measured


@pytest.mark.parametrize(
    "text, seconds, job, short",
    [
        ("step=342.7", {"step": 342.7}, {}, "step=342.7"),
        ("step = 1,024 s; update: 0.125s", {"step": 1024, "update": 0.125}, {}, "step=1024 update=0.125"),
        ("log-probs=12.25\nROLLOUT=3", {"log_probs": 12.25, "rollout": 3}, {}, "log_probs=12.25 rollout=3"),
        (
            "step=342.71281234567, gpus=1,024",
            {"step": 342.71281234567},
            {"gpus": 1024},
            "step=342.71281234567 gpus=1,024",
        ),
        (
            "weights=33.85 overlap=sync reuse=on cache=fp8 share=0.25 test_seconds=2",
            {"weights": 33.85},
            dict(overlap="sync", reuse=True, kv_bytes=1, share=0.25, test_seconds=2.0),
            "weights=33.85 overlap=sync reuse=on cache=fp8 share=0.25 test_seconds=2",
        ),
        (
            "tests=9 model=qwen3-8b chip=h200 lengths=1/2/3/4",
            {"tests": 9},
            dict(model=MODELS["qwen3-8b"], accelerator=ACCELERATORS["h200"], law=Law(1, 2, 3, 4)),
            "tests=9 model=qwen3-8b chip=h200 lengths=1/2/3/4",
        ),
    ],
)
def test_measured_seconds_are_read_exactly_as_typed(text, seconds, job, short):
    found, written, said = user_inputs.measured(text)
    assert (found.seconds, found.job, written) == (seconds, job, short) and said.startswith("Timed on ")
    assert user_inputs.measured(short)[:2] == (found, short)


@pytest.mark.parametrize(
    "text, because",
    [
        ("step=1e308", "must lie between"),
        ("step=0", "must lie between"),
        ("step=inf", "must lie between"),
        ("step=nan", "must lie between"),
        ("step=-5", "must lie between"),
        ("step=", "neither a time nor"),
        ("342.7", "neither a time nor"),
        ("stop=3", "Times are step, rollout, tests, log_probs, update, weights"),
        ("step=3 step=4", "given twice"),
        ("step=3 gpus=4 gpus=5", "given twice"),
        ("gpus=64", "at least one time"),
        ("step=3 gpus=4.5", "is not whole"),
        ("step=3 gpus=9000", "must lie between 1 and 8,192"),
        ("step=3 overlap=both", "is not on offer: sync, carry-over, one-off, async"),
        ("step=3 lengths=3/2/1/1", "quantiles must increase"),
        ("<b>step=3</b>", "neither a time nor"),
    ],
)
def test_what_are_no_measured_seconds_is_refused_with_a_reason(text, because):
    with pytest.raises(ValueError, match=r"\.$") as refusal:
        user_inputs.measured(text)
    assert because in str(refusal.value)


@given(st.lists(st.floats(1, 1e6), min_size=20, max_size=60))
def test_any_column_gives_quantiles_that_rise(column):
    law, text, _ = user_inputs.lengths("\n".join(map(str, column)))
    assert 1 <= law.p50 <= law.p90 <= law.p99 <= law.longest <= round(max(column))
    assert user_inputs.lengths(text)[0] == law


READERS = [user_inputs.model, user_inputs.chip, user_inputs.timed, user_inputs.lengths, user_inputs.measured]


@pytest.mark.parametrize("reader", READERS)
@given(text=st.text(alphabet=string.printable + "é٣😀\0", max_size=60))
def test_any_text_is_read_or_refused_in_one_sentence(reader, text):
    try:
        _, short, said = reader(text)
    except ValueError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert reader(short)[1] == short and said.endswith(".")
