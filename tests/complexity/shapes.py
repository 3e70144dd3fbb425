"""Traces of any size whose shape is hard: deep nests, equal times, one of something per event.

A time or memory that grows with the square of the file shows on one of these long before it does on a real trace.
Every shape is a generator of event texts; times are microseconds.
"""

BASE = 1_000_000
HEADER = ('{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},'
          '"baseTimeNanoseconds":1700000000000000000,"traceEvents":[\n')


def span(cat, name, pid, tid, ts, dur, args=""):
    return (f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{BASE + ts},"dur":{dur},'
            f'"args":{{{args}}}}}')


def op(name, ts, dur, i, tid=1, more=""):
    return span("cpu_op", name, 1, tid, ts, dur, f'"External id":{i}{more}')


def launch(ts, i, external=None, tid=1):
    more = "" if external is None else f',"External id":{external}'
    return span("cuda_runtime", "cudaLaunchKernel", 1, tid, ts, 1, f'"correlation":{i}{more}')


def kernel(name, ts, dur, i, stream=7, more=""):
    return span("kernel", name, 0, stream, ts, dur, f'"correlation":{i},"stream":{stream},"device":0{more}')


def nest(n):
    """Operators 100,000 deep, again and again."""
    depth, start = 100_000, 0
    for i in range(n):
        level = i % depth
        if level == 0 and i:
            start += 3 * depth
        yield op(f"op{level % 100}", start + level, 2 * (depth - level), i)


def nested_launches(n):
    """n / 3 operators inside each other, and as many launches inside the last."""
    depth = n // 3
    for i in range(depth):
        yield op(f"op{i % 100}", i, 4 * n - 2 * i, i)
    for i in range(depth):
        yield launch(depth + 2 * i, i, i)
        yield kernel(f"k{i % 50}", depth + 2 * i + 1, 1, i)


