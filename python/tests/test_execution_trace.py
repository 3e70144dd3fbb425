# SPDX-License-Identifier: Apache-2.0
"""Execution traces from Python: functions of the package, and HTA's module."""
import os
import pathlib

import numpy as np
import pandas as pd
import pytest

import holotrace
from holotrace.common import execution_trace
from holotrace.trace_analysis import TraceAnalysis

EXTRA = os.environ.get("HOLOTRACE_EXTRA_DATA")


@pytest.fixture(scope="module")
def folder(examples):
    return examples / "et"


@pytest.fixture(scope="module")
def pair(folder):
    return str(folder / "with_kineto.et.json.gz"), str(folder / "with_kineto.json.gz")


def test_functions(pair):
    et, kineto = pair
    assert len(holotrace.et_nodes(et)) == 147
    assert len(holotrace.et_nodes(et, where="kind = op", columns=["id", "name"], top=5)) == 5
    assert not holotrace.et_check(et).check_failed
    assert not holotrace.et_check(et, kineto).check_failed
    frame = holotrace.et_link([et], kineto).to_pandas()
    assert frame.loc[0, "linked"] == 144 and frame.loc[0, "kernels"] == 26
    with holotrace.open(kineto) as session:
        assert len(session.et_link(et=et, view="nodes")) == 147
        assert len(session.et_nodes(et=et)) == 147


def test_errors(pair, tmp_path):
    with pytest.raises(holotrace.InputError, match="not an execution trace"):
        holotrace.et_nodes(pair[1])
    with pytest.raises(holotrace.UsageError, match="needs the Kineto trace"):
        holotrace._session._over_files("et-link", pair[0], None, {})


def correlated(trace_dir, et_file):
    """What HTA's notebook does."""
    analyzer = TraceAnalysis(trace_dir=str(trace_dir))
    et = execution_trace.load_execution_trace(str(et_file))
    execution_trace.correlate_execution_trace(analyzer.t, 0, et)
    frame = analyzer.t.get_trace(0)
    for column in ("op_schema", "input_shapes", "input_types", "output_shapes", "output_types", "et_node_name"):
        execution_trace.add_et_column(frame, et, column)
    return analyzer, et, frame


def test_correlate(folder, pair):
    analyzer, et, frame = correlated(folder, pair[0])
    assert len(et.nodes) == 147 and et.nodes[1].name.endswith("process]")
    names = analyzer.t.symbol_table.get_sym_table()
    joined = frame[frame["et_node"].notna()]
    # the frame leaves the last step out; every call that is in it has its node
    supported = [analyzer.t.symbol_table.get_sym_id_map()[cat] for cat in
                 execution_trace.EXECUTION_TRACE_SUPPORTED_EVENTS]
    assert len(joined) and set(joined.index) == set(frame[frame["cat"].isin(supported)].index)
    for _, row in joined.iterrows():
        node = et.nodes[int(row["et_node"])]
        assert names[int(row["name"])] == node.name == row["et_node_name"]
        assert row["op_schema"] == node.op_schema and row["input_shapes"] == node.input_shapes
        assert isinstance(row["input_types"], list)
    others = frame[frame["et_node"].isna()]
    assert len(others) and others["op_schema"].isna().all()


def test_nodes_as_objects(pair):
    et = execution_trace.load_execution_trace(pair[0])
    root = et.nodes[1]
    assert {child.name for child in root.children} == {"[pytorch|profiler|execution_trace|thread]"}
    add = next(node for node in et.nodes.values() if node.op_schema.startswith("aten::add."))
    assert add.parent.id == add.parent_id and add.rf_id > 0 and len(add.inputs) == len(add.input_types)
    with pytest.raises(AttributeError):
        add.speed
    with pytest.raises(KeyError):
        et.nodes[10 ** 9]


def test_other_run(folder, examples, pair, caplog):
    """An execution trace of another run: an error, and no column."""
    analyzer = TraceAnalysis(trace_dir=str(examples / "train"))
    et = execution_trace.load_execution_trace(pair[0])
    execution_trace.correlate_execution_trace(analyzer.t, 0, et)
    frame = analyzer.t.get_trace(0)
    assert "et_node" not in frame and "cannot be correlated" in caplog.text
    execution_trace.add_et_column(frame, et, "op_schema")
    assert "op_schema" not in frame and "run correlate_execution_trace" in caplog.text


@pytest.mark.skipif(not EXTRA, reason="HOLOTRACE_EXTRA_DATA is not set")
def test_sample_of_hta():
    """The numbers that HTA's own notebook shows."""
    found = sorted(pathlib.Path(EXTRA).rglob("benchmark_simple_add_et.json.gz"))
    if not found:
        pytest.skip("skipped: no sample of HTA")
    _, et, frame = correlated(found[0].parent, found[0])
    assert len(et.nodes) == 38
    assert frame["et_node"].head(5).tolist() == [3.0, 4.0, 5.0, 8.0, 9.0]
    assert frame["et_node"].notna().sum() == 36
    first = frame.iloc[0]
    assert first["op_schema"] == "" and first["input_shapes"] == [] and isinstance(first["et_node"], np.floating)
    assert isinstance(frame, pd.DataFrame)
