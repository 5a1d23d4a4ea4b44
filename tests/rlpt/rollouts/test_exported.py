import json

from rlpt import rollouts
from rlpt.rollouts import exported, sentences, words
from tests.rlpt.rollouts.test_seen import reported
from tests.rlpt.rollouts.test_words import seen
from tests.sim.rollouts import shipped


def test_as_data_it_has_the_same_sentences_and_no_nan():
    text = (shipped.FOLDER / "cut-off.jsonl").read_bytes()
    read = rollouts.read([("cut-off.jsonl", [text])])
    data = json.loads(json.dumps(exported.as_dict(read, reported("cut-off"), seen("cut-off", 1)), allow_nan=False))
    assert data["headline"] == " ".join(words.headline(seen("cut-off", 1)))
    assert [one["says"] for one in data["findings"]] == [
        sentences.sentence(one) for one in reported("cut-off").findings
    ]
    assert data["completions"] == 320 and data["steps"][0]["cut"] == 64 and data["advantages"]["rule"] is None
