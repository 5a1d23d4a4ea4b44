import pytest

from sim.cluster.hardware import ACCELERATORS, GIB, custom, ridge

A100, H100, H200, B200, MI300X = (ACCELERATORS[key] for key in ("a100_80", "h100", "h200", "b200", "mi300x"))


@pytest.mark.parametrize(
    "accelerator, flop_per_byte", [(A100, 153.0), (H100, 295.3), (H200, 206.1), (B200, 281.2), (MI300X, 246.7)]
)
def test_the_ridge_is_the_work_one_byte_of_memory_must_carry(accelerator, flop_per_byte):
    # dense bf16 FLOP/s over HBM bytes/s of the data sheets, for instance 989.4e12 / 3.35e12
    assert ridge(accelerator) == pytest.approx(flop_per_byte, abs=0.05 + 1e-9)


def test_eight_bit_arithmetic_is_twice_as_fast_except_on_a_tpu_v5p():
    for accelerator in ACCELERATORS.values():
        if accelerator.fp8_tflops is not None and accelerator.key != "l40s":  # whose sheet prints 362.05 and 733
            factor = 1 if accelerator.key == "tpu_v5p" else 2
            assert accelerator.fp8_tflops == pytest.approx(factor * accelerator.bf16_tflops, rel=1e-3)


def test_four_bit_arithmetic_is_at_least_twice_as_fast_as_eight():
    for accelerator in ACCELERATORS.values():
        if accelerator.fp4_tflops is not None:
            assert accelerator.fp4_tflops >= 1.999 * accelerator.fp8_tflops


def test_h200_is_an_h100_with_more_memory():
    assert H200.bf16_tflops == H100.bf16_tflops and H200.fp8_tflops == H100.fp8_tflops
    assert H200.hbm_gb > H100.hbm_gb and H200.hbm_tb_per_second > H100.hbm_tb_per_second


def test_the_often_copied_sparse_numbers_are_not_in_the_table():
    # Web tables list H200 at 1.97 PFLOP/s and MI300X at 2 615 TFLOP/s "dense bf16": both are with 2:4 sparsity.
    assert H200.bf16_tflops < 1000 and MI300X.bf16_tflops < 1400


def test_nvlink_is_counted_in_one_direction():
    # NVIDIA prints 600, 900 and 1800 GB/s, the sum of both directions
    assert [a.scaleup_gb_per_second for a in (A100, H100, B200)] == [300, 450, 900]


def test_without_a_switch_a_pair_sees_one_link_of_seven():
    assert (
        MI300X.scaleup_gb_per_second == 7 * MI300X.peer_gb_per_second == 448
    )  # AMD: 7 links of 128 GB/s, both directions
    assert ACCELERATORS["mi355x"].scaleup_gb_per_second == pytest.approx(7 * ACCELERATORS["mi355x"].peer_gb_per_second)
    assert H100.peer_gb_per_second == H100.scaleup_gb_per_second


def test_google_counts_memory_in_gib():
    assert GIB == 1.073741824
    assert ACCELERATORS["tpu_v5p"].hbm_bytes == pytest.approx(95 * 2**30, rel=1e-12)  # Google Cloud: 95 GiB
    assert ACCELERATORS["tpu_7x"].hbm_bytes == pytest.approx(192 * 2**30, rel=1e-12)
    assert H100.hbm_bytes == 80e9


def test_a_doubtful_row_says_what_is_doubtful():
    doubtful = {a.key for a in ACCELERATORS.values() if not a.verified}
    assert doubtful == {"h20", "gh200", "b200", "gb200", "b300", "mi355x", "tpu_v5p", "h800", "a800_80", "t4", "a10g"}
    assert H100.verified and not H100.unverified


def test_arithmetic_that_a_chip_lacks_is_refused():
    with pytest.raises(ValueError, match=r"A100 80 GB .SXM. has no fp8 arithmetic"):
        A100.flops("fp8")


def test_every_row_stands_under_its_key():
    assert all(key == row.key and row.source for key, row in ACCELERATORS.items())


def test_a_ring_has_the_links_of_a_switch_a_mesh_or_an_axis_of_a_torus():
    def gigabytes(key, ranks):
        return [ACCELERATORS[key].ring_bytes_per_second(n) / 1e9 for n in ranks]

    assert gigabytes("mi300x", (2, 4, 8, 16)) == [64, 192, 448, 400]  # 16 leave the node: its 8 NICs
    assert gigabytes("h100", (2, 8, 16)) == [450, 450, 400]
    # the 72 cards of a GB200 domain carry more than a chip can pass on
    assert gigabytes("gb200", (144,)) == [900]
    # Google: 1,200 GB/s a chip, both directions, over 6 links of a 3-D torus
    assert gigabytes("tpu_v5p", (2, 4, 64)) == gigabytes("tpu_7x", (2, 4, 64)) == [100, 200, 200]


def test_a_chip_of_your_own_is_its_numbers():
    chip = custom(96, 4.0, 148, 296, 450, 8, 50)
    assert (chip.hbm_bytes, chip.flops(), chip.flops("fp8")) == (96e9, 148e12, 296e12)
    assert ridge(chip) == ridge(ACCELERATORS["h20"]) and chip.unverified == "yours"
    assert chip.ring_bytes_per_second(2) == 450e9 and chip.ring_bytes_per_second(16) == 400e9
    with pytest.raises(ValueError, match="your chip has no fp8 arithmetic"):
        custom(96, 4.0, 148, 0, 450, 8, 50).flops("fp8")
