from rlpt import options as algorithms
from rlpt import programs
from rlpt.planning import options as cluster


def test_the_versions_are_those_that_were_read():
    read = {"vLLM": "0.33.0", "SGLang": "0.5.23", "verl": "0.9.1", "TRL": "1.16.0", "OpenRLHF": "0.11.2"}
    assert read == programs.VERSIONS


def test_a_batch_has_the_same_trainer_options_on_pages_about_machines_and_about_algorithms():
    """On pages about machines a step may have several updates, each on its part of the batch."""

    def of_a_step(option):
        return option.replace("{of_update}", "{}").replace("_of_update", "")

    for quantity, (_, named) in programs.BATCH.items():
        for table in (cluster.TABLE, algorithms.TABLE):
            assert named == {program: of_a_step(table[quantity][1][program]) for program in named}
