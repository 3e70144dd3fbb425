/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_work.cu - a small CUDA program to be recorded, from outside and from inside.
 *
 *     cuda_work              does its work; `holotrace record -- cuda_work` records it
 *     cuda_work ET TIMELINE  records itself, with operators and annotations around the work
 *
 * Three steps of: copy in, two kernels on each of two streams, an event that the second stream waits for,
 * a set, copy out, synchronise. tests/record/check_cuda.py knows the numbers.
 */
#include "holotrace-record.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
static void nvtxRangePushA(const char *) {}
static void nvtxRangePop() {}
#endif

#define N (1 << 20)

__global__ void scale(float *x, float by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		x[i] *= by;
}

template <typename T> __global__ void shift(T *x, T by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		x[i] += by;
}

static void need(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "cuda_work: %s\n", cudaGetErrorString(error));
	exit(1);
}

static uint64_t begin(const char *name)
{
	ht_record_call call = {};
	call.name = ht_record_name(name, strlen(name));
	call.sequence = -1;
	return ht_record_begin(&call);
}

int main(int argc, char **argv)
{
	ht_record_options options = {};
	options.struct_size = sizeof options;
	options.flags = HT_RECORD_CUDA;
	options.trace_path = argc > 2 ? argv[2] : nullptr;
	if (argc > 2 && (ht_record_register(argv[1], &options) || ht_record_start())) {
		fprintf(stderr, "cuda_work: %s\n", ht_record_error());
		return 1;
	}
	float *host, *device;
	cudaStream_t streams[2];
	cudaEvent_t done;
	need(cudaMallocHost(&host, N * sizeof *host));
	need(cudaMalloc(&device, N * sizeof *device));
	need(cudaStreamCreate(&streams[0]));
	need(cudaStreamCreate(&streams[1]));
	need(cudaEventCreate(&done));
	for (int i = 0; i < N; i++)
		host[i] = 1;
	for (int step = 0; step < 3; step++) {
		holotrace::record_range range("step");
		nvtxRangePushA("nvtx step");
		need(cudaMemcpyAsync(
		        device, host, N * sizeof *host, cudaMemcpyHostToDevice, streams[0]));
		uint64_t token = begin("op::scale");
		scale<<<N / 256, 256, 0, streams[0]>>>(device, 2.0f);
		shift<float><<<N / 256, 256, 0, streams[0]>>>(device, 1.0f);
		ht_record_end(token, nullptr);
		need(cudaEventRecord(done, streams[0]));
		need(cudaStreamWaitEvent(streams[1], done, 0));
		token = begin("op::shift");
		scale<<<N / 256, 256, 0, streams[1]>>>(device, 2.0f);
		shift<float><<<N / 256, 256, 0, streams[1]>>>(device, 1.0f);
		ht_record_end(token, nullptr);
		need(cudaMemcpyAsync(
		        host, device, N * sizeof *host, cudaMemcpyDeviceToHost, streams[1]));
		need(cudaStreamSynchronize(streams[1]));
		need(cudaMemsetAsync(device, 0, N * sizeof *device, streams[0]));
		nvtxRangePop();
	}
	need(cudaDeviceSynchronize());
	printf("%g\n", host[0]);
	if (argc > 2 && (ht_record_stop() || ht_record_unregister())) {
		fprintf(stderr, "cuda_work: %s\n", ht_record_error());
		return 1;
	}
	return 0;
}
