# SPDX-License-Identifier: Apache-2.0
"""What TensorBoard's plugins had: hooks of PyTorch Lightning, and losses of training logs side by side."""
import json

import pytest

import served
from web import evaluate, needs_browser, needs_node

MEGATRON = """ iteration        1/    5000 | consumed samples:            8 | lm loss: 1.073E+01 | loss scale: 1.0 |
 iteration        2/    5000 | consumed samples:           16 | lm loss: 9.5 | loss scale: 1.0 |
saving checkpoint at iteration 2
 iteration        4/    5000 | consumed samples:           32 | lm loss: 8 | loss scale: 1.0 |
 iteration        5/    5000 | lm loss: nan |
"""
OTHER = "iteration 1 loss: 10.0\niteration 2 loss: 9.75\niteration 3 loss: 9\niteration 4 loss: 0\n"


@needs_node
def test_losses_of_logs():
    """The first whole number behind one word and the number in the first word behind the other, in one line; a line without either is none.
    Differences at iterations 1, 2, 4: 10 - 10.73, 9.75 - 9.5, 0 - 8; over the first 0.73 / 10.73, 0.25 / 9.5, 1; of a loss of 0 nothing."""
    source = """
    import { differences, freeName, lossesOf, lossTable } from "./views/logs";
    const tags = { iteration: "iteration", loss: "loss:" }, a = lossesOf(input.a, tags), b = lossesOf(input.b, tags);
    answer = { a: [...a], b: [...b], step: [...lossesOf("step=7 train_loss=-.5e1 rest", { iteration: "step=", loss: "train_loss=" })],
      none: [...lossesOf(input.a, { iteration: "", loss: "loss:" })],
      normal: differences(a, b, "normal"), absolute: differences(a, b, "absolute"), relative: differences(a, b, "relative"),
      back: differences(b, a, "relative"), table: lossTable([{ name: "a", losses: a }, { name: "b", losses: b }]).rows,
      names: [freeName("x", ["x", "x (1)"]), freeName("y", ["x"])] };"""
    answer = evaluate(source, {"a": MEGATRON, "b": OTHER})
    assert answer["a"] == [[1, 10.73], [2, 9.5], [4, 8]] and answer["b"] == [[1, 10], [2, 9.75], [3, 9], [4, 0]]
    assert answer["step"] == [[7, -5]] and answer["none"] == []
    assert [at for at, _ in answer["normal"]] == [1, 2, 4]
    assert [value for _, value in answer["normal"]] == pytest.approx([-0.73, 0.25, -8])
    assert [value for _, value in answer["absolute"]] == pytest.approx([0.73, 0.25, 8])
    assert [value for _, value in answer["relative"]] == pytest.approx([0.73 / 10.73, 0.25 / 9.5, 1])
    assert [value for _, value in answer["back"]] == pytest.approx([0.073, 0.25 / 9.75, 0])
    assert answer["table"] == [[1, 10.73, 10], [2, 9.5, 9.75], [3, None, 9], [4, 8, 0]]
    assert answer["names"] == ["x (2)", "y"]


@needs_node
def test_names_of_hooks():
    source = 'import { hookOf, hookPaths } from "./views/hooks"; answer = { hooks: input.map(hookOf), paths: hookPaths([' \
             '{ stack: "a;[pl][profile]x;b;[pl][profile]y;c", self: 3 }, { stack: "[pl][profile]x;[pl][profile]y", self: 4 }, { stack: "q", self: 9 }]) };'
    hooks = {
        "[pl][profile]run_training_batch": {"owner": "Trainer", "name": "run_training_batch"},
        "[pl][profile][Strategy]DDPStrategy.backward": {"owner": "Strategy", "name": "DDPStrategy.backward"},
        "[pl][profile][Callback]ModelCheckpoint{'monitor': 'a.b', 'mode': 'min'}.on_train_batch_end":
            {"owner": "Callback", "name": "ModelCheckpoint.on_train_batch_end"},
        "[pl][profile][_TrainingEpochLoop].train_dataloader_next": {"owner": "TrainingEpochLoop", "name": "train_dataloader_next"},
        "[pl][module]torch.nn.Linear: fc": None,
    }
    answer = evaluate(source, list(hooks))
    assert answer["hooks"] == list(hooks.values())
    assert answer["paths"] == [{"path": ["[pl][profile]x", "[pl][profile]y"], "self": 7}]


def lightning_trace():
    """Three steps of a trainer: a batch of 100 us, in it the module's step of 60 and a callback of 30, which launch kernels of 40 and 5 us."""
    events, base = [], {"ph": "X", "pid": 1, "tid": 1}
    for step in range(3):
        at = 1000 + step * 1000
        events += [
            dict(base, cat="user_annotation", name=f"ProfilerStep#{step}", ts=at - 10, dur=500),
            dict(base, cat="user_annotation", name="[pl][profile]run_training_batch", ts=at, dur=100),
            dict(base, cat="user_annotation", name="[pl][profile][LightningModule]Net.training_step", ts=at + 5, dur=60),
            dict(base, cat="user_annotation", name="[pl][profile][Callback]Watch{'x': '<b>'}.on_train_batch_end", ts=at + 68, dur=30),
        ]
        for i, (start, dur) in enumerate([(10, 40), (70, 5)]):
            link = {"correlation": 10 * step + i + 1}
            events += [dict(base, cat="cpu_op", name="aten::mm", ts=at + start, dur=8),
                       dict(base, cat="cuda_runtime", name="cudaLaunchKernel", ts=at + start + 2, dur=3, args=link),
                       dict(base, cat="kernel", name=f"gemm{i}", pid=0, tid=7, ts=at + start + 20, dur=dur, args=dict(link, device=0, stream=7))]
    return {"schemaVersion": 1, "traceEvents": events}


@needs_browser
@served.needs_serve
def test_hooks_and_losses_on_the_page(tmp_path):
    runs = tmp_path / "runs"
    for name, trace in (("lightning", lightning_trace()), ("plain", {"schemaVersion": 1, "traceEvents": [
            {"ph": "X", "pid": 1, "tid": 1, "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}]})):
        (runs / name).mkdir(parents=True)
        (runs / name / "worker.json").write_text(json.dumps(trace))
    for name, text in (("slow.log", MEGATRON), ("fast.log", OTHER)):
        (tmp_path / name).write_text(text)
    with served.serving(runs) as url:
        served.wait_ready(url, 2)
        served.drive("plugin_views.mjs", url, tmp_path / "slow.log", tmp_path / "fast.log")
