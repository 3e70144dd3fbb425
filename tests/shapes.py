# SPDX-License-Identifier: Apache-2.0
"""Traces of shapes that are hard on algorithms: deep, equal, crowded, tangled. For tools/attack and benchmarks.

    for text in shapes.events("nest", 1000): ...     the events, as JSON texts
    shapes.write("nest", 1000, path)                 a whole trace
"""
import itertools

START = 1_000_000  # us


def span(cat, name, pid, tid, ts, dur, **args):
    inner = ",".join(f'"{key.replace("_", " ")}":{value}' for key, value in args.items())
    return (f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},'
            f'"args":{{{inner}}}}}')


def op(i, ts, dur, name=None, tid=1, external=None):
    return span("cpu_op", name or f"op{i % 100}", 1, tid, ts, dur, External_id=i if external is None else external)


def launch(i, ts, correlation=None, **args):
    return span("cuda_runtime", "cudaLaunchKernel", 1, 1, ts, 1, correlation=i if correlation is None else correlation,
                **args)


def kernel(i, ts, dur, stream=7, name=None, correlation=None, device=0, **args):
    return span("kernel", name or f"k{i % 50}", device, stream, ts, dur, stream=stream, device=device,
                correlation=i if correlation is None else correlation, **args)


def triple(i, ts, **names):
    """An operator, its launch, its kernel."""
    yield op(i, ts, 9, name=names.get("op"))
    yield launch(i, ts + 1, External_id=i)
    yield kernel(i, ts + 3, 5, name=names.get("kernel"))


def nest(n):
    """One span in the other, without end."""
    return (op(i, START + i, 2 * (n - i)) for i in range(n))


def nested_launches(n):
    """A deep stack that launches all its kernels at the bottom."""
    depth = n // 3
    for i in range(depth):
        yield op(i, START + i, 4 * n - 2 * i)
    for i in range(depth):
        yield launch(i, START + depth + 2 * i, External_id=i)
        yield kernel(i, START + depth + 2 * i + 1, 1)