def equal_times(n):
    for i in range(n // 3):
        yield op(f"op{i % 100}", 0, 10, i)
        yield launch(0, i, i)
        yield kernel(f"k{i % 50}", 0, 5, i)


def streams(n):
    """One stream per kernel."""
    for i in range(n // 2):
        yield launch(2 * i, i)
        yield kernel(f"k{i % 50}", 2 * i + 1, 5, i, i)


def names(n):
    """One name per operator and kernel."""
    for i in range(n // 3):
        yield op(f"op{i}", 10 * i, 9, i)
        yield launch(10 * i + 1, i, i)
        yield kernel(f"kern_{i}", 10 * i + 3, 5, i)


def groups(n):
    """One process group per collective."""
    for i in range(n // 3):
        args = (f',"Process Group Name":"{i}","Process Group Description":"pg{i}","Collective name":"allreduce",'
                f'"Group size":2,"Process Group Ranks":"[0, {i + 1}]","In msg nelems":10,"Out msg nelems":10,'
                f'"dtype":"Float","Seq":{i}')
        yield op("record_param_comms", 10 * i, 9, i, more=args)
        yield launch(10 * i + 1, i, i)
        yield kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 10 * i + 3, 5, i, more=args)


def one_flow(n):
    """All flow rows have one id."""
    for i in range(n // 4):
        at = BASE + 10 * i
        yield launch(10 * i + 1, i)
        yield f'{{"ph":"s","id":7,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":{at + 1}}}'
        yield kernel(f"k{i % 50}", 10 * i + 3, 5, i)
        yield f'{{"ph":"f","id":7,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":{at + 3},"bp":"e"}}'


def flows_after_nest(n):
    """Flow rows behind n / 2 operators that are over but were never left."""
    half = n // 2
    for i in range(half):
        yield op(f"op{i % 100}", i, 2 * half - 2 * i, i)
    for i in range(half):
        yield f'{{"ph":"s","id":{i},"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":{BASE + 3 * half + i}}}'


def steps(n):
    """One step per kernel."""
    for i in range(n // 4):
        yield span("user_annotation", f"ProfilerStep#{i}", 1, 1, 10 * i, 10)
        yield op("op", 10 * i, 9, i)
        yield launch(10 * i + 1, i, i)
        yield kernel(f"k{i % 50}", 10 * i + 3, 5, i)


def overlap(n):
    """Everything runs at once on 8 streams."""
    for i in range(n // 2):
        name = ("ncclAllReduce", "Memcpy", "gemm")[i % 3] + str(i % 50)
        yield launch(2 * i, i)
        yield kernel(name, 2 * i + 1, 4 * n, i, i % 8)


def one_correlation(n):
    for i in range(n // 3):
        yield op(f"op{i % 100}", 10 * i, 9, 1)
        yield launch(10 * i + 1, 5, 1)
        yield kernel(f"k{i % 50}", 10 * i + 3, 5, 5)


def nested_annotations(n):
    """n / 4 annotations inside each other on the host, and again on the GPU."""
    m = n // 4
    for i in range(m):
        yield span("user_annotation", f"an{i}", 1, 1, i, 8 * m - 2 * i)
    for i in range(m):
        yield launch(m + 2 * i, i)
        yield kernel(f"k{i % 50}", m + 2 * i + 1, 1, i)
        yield span("gpu_user_annotation", f"an{i}", 0, 7, m + 2 * i + 1, 8 * m - 2 * i)


def rolling_annotations(n):
    """n / 3 annotations that overlap without nesting, a launch in each."""
    m = n // 3
    for i in range(m):
        yield span("user_annotation", f"an{i}", 1, 1, 2 * i, m)
        yield launch(2 * i + 1, i)
        yield kernel(f"k{i % 50}", 2 * i + 1, 1, i)


def backward(n):
    """A deep forward pass, and a backward pass of as many operators on a thread of its own."""
    m = n // 4
    yield span("user_annotation", "## backward ##", 1, 1, 4 * m, 4 * m)
    for i in range(m):
        yield span("python_function", f"nn.Module: M_{i}", 1, 1, i, 3 * m - 2 * i)
        yield op("aten::mm", m + i, 1, i, more=f',"Sequence number":{i},"Fwd thread id":0')
        yield span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, 2, 5 * m + 2 * i, 2,
                   f'"Sequence number":{i},"Fwd thread id":1')
        yield launch(5 * m + 2 * i, i, tid=2)
        yield kernel(f"k{i % 50}", 5 * m + 2 * i + 1, 1, i)


def waits(n):
    """All waits are for one event record."""
    for i in range(n // 4):
        stream, call = 7 + i % 5, "cudaEventRecord" if i % 2 else "cudaStreamWaitEvent"
        yield span("cuda_runtime", call, 1, 1, 10 * i, 1, f'"correlation":{i}')
        yield launch(10 * i + 2, n + i)
        yield kernel(f"k{i % 50}", 10 * i + 4, 3, n + i, stream)
        yield span("cuda_sync", "Stream Wait Event", 0, stream, 10 * i + 4, 1,
                   f'"correlation":{i},"stream":{stream},"device":0,"cuda_sync_kind":"Stream Wait Event",'
                   f'"wait_on_stream":{7 + (i + 1) % 5},"wait_on_cuda_event_record_corr_id":1,'
                   '"wait_on_cuda_event_id":3')


def stream_waits(n):
    """One stream per wait for a stream."""
    for i in range(n // 2):
        yield kernel(f"k{i % 50}", 10 * i, 3, i, i)
        yield span("cuda_sync", "Stream Sync", 0, i, 10 * i + 1, 5, f'"stream":{i},"device":0')


def threads(n):
    for i in range(n):
        yield op(f"op{i % 100}", i, 9, i, tid=i)


def memory(n):
    total = 0
    for i in range(n):
        size = 512 if i < n // 2 else -512
        total += size
        yield (f'{{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":{BASE + i},'
               f'"args":{{"Total Reserved":{1 << 34},"Total Allocated":{total},"Bytes":{size},'
               f'"Addr":{i % (n // 2)},"Device Id":0,"Device Type":1}}}}')


def begin_end(n):
    for i in range(n // 2):
        yield f'{{"ph":"B","cat":"cpu_op","name":"o{i % 100}","pid":1,"tid":1,"ts":{BASE + i}}}'
    for i in range(n // 2):
        yield f'{{"ph":"E","pid":1,"tid":1,"ts":{BASE + n + i}}}'


def python_nest(n):
    for i in range(n):
        yield span("python_function", f"f{i % 100}", 1, 1, i, 2 * (n - i),
                   f'"Python id":{i + 1},"Python parent id":{i}')


def partial(n):
    """Operators that overlap without nesting, all with all."""
    for i in range(n):
        yield op(f"op{i % 100}", i, n, i)


def ranges(n):
    """Counter ranges of kernels that were launched deep inside operators."""
    m = n // 4
    for i in range(m):
        yield op(f"aten::op{i % 100}", i, 4 * n - 2 * i, i)
    for i in range(m):
        yield launch(m + 2 * i, i, i)
        yield kernel(f"k{i % 50}", m + 2 * i + 1, 1, i)
        yield span("cuda_profiler_range", f"k{i % 50}", 0, 0, m + 2 * i + 1, 1,
                   f'"correlation":{i},"smsp__inst_executed.sum":{i}')


SHAPES = {f.__name__: f for f in (
    nest, nested_launches, equal_times, streams, names, groups, one_flow, flows_after_nest, steps, overlap,
    one_correlation, nested_annotations, rolling_annotations, backward, waits, stream_waits, threads, memory,
    begin_end, python_nest, partial, ranges)}


def write(shape, n, path):
    """Write a trace of about n events."""
    with open(path, "w") as file:
        file.write(HEADER)
        for i, event in enumerate(SHAPES[shape](n)):
            file.write((",\n" if i else "") + event)
        file.write("\n]}\n")


#: Options beside the plain verbs that take other paths through the program.
MORE = [("events", "--columns", "annotation_stack,module,forward_op"), ("events", "--kernels-under", "op1"),
        ("events", "--descendants-of", "0"), ("events", "--leaves"), ("kernel-annotations", "--group-by", "stack"),
        ("kernel-annotations", "--source", "gpu"), ("kernel-breakdown", "--annotation", "an"), ("diff", "--by", "path")]


def command_lines(verbs):
    """Every analysis of (name, number of sets), plain and as HTA, and the options above."""
    for name, _ in verbs:
        yield (name,)
        if name not in ("info", "health", "events"):
            yield (name, "--hta-compat")
    yield from MORE
