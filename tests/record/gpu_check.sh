#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything about the recorder that needs a GPU: gpu_check.sh BUILD_DIR LOG_DIR.
#
# BUILD_DIR holds the built programs, libraries and Python package; python3 must have torch, and nvcc must
# be there. Writes check.log; what it said last is in tests/record/gpu_check.log. Takes a few minutes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
work=$(mktemp -d)
failed=0
export PYTHONPATH=$build/python PYTHONUNBUFFERED=1 HOLOTRACE_TORCH_DIR=$work/shim
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

step() {
	echo "--- $*"
	"$@" 2>&1 || {
		failed=$((failed + 1))
		echo "FAILED: $* (exit $?)"
	}
}

all() {
	step "$build/fake_ops" bench "$work/bench.json"
	step python3 -m holotrace.torch build
	step python3 "$here/torch_check.py" "$work/torch"
	step nvcc -std=c++17 -arch=native -I"$here/../../include" "$here/cuda_work.cu" -o "$work/cuda_work" \
		-L"$build" -lholotrace-record
	step "$work/cuda_work" "$work/own.et.json" "$work/own.json"
	step python3 "$here/check_cuda.py" "$work/own.json" "$work/own.et.json"
	step "$build/holotrace" record -o "$work/injected.json" -- "$work/cuda_work"
	step python3 "$here/check_cuda.py" "$work/injected.json"
	for verb in health temporal-breakdown kernel-breakdown launch-stats idle-breakdown queue-length \
		kernel-annotations memory-bandwidth critical-path; do
		step "$build/holotrace" "$verb" "$work/own.json"
	done
	gzip -c "$work/own.json" >"$out/own.json.gz"
	gzip -c "$work/injected.json" >"$out/injected.json.gz"
	gzip -c "$work/own.et.json" >"$out/own.et.json.gz"
	echo "$failed steps failed"
}

all | tee "$out/check.log"
rm -rf "$work"
grep -q '^0 steps failed$' "$out/check.log"
