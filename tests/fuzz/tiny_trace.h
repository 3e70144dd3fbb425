/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiny_trace.h - a tiny trace that has a little of everything, for targets that change what is made of it.
 */
#ifndef HT_FUZZ_TINY_TRACE_H
#define HT_FUZZ_TINY_TRACE_H

static const char fuzz_tiny_trace[] =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 2, \"world_size\": 4, \"pg_config\": [{"
        "\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cuda:nccl\", \"pg_size\": 2"
        ", \"ranks\": [0, 1]}]}, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H200\", \"totalGl"
        "obalMem\": 1, \"numSms\": 132, \"computeMajor\": 9}], \"traceEvents\": [\n"
        "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 99, \"tid\": 0, \"args\": {\"name\": \"python\"}}"
        ",\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#4\", \"pid\": 99, \"tid\": 99"
        ", \"ts\": 1, \"dur\": 40},\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 99, \"tid\": 99"
        ", \"ts\": 41, \"dur\": 40},\n"
        "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"nn.Module: M_0\", \"pid\": 99, \"tid\": 99"
        ", \"ts\": 2, \"dur\": 20, \"args\": {\"Python id\": 1, \"Python parent id\": 0}},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 99, \"tid\": 99, \"ts\": 3, \"dur"
        "\": 9, \"args\": {\"External id\": 3, \"Sequence number\": 8, \"Fwd thread id\": 0, \"Input Di"
        "ms\": [[2, 3], []]}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 99, \"tid\": 99,"
        " \"ts\": 4, \"dur\": 2, \"args\": {\"correlation\": 7, \"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 8, \"dur\": 6, \"ar"
        "gs\": {\"correlation\": 7, \"stream\": 7, \"device\": 0, \"grid\": [1, 2, 3], \"est. achieved "
        "occupancy %\": 40}},\n"
        "{\"ph\": \"s\", \"id\": 7, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": 99, \"tid\": 99, \"ts\": 4},\n"
        "{\"ph\": \"f\", \"id\": 7, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": 0, \"tid\": 7, \"ts\": 8, \"bp"
        "\": \"e\"},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"autograd::engine::evaluate_function: MmBackwar"
        "d0\", \"pid\": 99, \"tid\": 98, \"ts\": 43, \"dur\": 9, \"args\": {\"External id\": 4, \"Sequence "
        "number\": 8, \"Fwd thread id\": 1}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 99, \"tid\": 98,"
        " \"ts\": 44, \"dur\": 2, \"args\": {\"correlation\": 9, \"External id\": 4}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce_Sum_f32_RING_LL\", \"pid"
        "\": 0, \"tid\": 20, \"ts\": 48, \"dur\": 9, \"args\": {\"correlation\": 9, \"stream\": 20, \"devic"
        "e\": 0, \"Collective name\": \"allreduce\", \"In msg nelems\": 8, \"Out msg nelems\": 8, \"Gro"
        "up size\": 2, \"dtype\": \"Float\", \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0"
        ", 1]\"}},\n"
        "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> Device)\", \"pid\": 0,"
        " \"tid\": 7, \"ts\": 60, \"dur\": 3, \"args\": {\"correlation\": 11, \"stream\": 7, \"device\": 0,"
        " \"bytes\": 4096}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Wait Event\", \"pid\": 0, \"tid\": 7, \"ts"
        "\": 62, \"dur\": 1, \"args\": {\"correlation\": 12, \"stream\": 7, \"device\": 0, \"cuda_sync_ki"
        "nd\": \"Stream Wait Event\", \"wait_on_stream\": 20, \"wait_on_cuda_event_record_corr_id\":"
        " 9, \"wait_on_cuda_event_id\": 1}},\n"
        "{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 99, \"ti"
        "d\": 99, \"ts\": 5, \"args\": {\"Total Reserved\": 4096, \"Total Allocated\": 512, \"Bytes\": 5"
        "12, \"Addr\": 1, \"Device Id\": 0, \"Device Type\": 1}},\n"
        "{\"ph\": \"i\", \"s\": \"t\", \"cat\": \"cpu_instant_event\", \"name\": \"[memory]\", \"pid\": 99, \"ti"
        "d\": 99, \"ts\": 50, \"args\": {\"Total Reserved\": 4096, \"Total Allocated\": 0, \"Bytes\": -5"
        "12, \"Addr\": 1, \"Device Id\": 0, \"Device Type\": 1}},\n"
        "{\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"ProfilerStep#5\", \"pid\": 0, \"tid\":"
        " 7, \"ts\": 48, \"dur\": 20}]}\n";

#endif
