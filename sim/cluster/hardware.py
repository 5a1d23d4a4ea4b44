"""Accelerators: what each can hold, move and multiply. Data, not a model.

From the vendors' data sheets (2020 to 2025), named row by row. GB is 1e9 bytes. Bandwidths are in one direction,
because that is what a ring collective uses; NVIDIA states NVLink as the sum of both directions. FLOP/s are dense; most
sheets state the number with 2:4 sparsity, which is twice that.
"""

from dataclasses import dataclass

GIB = 2**30 / 1e9  # GB per GiB; Google states HBM in GiB, NVIDIA and AMD in GB


@dataclass(frozen=True)
class Accelerator:
    key: str
    name: str
    hbm_gb: float
    hbm_tb_per_second: float
    bf16_tflops: float
    fp8_tflops: float | None
    fp4_tflops: float | None
    scaleup_gb_per_second: float  # to all peers in the scale-up domain together
    peer_gb_per_second: float  # to any one peer; less than the line above if there is no switch
    scaleup_domain: int  # accelerators in the domain
    scaleup_kind: str
    host_gb_per_second: float | None
    nic_gb_per_second: float
    year: int
    source: str
    unverified: str = ""  # the parts of the row that could not be traced to the vendor
    products: float | None = None  # fraction of the peak that large matrix products reach, where that is known apart
    ring_links: int | None = None  # to the peers that a ring can use at once, if a switch or mesh does not give all

    @property
    def verified(self) -> bool:
        return not self.unverified

    @property
    def hbm_bytes(self) -> float:
        # Nominal. A device reports some 6 % more ("80 GB" is about 79 GiB), which roughly pays for the CUDA context,
        # graphs and NCCL buffers.
        return self.hbm_gb * 1e9

    @property
    def hbm_bytes_per_second(self) -> float:
        return self.hbm_tb_per_second * 1e12

    def ring_bytes_per_second(self, n: int) -> float:
        """What each of n ranks can send in rings, in one direction: all links of a switch, n − 1 links of a mesh, two
        of a torus (a ring runs along one axis). Beyond the scale-up domain, one ring is laid over the NIC of each chip
        in a domain, and each ring passes all chips of the domain before it leaves (NCCL). Together they are as fast as
        these NICs, but no faster than the links inside.
        """
        if n > self.scaleup_domain:
            cards = 1e9 * self.nic_gb_per_second * self.scaleup_domain
            return min(cards, self.ring_bytes_per_second(self.scaleup_domain))
        links = max(n - 1, 1) if self.ring_links is None else min(self.ring_links, max(n - 1, 1))
        return 1e9 * min(self.scaleup_gb_per_second, self.peer_gb_per_second * links)

    def flops(self, dtype: str = "bf16") -> float:
        """Dense FLOP/s in bf16, fp8 or fp4."""
        tflops = dict(bf16=self.bf16_tflops, fp8=self.fp8_tflops, fp4=self.fp4_tflops)[dtype]
        if tflops is None:
            raise ValueError(f"{self.name} has no {dtype} arithmetic")
        return tflops * 1e12


def ridge(accelerator: Accelerator, dtype: str = "bf16") -> float:
    """FLOP the chip can do in the time it takes to read one byte of HBM. Work below this intensity waits for memory."""
    return accelerator.flops(dtype) / accelerator.hbm_bytes_per_second


def custom(
    hbm_gb: float,
    hbm_tb_per_second: float,
    bf16_tflops: float,
    fp8_tflops: float,
    scaleup_gb_per_second: float,
    scaleup_domain: int,
    nic_gb_per_second: float,
) -> Accelerator:
    """A chip that is not in the table, from the numbers of its data sheet: dense FLOP/s, links in one direction; 0
    TFLOP/s in fp8 if it has no such arithmetic.
    """
    return Accelerator(
        "custom",
        "your chip",
        hbm_gb,
        hbm_tb_per_second,
        bf16_tflops,
        fp8_tflops or None,
        None,
        scaleup_gb_per_second,
        scaleup_gb_per_second,
        scaleup_domain,
        "yours",
        None,
        nic_gb_per_second,
        0,
        "yours",
        "yours",
    )


NVLINK, C2C, MESH, TORUS = "NVLink, switched", "NVLink and NVLink-C2C", "all-to-all links, no switch", "ICI, 3-D torus"
PCIE = "PCIe, no other links"

