#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Write a replay trace and its capture: N launches of a graph of K kernels, as a CUDA run of a serving engine has them.

    bench/graph_replays.py FOLDER [--replays 10000] [--kernels 500]

Then: time holotrace health FOLDER/replay.json --no-cache            loading alone
      time holotrace attribution FOLDER/replay.json --no-cache --attach FOLDER/capture.json
The second should take at most 10 % longer: replays share one alignment.
"""
import argparse
import pathlib

OPS = [("aten::addmm", "nvjet_sm90_tst_{}x64_h_bz_bias_TNT"), ("aten::native_layer_norm", "vectorized_layer_norm_kernel<{}>"),
       ("aten::gelu", "vectorized_elementwise_kernel<{}, GeluCUDAKernelImpl>"), ("aten::add", "vectorized_elementwise_kernel<{}, add>")]


def event(cat, name, pid, tid, ts, dur, args):
    return f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts:.3f},"dur":{dur},"args":{{{args}}}}}'


def write_replay(path, n_replays, n_kernels):
    names = [OPS[i % len(OPS)][1].format(64 + i // len(OPS) % 7) for i in range(n_kernels)]
    with open(path, "w") as file:
        file.write('{"schemaVersion":1,"traceEvents":[\n')
        for replay in range(n_replays):
            start = replay * (n_kernels * 3 + 20)
            lines = [event("user_annotation", "execute_8", 9, 9, start, 10, ""),
                     event("cuda_runtime", "cudaGraphLaunch", 9, 9, start + 1, 5, f'"correlation":{replay + 1}')]
            lines += [event("kernel", name, 0, 7, start + 10 + 3 * i, 2, f'"device":0,"stream":7,"correlation":{replay + 1}')
                      for i, name in enumerate(names)]
            file.write((",\n" if replay else "") + ",\n".join(lines))
        file.write("\n]}\n")


def write_capture(path, n_kernels):
    lines = [event("user_annotation", "capture_8_FULL", 9, 9, 0, 10 * n_kernels + 20, ""),
             event("cuda_runtime", "cudaStreamBeginCapture", 9, 9, 1, 1, '"correlation":1')]
    for i in range(n_kernels):
        op, _ = OPS[i % len(OPS)]
        lines += [event("cpu_op", op, 9, 9, 5 + 10 * i, 8, f'"External id":{i + 1},"Input Dims":[[{64 + i // len(OPS) % 7},8]]'),
                  event("cuda_runtime", "cudaLaunchKernel", 9, 9, 7 + 10 * i, 2, f'"External id":{i + 1},"correlation":{i + 2}')]
    lines.append(event("cuda_runtime", "cudaStreamEndCapture", 9, 9, 10 * n_kernels + 10, 1, f'"correlation":{n_kernels + 2}'))
    path.write_text('{"schemaVersion":1,"traceEvents":[\n' + ",\n".join(lines) + "\n]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--replays", type=int, default=10000)
    parser.add_argument("--kernels", type=int, default=500)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    write_replay(args.folder / "replay.json", args.replays, args.kernels)
    write_capture(args.folder / "capture.json", args.kernels)


if __name__ == "__main__":
    main()
