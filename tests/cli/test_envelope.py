# SPDX-License-Identifier: Apache-2.0
"""The envelope of JSON: one shape for every verb, described in docs/envelope.schema.json; the same line by line."""
import gzip
import json

import pytest

import support

jsonschema = pytest.importorskip("jsonschema")

EXAMPLES = support.ROOT / "examples"
SCHEMA = json.loads((support.ROOT / "docs" / "envelope.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def verbs():
    return {verb["name"]: verb for verb in json.loads(support.output("help", "--json"))["verbs"]}


def inputs(usage):
    """Arguments that fit a verb's usage: ranks that wait for each other, two runs, or an execution trace."""
    if usage.startswith("ET"):
        kineto = ["--kineto", EXAMPLES / "et" / "with_kineto.json.gz"] if "--kineto" in usage else []
        return [EXAMPLES / "et" / "with_kineto.et.json.gz", *kineto]
    if "--base" in usage:
        return ["--base", EXAMPLES / "diff" / "control", "--test", EXAMPLES / "diff" / "test"]
    if usage.startswith("BASELINE"):
        return [EXAMPLES / "diff" / "control", EXAMPLES / "diff" / "test"]
    return [EXAMPLES / "straggler"]


ANALYSES = [name for name, verb in verbs().items() if verb["kind"] == "analysis"]


def ask(name, *more, form="json"):
    usage = verbs()[name]["usage"]
    done = support.run(name, *inputs(usage), "--top", "3", "--format", form, *more)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", ANALYSES)
def test_every_verb_has_the_shape(name):
    done = ask(name)
    result = json.loads(done.stdout)
    VALIDATOR.validate(result)
    assert set(result) == set(SCHEMA["required"]), "a key that the schema does not tell of"
    assert result["verb"] == name and result["check_failed"] == (done.returncode == 1)
    assert all(len(row) == len(result["columns"]) for row in result["rows"])
    assert result["truncated"] == (result["n_hidden"] > 0)
    known = {option["name"] for option in verbs()[name]["options"]}
    assert set(result["parameters"]) - {"n-base", "et"} <= known
    for question in result["next"]:
        assert question["verb"] in verbs(), question


@pytest.mark.parametrize("name", ["summary", "kernels", "diff", "events"])
def test_lines_hold_the_same(name):
    whole = json.loads(ask(name).stdout)
    lines = [json.loads(line) for line in ask(name, form="ndjson").stdout.splitlines()]
    begin, end = lines[0], lines[-1]
    assert begin.pop("type") == "begin" and end.pop("type") == "end"
    names = [column["name"] for column in whole["columns"]]
    rows = [[line["row"][key] for key in names] for line in lines[1:-1] if line["type"] == "row"]
    assert len(rows) == len(lines) - 2
    assert {**begin, **end, "rows": rows} == whole


def test_parameters_selection_and_inputs():
    result = json.loads(support.output(
        "temporal-breakdown", EXAMPLES / "straggler", "--rank", "1,3", "--step", "4", "--format", "json"))
    assert result["parameters"]["rank"] == "1,3" and result["parameters"]["step"] == "4"
    assert result["parameters"]["annotation"] is None and result["parameters"]["hta-compat"] == "false"
    assert result["selection"] == {"sets": [{"ranks": [1, 3], "steps": "step 4"}]}
    assert [(file["set"], file["rank"]) for file in result["inputs"]] == [(0, 1), (0, 3)]
    assert len({file["hash"] for file in result["inputs"]}) == 2
    both = json.loads(ask("diff").stdout)
    assert len(both["selection"]["sets"]) == 2 and {file["set"] for file in both["inputs"]} == {0, 1}


def test_the_hash_is_that_of_the_recording(tmp_path):
    """Plain or compressed, cached or not: the same. Another step time: another."""
    text = gzip.decompress((EXAMPLES / "train" / "train.json.gz").read_bytes())
    (tmp_path / "plain.json").write_bytes(text)
    (tmp_path / "other.json").write_bytes(text.replace(b'"ProfilerStep#', b'"ProfilerStep#1', 1))

    def hash_of(path, *more):
        return json.loads(support.output("info", path, "--format", "json", *more))["inputs"][0]["hash"]
    want = hash_of(EXAMPLES / "train" / "train.json.gz")
    assert hash_of(tmp_path / "plain.json", "--no-cache") == want
    assert hash_of(tmp_path / "plain.json") == hash_of(tmp_path / "plain.json") == want
    assert hash_of(tmp_path / "other.json") != want


def test_a_query_has_it_too():
    result = json.loads(support.output("sql", EXAMPLES / "train", "SELECT :n AS n", "--set", "n=7", "--format", "json"))
    VALIDATOR.validate(result)
    assert result["verb"] == "sql" and result["rows"] == [[7]]
    assert result["parameters"] == {"query": "SELECT :n AS n", "n": "7"}


def test_next_has_what_was_found_first():
    """Rows that are findings name what shows more; each question stands once."""
    result = json.loads(support.output("summary", EXAMPLES / "straggler", "--format", "json"))
    at = {column["name"]: i for i, column in enumerate(result["columns"])}
    want = []
    for state in (True, False):
        for row in result["rows"]:
            question = {"verb": row[at["next_verb"]], "args": json.loads(row[at["next_args"]] or "{}")}
            if question["verb"] and (row[at["state"]] == "found") == state and question not in want:
                want.append(question)
    assert len(want) > 5 and result["next"] == want