# fmt: off
# The H20 has the memory of an H100 and a seventh of its arithmetic, which is therefore better fed: users of verl report
# up to 83 % of its peak in whole updates of Qwen3-14B (ISEEKYAN/verl_megatron_practice, dapo14b.csv, 2026)
# key, name, HBM in GB, in TB/s; TFLOP/s in bf16, fp8, fp4; GB/s to all peers, to one; domain, its kind; GB/s to the
# host, of the NIC; year
_ROWS = [
    Accelerator("a100_80", "A100 80 GB (SXM)", 80, 2.039, 312, None, None, 300, 300, 8, NVLINK, 32, 25, 2020,
                "NVIDIA A100 datasheet"),
    Accelerator("a100_40", "A100 40 GB (SXM)", 40, 1.555, 312, None, None, 300, 300, 8, NVLINK, 32, 25, 2020,
                "NVIDIA A100 datasheet"),
    Accelerator("a800_80", "A800 80 GB (SXM)", 80, 2.039, 312, None, None, 200, 200, 8, NVLINK, 32, 25, 2022,
                "agreeing trade press", "the row: an A100 with links of 400 GB/s in both directions"),
    Accelerator("h800", "H800 (SXM)", 80, 3.35, 989.4, 1978.9, None, 200, 200, 8, NVLINK, 64, 50, 2023,
                "DeepSeek-V3 technical report", "the row: an H100 with links of 400 GB/s in both directions"),
    Accelerator("h100", "H100 (SXM)", 80, 3.35, 989.4, 1978.9, None, 450, 450, 8, NVLINK, 64, 50, 2022,
                "NVIDIA H100 datasheet"),
    Accelerator("h200", "H200 (SXM)", 141, 4.8, 989.4, 1978.9, None, 450, 450, 8, NVLINK, 64, 50, 2023,
                "NVIDIA H200 datasheet"),
    Accelerator("h20", "H20", 96, 4.0, 148, 296, None, 450, 450, 8, NVLINK, 64, 50, 2023,
                "agreeing trade press", "the row: no public data sheet", products=0.9),
    Accelerator("gh200", "GH200 144 GB", 144, 4.9, 989.4, 1978.9, None, 450, 450, 32, C2C, 450, 50, 2023,
                "NVIDIA GH200 datasheet", "the row: read in secondary sources; the domain is 1 to 32"),
    Accelerator("b200", "B200 (HGX)", 180, 8.0, 2250, 4500, 9000, 900, 900, 8, NVLINK, 64, 50, 2024,
                "NVIDIA HGX B200 datasheet", "HBM bandwidth: some sheets print 7.7 TB/s for the HGX board"),
    Accelerator("gb200", "GB200 (NVL72)", 186, 8.0, 2500, 5000, 10000, 900, 900, 72, NVLINK, 225, 50, 2024,
                "NVIDIA GB200 datasheet", "host link: 450 to a Grace that serves two GPUs, taken as half each"),
    Accelerator("b300", "B300 (HGX)", 270, 8.0, 2250, 4500, 13500, 900, 900, 8, NVLINK, 128, 100, 2025,
                "NVIDIA HGX B300 datasheet",
                "usable memory, bandwidth and fp4: sheets print 7.7 or 8 TB/s and 13.1 to 14 PFLOP/s"),
    # cards on PCIe alone; FLOP/s with sums in fp32, in which the GeForce cards have half their rate
    Accelerator("t4", "T4 16 GB", 16, 0.32, 65, None, None, 16, 16, 8, PCIE, 16, 6.25, 2018,
                "NVIDIA T4 datasheet", "bf16: the rate of fp16, which it computes in"),
    Accelerator("l4", "L4 24 GB", 24, 0.3, 121, 242, None, 32, 32, 8, PCIE, 32, 12.5, 2023, "NVIDIA L4 datasheet"),
    Accelerator("a10g", "A10G 24 GB", 24, 0.6, 70, None, None, 32, 32, 8, PCIE, 32, 12.5, 2021,
                "Amazon EC2 G5 instances", "FLOP/s: no public data sheet"),
    Accelerator("rtx3090", "RTX 3090 24 GB", 24, 0.936, 71, None, None, 32, 32, 8, PCIE, 32, 12.5, 2020,
                "NVIDIA Ampere GA102 whitepaper"),
    Accelerator("rtx4090", "RTX 4090 24 GB", 24, 1.008, 165.2, 330.3, None, 32, 32, 8, PCIE, 32, 12.5, 2022,
                "NVIDIA Ada whitepaper"),
    Accelerator("rtx5090", "RTX 5090 32 GB", 32, 1.792, 209.5, 419, 1676, 64, 64, 8, PCIE, 64, 12.5, 2025,
                "NVIDIA RTX Blackwell whitepaper"),
    Accelerator("a6000", "RTX A6000 48 GB", 48, 0.768, 154.8, None, None, 32, 32, 8, PCIE, 32, 12.5, 2020,
                "NVIDIA RTX A6000 datasheet"),
    Accelerator("l40s", "L40S 48 GB", 48, 0.864, 362.05, 733, None, 32, 32, 8, PCIE, 32, 25, 2023,
                "NVIDIA L40S datasheet"),
    Accelerator("rtx6000_ada", "RTX 6000 Ada 48 GB", 48, 0.96, 364.2, 728.5, None, 32, 32, 8, PCIE, 32, 12.5, 2022,
                "NVIDIA RTX 6000 Ada datasheet"),
    Accelerator("mi300x", "MI300X", 192, 5.3, 1307.4, 2614.9, None, 448, 64, 8, MESH, 64, 50, 2023,
                "AMD MI300X data sheet"),
    Accelerator("mi355x", "MI355X", 288, 8.0, 2516.6, 5033.2, 10066, 537.6, 76.8, 8, MESH, 64, 50, 2025,
                "AMD MI355X data sheet", "the decimals of FLOP/s and links"),
    Accelerator("tpu_v5p", "TPU v5p", 95 * GIB, 2.765, 459, 459, None, 600, 100, 8960, TORUS, 32, 6.25, 2023,
                "Google Cloud documentation", "host link", ring_links=2),
    Accelerator("tpu_7x", "TPU7x (Ironwood)", 192 * GIB, 7.38, 2307, 4614, None, 600, 100, 9216, TORUS, None, 12.5,
                2025, "Google Cloud documentation", ring_links=2),  # 1,200 GB/s over 6 links, both directions
]
# fmt: on
ACCELERATORS = {row.key: row for row in _ROWS}