def same_time(n):
    """Everything starts at once."""
    for i in range(n // 3):
        yield op(i, START, 10)
        yield launch(i, START, External_id=i)
        yield kernel(i, START, 5)


def partial(n):
    """Spans of one thread that overlap without nesting."""
    return (op(i, START + i, n) for i in range(n))


def annotations(n):
    """Annotations nested on the host and on the GPU, a kernel in each."""
    m = n // 4
    for i in range(m):
        yield span("user_annotation", f"a{i}", 1, 1, START + i, 8 * m - 2 * i)
    for i in range(m):
        at = START + m + 2 * i
        yield launch(i, at)
        yield kernel(i, at + 1, 1)
        yield span("gpu_user_annotation", f"a{i}", 0, 7, at + 1, 8 * m - 2 * i)


def streams(n):
    """Each kernel on a stream of its own."""
    for i in range(n // 2):
        yield launch(i, START + 2 * i)
        yield kernel(i, START + 2 * i + 1, 5, stream=i)


def threads(n):
    return (op(i, START + i, 9, tid=i) for i in range(n))


def names(n):
    """No name twice."""
    return itertools.chain.from_iterable(
        triple(i, START + 10 * i, op=f"op{i}", kernel=f"kernel_{i}") for i in range(n // 3))


def one_correlation(n):
    """All launches and kernels share their ids."""
    for i in range(n // 3):
        yield op(i, START + 10 * i, 9, external=1)
        yield launch(i, START + 10 * i + 1, correlation=5, External_id=1)
        yield kernel(i, START + 10 * i + 3, 5, correlation=5)


def overlap(n):
    """Kernels of all kinds that run for as long as the trace, on eight streams."""
    kinds = ("ncclAllReduce", "Memcpy", "gemm")
    for i in range(n // 2):
        yield launch(i, START + 2 * i)
        yield kernel(i, START + 2 * i + 1, 4 * n, stream=i % 8, name=f"{kinds[i % 3]}{i % 50}")


def groups(n):
    """A process group for each collective."""
    for i in range(n // 3):
        args = {"Process_Group_Name": f'"{i}"', "Collective_name": '"allreduce"', "Group_size": 2,
                "Process_Group_Ranks": f'"[0, {i + 1}]"', "In_msg_nelems": 10, "Out_msg_nelems": 10, "dtype": '"Float"',
                "Seq": i}
        yield span("cpu_op", "record_param_comms", 1, 1, START + 10 * i, 9, External_id=i, **args)
        yield launch(i, START + 10 * i + 1, External_id=i)
        yield kernel(i, START + 10 * i + 3, 5, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL", **args)


def flows(n):
    """One flow id for all."""
    for i in range(n // 4):
        yield launch(i, START + 10 * i)
        yield f'{{"ph":"s","id":7,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":{START + 10 * i}}}'
        yield kernel(i, START + 10 * i + 3, 5)
        yield f'{{"ph":"f","id":7,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":{START + 10 * i + 3},"bp":"e"}}'


def steps(n):
    for i in range(n // 4):
        yield span("user_annotation", f"ProfilerStep#{i}", 1, 1, START + 10 * i, 10)
        yield from triple(i, START + 10 * i)


def steps_of_work(n):
    """Kernels that say which step they are of, as Ascend's tables do: each of another than the one before."""
    for i in range(n):
        yield kernel(i, START + 10 * i, 5, **{"Step Id": i * 7919 % (n // 2 + 1)})


def named_steps(n):
    """Steps whose operators and kernels have names of their own."""
    for i in range(n // 4):
        yield span("user_annotation", f"ProfilerStep#{i}", 1, 1, START + 10 * i, 10)
        yield from triple(i, START + 10 * i, op=f"op{i}", kernel=f"kernel_{i}")


def waits(n):
    """Every wait is for the same event record."""
    for i in range(n // 4):
        stream = 7 + i % 5
        yield span("cuda_runtime", "cudaEventRecord" if i % 2 else "cudaStreamWaitEvent", 1, 1, START + 10 * i, 1,
                   correlation=i)
        yield launch(i, START + 10 * i + 2, correlation=n + i)
        yield kernel(i, START + 10 * i + 4, 3, stream=stream, correlation=n + i)
        yield span("cuda_sync", "Stream Wait Event", 0, stream, START + 10 * i + 4, 1, correlation=i, stream=stream,
                   device=0, wait_on_stream=7 + (i + 1) % 5).replace(
                       '"wait on stream"', '"cuda_sync_kind":"Stream Wait Event",'
                       '"wait_on_cuda_event_record_corr_id":1,"wait_on_cuda_event_id":3,"wait_on_stream"')


def memory(n):
    """Allocations that are all freed at the end."""
    total = 0
    for i in range(n):
        size = 512 if i < n // 2 else -512
        total += size
        yield (f'{{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":{START + i},'
               f'"args":{{"Total Reserved":{1 << 34},"Total Allocated":{total},"Bytes":{size},"Addr":{i % (n // 2 + 1)},'
               f'"Device Id":0,"Device Type":1}}}}')


def begin_end(n):
    for i in range(n // 2):
        yield f'{{"ph":"B","cat":"cpu_op","name":"o{i % 100}","pid":1,"tid":1,"ts":{START + i}}}'
    for i in range(n // 2):
        yield f'{{"ph":"E","pid":1,"tid":1,"ts":{START + n + i}}}'


def python_calls(n):
    return (span("python_function", f"f{i % 100}", 1, 1, START + i, 2 * (n - i), Python_id=i + 1, Python_parent_id=i)
            for i in range(n))


def many_keys(n):
    """A hundred new arg keys in each event."""
    for i in range(n // 100):
        yield span("cpu_op", "op", 1, 1, START + 10 * i, 9, **{f"k{100 * i + k}": k for k in range(100)})


def rolling_annotations(n):
    """Annotations that overlap without nesting, a launch in each."""
    m = n // 3
    for i in range(m):
        yield span("user_annotation", f"a{i}", 1, 1, START + 2 * i, m)
        yield launch(i, START + 2 * i + 1)
        yield kernel(i, START + 2 * i + 1, 1)


def flows_after_nest(n):
    """Flow rows behind a deep stack that is over but was never left."""
    half = n // 2
    for i in range(half):
        yield op(i, START + i, 2 * half - 2 * i)
    for i in range(half):
        yield f'{{"ph":"s","id":{i},"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":{START + 3 * half + i}}}'


def backward(n):
    """A deep stack of modules, and a backward pass of as many operators on a thread of its own."""
    m = n // 5
    yield span("user_annotation", "## backward ##", 1, 1, START + 4 * m, 4 * m)
    for i in range(m):
        at = START + 5 * m + 2 * i
        yield span("python_function", f"nn.Module: M_{i}", 1, 1, START + i, 3 * m - 2 * i)
        yield span("cpu_op", "aten::mm", 1, 1, START + m + i, 1, External_id=i, Sequence_number=i, Fwd_thread_id=0)
        yield span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, 2, at, 2, Sequence_number=i,
                   Fwd_thread_id=1)
        yield span("cuda_runtime", "cudaLaunchKernel", 1, 2, at, 1, correlation=i)
        yield kernel(i, at + 1, 1)


def stream_waits(n):
    """A stream for each wait for one."""
    for i in range(n // 2):
        yield kernel(i, START + 10 * i, 3, stream=i)
        yield span("cuda_sync", "Stream Sync", 0, i, START + 10 * i + 1, 5, stream=i, device=0)


def counter_ranges(n):
    """Counter ranges of kernels that a deep stack launched."""
    m = n // 4
    for i in range(m):
        yield op(i, START + i, 4 * n - 2 * i)
    for i in range(m):
        at = START + m + 2 * i
        yield launch(i, at, External_id=i)
        yield kernel(i, at + 1, 1)
        yield span("cuda_profiler_range", f"k{i % 50}", 0, 0, at + 1, 1, correlation=i, inst_executed=i)


# ---- many of one thing, and everything at one place ----

def devices(n):
    """Every kernel on a device of its own."""
    for i in range(n // 3):
        yield op(i, START + 10 * i, 5)
        yield launch(i, START + 10 * i + 1)
        yield kernel(i, START + 10 * i + 3, 4, device=i)


def devices_and_streams(n):
    """A few thousand devices, each with streams that nobody else has, and collectives beside."""
    for i in range(n // 2):
        name = "ncclDevKernel_AllReduce_Sum_f32" if i % 3 == 0 else None
        yield launch(i, START + 10 * i)
        yield kernel(i, START + 10 * i + 3, 25, stream=i, name=name, device=i % (n // 64))


def processes(n):
    """Every call in a process of its own."""
    for i in range(n):
        yield span("cpu_op", f"op{i % 100}", i + 1, i + 1, START + i, 5, External_id=i)


def all_at_once(n):
    """Operators, launches and kernels that all start and end at the same time."""
    for i in range(n // 3):
        yield op(i, START, 10)
        yield launch(i, START)
        yield kernel(i, START, 10, stream=i % 8)


def streams_beside_collectives(n):
    """Gaps of many streams while thousands of collectives run."""
    for i in range(n // 4):
        yield kernel(2 * i, START + 20 * i, 5, stream=20, name="ncclDevKernel_AllReduce_Sum_f32")
        yield launch(2 * i + 1, START + 20 * i + 1)
        yield kernel(2 * i + 1, START + 20 * i + 3, 5, stream=100 + i % (n // 16))
        yield op(i, START + 20 * i, 9)


def flows_to_one(n):
    """Flow arrows that all have one id."""
    for i in range(n // 3):
        yield op(i, START + 10 * i, 9)
        yield f'{{"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":1,"tid":1,"ts":{START + 10 * i + 1}}}'
        yield f'{{"ph":"f","bp":"e","cat":"fwdbwd","name":"fwdbwd","id":1,"pid":1,"tid":1,"ts":{START + 10 * i + 2}}}'


def flows_to_launches(n):
    """Arrows of launches that all have one id."""
    for i in range(n // 4):
        yield launch(i, START + 10 * i)
        yield f'{{"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":1,"tid":1,"ts":{START + 10 * i}}}'
        yield kernel(i, START + 10 * i + 3, 4)
        yield f'{{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":1,"pid":0,"tid":7,"ts":{START + 10 * i + 3}}}'


def wide(n):
    """One operator around all others, each with its kernel."""
    yield op(0, START, 10 * n)
    for i in range(1, n // 3):
        yield from triple(i, START + 10 * i)


def saw(n):
    """Nests of a thousand, one after the other."""
    for i in range(n):
        at, depth = divmod(i, 1000)
        yield op(i, START + at * 3000 + depth, 2500 - 2 * depth)


def modules(n):
    """Every module has a name of its own, and one call."""
    for i in range(n // 3):
        yield span("python_function", f"nn.Module: M{i}_{i}", 1, 1, START + 10 * i, 9, Python_id=i, Python_module_id=i)
        yield op(i, START + 10 * i + 1, 5)
        yield launch(i, START + 10 * i + 2)


def deep_modules(n):
    """Modules one in the other, each launching a kernel."""
    m = n // 3
    for i in range(m):
        yield span("python_function", f"nn.Module: M_{i % 40}", 1, 1, START + 3 * i, 6 * m + 10 - 4 * i, Python_id=i)
    for i in range(m):
        yield launch(i, START + 3 * m + i)
        yield kernel(i, START + 4 * m + 2 * i, 1)


def annotation_names(n):
    """Every annotation has a name of its own, on the CPU and on the GPU."""
    for i in range(n // 4):
        at = START + 20 * i
        yield span("user_annotation", f"a{i}", 1, 1, at, 15)
        yield span("gpu_user_annotation", f"a{i}", 0, 7, at + 3, 10)
        yield launch(i, at + 1)
        yield kernel(i, at + 5, 5)


def overlapping_steps(n):
    """Steps that all overlap, with work in each."""
    m = n // 4
    for i in range(m):
        yield span("user_annotation", f"ProfilerStep#{i}", 1, 1, START + 10 * i, 10 * m)
        yield from triple(i, START + 10 * i + 1)


def nested_steps(n):
    """Steps one in the other."""
    m = n // 4
    for i in range(m):
        yield span("user_annotation", f"ProfilerStep#{i}", 1, 1, START + i, 20 * m - 2 * i)
    for i in range(m):
        yield from triple(i, START + m + 10 * i)


def collective_groups(n):
    """Every collective in a process group of its own."""
    for i in range(n // 2):
        yield launch(i, START + 10 * i)
        yield (f'{{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32","pid":0,"tid":20,"ts":{START + 10 * i + 3},'
               f'"dur":5,"args":{{"correlation":{i},"stream":20,"device":0,"Collective name":"allreduce",'
               f'"Process Group Name":"{i}","Process Group Description":"d{i}","Process Group Ranks":"[{i}, {i + 1}]",'
               '"In msg nelems":8,"Out msg nelems":8,"Group size":2,"dtype":"Float"}}')


def keys_of_args(n):
    """Every event has an argument that no other has."""
    for i in range(n):
        yield (f'{{"ph":"X","cat":"cpu_op","name":"op{i % 9}","pid":1,"tid":1,"ts":{START + 10 * i},"dur":5,'
               f'"args":{{"key {i}":{i}}}}}')


def categories(n):
    """Every event is of a category of its own."""
    for i in range(n):
        yield f'{{"ph":"X","cat":"cat{i}","name":"x","pid":1,"tid":1,"ts":{START + 10 * i},"dur":5}}'


def stacks_of_frames(n):
    """Python frames as deep as those of programs, each with a name of its own. What names whole stacks is as long as they
    are deep, so that deeper ones measure what was asked for."""
    for i in range(n):
        at, depth = divmod(i, 40)
        yield span("python_function", f"file{i}.py({i}): f{i}", 1, 1, START + at * 3000 + depth, 2500 - 2 * depth, Python_id=i)


def shapes_of_inputs(n):
    """Operators of one name, each with shapes of its own."""
    for i in range(n // 3):
        yield (f'{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{START + 10 * i},"dur":9,'
               f'"args":{{"External id":{i},"Input Dims":[[{i},8],[8,{i}]],"Input type":["float","float"]}}}}')
        yield launch(i, START + 10 * i + 1, External_id=i)
        yield kernel(i, START + 10 * i + 3, 5)


def counters(n):
    """Counters and instants, each with a name of its own."""
    for i in range(n // 2):
        yield f'{{"ph":"C","name":"c{i}","pid":1,"tid":1,"ts":{START + i},"args":{{"value":{i}}}}}'
        yield f'{{"ph":"i","s":"t","name":"i{i}","pid":1,"tid":1,"ts":{START + i}}}'


def async_spans(n):
    """Asynchronous spans that all overlap, each with an id."""
    for i in range(n // 2):
        yield f'{{"ph":"b","cat":"async","name":"a{i % 9}","id":{i},"pid":1,"tid":1,"ts":{START + i}}}'
    for i in range(n // 2):
        yield f'{{"ph":"e","cat":"async","name":"a{i % 9}","id":{i},"pid":1,"tid":1,"ts":{START + n + i}}}'


def events_on_host(n):
    """Waits for one event that is recorded over and over."""
    for i in range(n // 4):
        at = START + 20 * i
        yield span("cuda_runtime", "cudaEventRecord", 1, 1, at, 1, correlation=3 * i, cuda_event=1, cbid=1)
        yield span("cuda_runtime", "cudaStreamWaitEvent", 1, 1, at + 2, 1, correlation=3 * i + 1, cuda_event=1)
        yield launch(3 * i + 2, at + 4)
        yield kernel(3 * i + 2, at + 6, 5, stream=i % 50)


def compiled(n):
    """Graphs of torch.compile, each compiled once, called once, and called once backwards."""
    for i in range(n // 10):
        ts = START + 100 * i
        yield op(i, ts, 10, name="entire_frame_compile")
        yield span("user_annotation", f"entire_frame_compile_data compile_id={i}/0", 1, 1, ts + 1, 5)
        yield op(i, ts + 20, 20, name=f"Torch-Compiled Region: {i}/0")
        yield span("cpu_op", "CompiledFunction", 1, 1, ts + 21, 18, Sequence_number=i)
        yield span("user_annotation", f"## Call CompiledFxGraph f{i} ##", 1, 1, ts + 22, 16)
        yield launch(i, ts + 23, External_id=i)
        yield kernel(i, ts + 25, 5, name=f"triton_poi_fused_{i}")
        yield span("cpu_op", "CompiledFunctionBackward", 1, 1, ts + 50, 30, Sequence_number=i)
        yield span("user_annotation", f"## Call CompiledFxGraph b{i} ##", 1, 1, ts + 51, 28)
        yield op(i, ts + 52, 20, name=f"triton_poi_fused_{i}")


def nested_compiled(n):
    """Calls of compiled graphs, one in the other, and all launches at the bottom."""
    depth = n // 3
    for i in range(depth):
        yield span("user_annotation", f"## Call CompiledFxGraph k{i} ##", 1, 1, START + i, 4 * n - 2 * i)
    for i in range(depth):
        yield launch(i, START + depth + 2 * i, External_id=i)
        yield kernel(i, START + depth + 2 * i + 1, 1)


def graph_launch(i, ts):
    return span("cuda_runtime", "cudaGraphLaunch", 1, 1, ts, 1, correlation=i)


def graphs(n):
    """Launches of CUDA graphs, none of which is like another."""
    for i in range(n // 3):
        ts = START + 20 * i
        yield graph_launch(i, ts)
        yield kernel(i, ts + 3, 5, name=f"k{i}")
        yield kernel(i, ts + 9, 5, name=f"k{i % 7}")


def captures(n):
    """Captures in each other, each of a size that a replay has."""
    depth = n // 5
    for i in range(depth):
        yield span("user_annotation", f"capture_{i}", 1, 1, START + i, 4 * n - 2 * i)
        yield span("cuda_runtime", "cudaLaunchKernel", 1, 1, START + depth + 2 * i, 1, correlation=n + i)
    for i in range(depth):
        ts = START + 5 * n + 20 * i
        yield span("user_annotation", f"execute_context_0(0)_generation_{i}({i})", 1, 1, ts, 10)
        yield graph_launch(i, ts + 1)
        yield kernel(i, ts + 3, 5, name=f"k{i % 7}")


def iterations(n):
    """Iterations of a serving engine that overlap, one in the other."""
    depth = n // 3
    for i in range(depth):
        yield span("user_annotation", f"execute_context_{i % 5}({i})_generation_{i}({i})", 1, 1, START + i, 4 * n - 2 * i)
    for i in range(depth):
        yield launch(i, START + depth + 2 * i, External_id=i)
        yield kernel(i, START + depth + 2 * i + 1, 1)


def loaders(n):
    """Batches of data, optimizers and clearing of gradients, each named anew."""
    names = ("enumerate(DataLoader)#L{}.__next__", "Optimizer.step#O{}.step", "Optimizer.zero_grad#O{}.zero_grad")
    for i in range(n // 4):
        ts = START + 10 * i
        yield span("user_annotation", names[i % 3].format(i), 1, 1, ts, 9)
        yield from triple(i, ts)


def device_annotations(n):
    """Annotations on a stream, one in the other, and all kernels at the bottom."""
    depth = n // 3
    for i in range(depth):
        yield span("gpu_user_annotation", f"a{i}", 0, 7, START + i, 4 * n - 2 * i)
    for i in range(depth):
        yield launch(i, START + 2 * i, External_id=i)
        yield kernel(i, START + depth + 2 * i + 1, 1)


def transfers(n):
    """Messages from rank to rank, each with a peer, and a group, of its own."""
    for i in range(n // 3):
        ts = START + 20 * i
        yield span("cpu_op", "record_param_comms", 1, 1, ts, 9, External_id=i, Collective_name='"send"', Process_Group_Name=f'"{i}"',
                   Seq=i, Src_Rank=0, Dst_Rank=i, In_msg_nelems=i, Out_msg_nelems=i, dtype='"Float"', Group_size=2)
        yield launch(i, ts + 1, External_id=i)
        yield kernel(i, ts + 3, 15, stream=20 + i % 3, name="ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", Collective_name='"send"',
                     Process_Group_Name=f'"{i}"', Seq=i, Src_Rank=0, Dst_Rank=i, In_msg_nelems=i, Out_msg_nelems=i, dtype='"Float"', Group_size=2)


def syncs(n):
    """Waits for all that was launched, and what the profiler did itself, between one kernel that never ends and many short ones."""
    yield kernel(n, START, 10 * n, stream=9)
    for i in range(n // 5):
        ts = START + 20 * i
        yield from triple(i, ts)
        yield span("cuda_runtime", "cudaDeviceSynchronize", 1, 1, ts + 10, 5, correlation=n + i)
        yield span("overhead", ("Buffer Flush", "Activity Buffer Request")[i % 2], -1, 0, ts + 11, 30)


ALL = {shape.__name__: shape for shape in (
    nest, nested_launches, same_time, partial, annotations, streams, threads, names, one_correlation, overlap, groups,
    flows, steps, steps_of_work, named_steps, waits, memory, begin_end, python_calls, many_keys, rolling_annotations,
    flows_after_nest, backward, stream_waits, counter_ranges, devices, devices_and_streams, processes, all_at_once,
    streams_beside_collectives, flows_to_one, flows_to_launches, wide, saw, modules, deep_modules, annotation_names,
    overlapping_steps, nested_steps, collective_groups, keys_of_args, categories, stacks_of_frames, shapes_of_inputs, counters,
    async_spans, events_on_host, compiled, nested_compiled, graphs, captures, iterations, loaders,
    device_annotations, transfers, syncs)}


def events(shape, n):
    return ALL[shape](n)


def write(shape, n, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},'
                   '"baseTimeNanoseconds":1700000000000000000,"traceEvents":[\n')
        for i, text in enumerate(events(shape, n)):
            file.write(",\n" + text if i else text)
        file.write("\n]}\n")
