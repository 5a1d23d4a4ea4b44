"""What the search box lists: the book's own worker and index, asked outside the browser."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from tests.browser.conftest import built
from tools.pages import lessons

# Which lesson answers what a reader types: the lesson that defines it, or whose argument it is.
EXPECTED = {
    "PPO": "10-ppo",
    "GRPO": "11-grpo",
    "RLOO": "12-rloo",
    "DAPO": "13-dapo",
    "Dr. GRPO": "14-dr-grpo",
    "dr grpo": "14-dr-grpo",
    "REINFORCE": "09-reinforce",
    "DPO": "16-dpo",
    "SimPO": "16-dpo",
    "direct preference optimization": "16-dpo",
    "advantage": "04-algorithm",
    "KL penalty": "03-reward-and-reference",
    "reward hacking": "03-reward-and-reference",
    "reward model": "15-rlhf",
    "RLHF": "15-rlhf",
    "Bradley-Terry": "15-rlhf",
    "overoptimization": "15-rlhf",
    "k3": "03a-kl-estimators",
    "importance sampling": "06-weight-sync",
    "off policy": "19a-off-policy",
    "red team": "18b-red-team",
    "held-out verifier": "18b-red-team",
    "weight sync": "06-weight-sync",
    "async": "22c-asynchrony",
    "staleness": "22c-asynchrony",
    "DeepSeek-R1": "23-recipes",
    "held-out scorer": "23-recipes",
    "colocated": "19-topology",
    "entropy collapse": "12-rloo",
    "leave one out": "12-rloo",
    "paged attention": "20-kv-cache",
    "KV cache": "20-kv-cache",
    "out of memory": "20-kv-cache",
    "vllm": "20-kv-cache",
    "golden set": "18-verifiers",
    "false positive": "18-verifiers",
    "LLM judge": "18-verifiers",
    "continuous batching": "21-scheduling",
    "speculative decoding": "21-scheduling",
    "chunked prefill": "21-scheduling",
    "bottleneck": "28-bottlenecks",
    "infra engineer": "24-infra-engineer",
    "long tail": "22b-long-tail",
    "stragglers": "22b-long-tail",
    "throughput": "22a-throughput",
    "ZeRO": "22-memory",
    "gradient checkpointing": "22-memory",
    "optimizer state": "22-memory",
    "tool mask": "08-agentic",
    "tokenization": "02-rollout",
    "rollout": "02-rollout",
    "trainer": "05-trainer",
    "gradient accumulation": "05-trainer",
    "baseline": "09-reinforce",
    "length bias": "14-dr-grpo",
    "clip": "10-ppo",
    "ratio": "10-ppo",
    "overlong": "13-dapo",
    "dynamic sampling": "13-dapo",
    "decontamination": "18a-curation",
    "prompt selection": "18a-curation",
    "PRM": "17-search",
    "process reward model": "17a-process-rewards",
    "beam search": "17-search",
    "compare algorithms": "compare",
    "glossary": "words",
    "notation": "words",
    "nat": "words",
}


def found(*queries):
    """For each query the pages in the order in which the box lists them."""
    asked = Path(__file__).parent / "search.mjs"
    worker = next(Path(os.environ["BOOK_SITE"]).glob("**/workers/search.*.min.js"))
    command = [shutil.which("node"), asked, worker, built("search_index.json"), *queries]
    said = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    return {query: json.loads(line) for query, line in zip(queries, said.splitlines(), strict=True)}


def test_what_readers_type_leads_to_the_lesson_that_answers_it():
    results = found(*EXPECTED)
    assert {query: pages[:1] for query, pages in results.items()} == {q: [page] for q, page in EXPECTED.items()}


def test_a_lesson_is_found_first_by_its_name_and_by_every_word_it_is_also_looked_for():
    wanted = {word: page.stem for page in lessons.finished() for word in (page.short, *page.also)}
    results = found(*wanted)
    assert {word: pages[:1] for word, pages in results.items()} == {word: [stem] for word, stem in wanted.items()}
