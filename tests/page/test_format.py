# SPDX-License-Identifier: Apache-2.0
"""Page and terminal write the same text for the same value, and shorten names alike."""
import json
import pathlib
import random
import re
import subprocess

import pytest

import support
from web import evaluate, needs_node

BUILD = pathlib.Path(support.EXE).parent
LIBRARIES = ["-lm", "-lpthread"]
EDGES = [0, 1, 2, 9, 10, 99, 100, 500, 949, 950, 994, 995, 999, 1000, 1023, 1024, 1535, 1536, 9994, 9995, 9999, 10000,
         99949, 99950, 99999, 100000, 999499, 999500, 999999, 1000000, 1048575, 1048576, 123456789, 999999999,
         1000000000, 3600 * 10**9, 2**53 - 1, 2**53, 2**53 + 1, 10**15 * 10**3 - 1, 1767225600123456789, 2**63 - 1]
FRACTIONS = [0.0, 1e-9, 0.00009999, 0.0001, 0.0009994, 0.0009995, 0.009994, 0.009995, 0.0999, 0.09995, 0.124, 0.4995,
             0.5, 0.9994, 0.9995, 0.99949, 1.0, 1.005, 9.994, 9.995, 99.94, 99.95, 999.5, 12345.678, 1e14, 999999999999999.0,
             1e15, 1.125e15, 1.135e15, 4.5e18, 1e300, 5e-324]
NAMES = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
    "autograd::engine::evaluate_function: AddmmBackward0", "Memcpy HtoD (Pinned -> Device)", "aten::add_",
    "<built-in method run_backward of torch._C._EngineBase object at 0x7f1a2b3c4d5e>", "model/layers.py(511): <listcomp>",
    "<string>(1): <module>", "void operator< <int>(std::vector<int> const&)",
    "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Scalar const&)::"
    "{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(long)#1}>(int, long)",
    "void reduce_kernel<512, 1, double, ReduceOp<double, MeanOps<double, double, double, double> > >(double, unsigned long)",
    "bool operator<(std::vector<int> const&, std::vector<int> const&)", "a<b<c<d<e<f>>>>>", "a<b", "a>b->c", "x->y<z>",
    "größte_Überraschung_des_Kerns<mit_Größe, ÄÖÜ_Funktor<ß>>(naïve)", "名前空間::関数<型, 別の型<整数>>(引数)",
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float, float, float, false, true, true, "
    "false, 7, false, cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<float const>>>(cublasGemvParamsEx<int>)",
    "train.py(3): step;model.py(7): forward;aten::linear;aten::addmm", "train.py(3): f;aten::linear;void k<4, F<float>>(int, float)", ";;;", "a;b;",
    "a;abcdefghij", "größe.py(1): f;名前空間::関数<型>;naïve",
]
#: Longer than what anybody shows: C++, brackets only, a word, a stack and many frames.
LONG = ["void at::native::kernel<" + ", ".join(f"Functor{i}<float, {i}>" for i in range(600)) + ">(int)", "a" + "<>" * 6000, "w" * 9000 + "é" * 9000,
        ";".join(f"module_{i}.py({i}): forward" for i in range(900)), "k<" + "x" * 9000 + ">", ";" * 9000]


def made_names(seed, n):
    """Of words that shortening looks for; some are longer than any page is wide."""
    draw = random.Random(seed)
    words = ["at", "native", "::", "<", ">", "(", ")", ", ", "void ", "float", "Functor", "operator<", "operator<=>", "->", "é", " ", "kernel_t", ";", ";", "(anonymous namespace)::", "=", "\U0001f40d"]
    made = ("".join(draw.choice(words) for _ in range(draw.choice((40, 40, 40, 40, 40, 2500)) * draw.randrange(1, 41) // 40)) for _ in range(n))
    return [name for name in made if name.strip()]


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    """A function from lines to the texts that the library makes of them."""
    program = tmp_path_factory.mktemp("format") / "format_cells"
    options = support.ROOT / "tests" / "page" / "format_cells.c"
    subprocess.run(["cc", "-D_GNU_SOURCE=", "-std=gnu11", f"-I{support.ROOT / 'src'}", f"-I{support.ROOT / 'include'}",
                    "-o", program, options, BUILD / "libholotrace.so", f"-Wl,-rpath,{BUILD}",
                    BUILD / "libholotrace.a", *LIBRARIES], check=True)

    def ask(lines):
        done = subprocess.run([program], input="".join(lines).encode(), stdout=subprocess.PIPE, check=True)
        return done.stdout.decode().split("\n")[:-1]

    return ask


def numbers():
    """(type, role, unit, digits) of edges, of their neighbours, and of random ones."""
    draw = random.Random(12)
    whole = sorted({*EDGES, *(draw.randrange(10 ** draw.randrange(1, 19)) for _ in range(1500))})
    parts = [*FRACTIONS, *(draw.random() * 10.0 ** draw.randrange(-8, 20) for _ in range(1500))]
    for value in whole:
        for kind in ("int64", "uint64", "time", "duration", "bytes"):
            yield kind, "measure", None, str(value)
            if kind != "uint64":
                yield kind, "measure", None, str(-value)
        yield "int64", "key", None, str(value)
        for unit in ("GB/s", "FLOP", "byte/s", "bytes"):
            yield "int64", "measure", unit, str(value)
            yield "uint64", "measure", unit, str(value)
    for value in parts:
        for kind in ("float64", "ratio", "duration_float"):
            yield kind, "measure", None, repr(value)
            yield kind, "measure", None, repr(-value)
        for unit in ("GB/s", "FLOP/s", "bytes"):
            yield "float64", "measure", unit, repr(value)
            yield "float64", "measure", unit, repr(-value)


@needs_node
def test_numbers_are_those_of_the_terminal(terminal):
    cases = list(numbers())
    expected = terminal([f"{kind}\t{role}\t{unit or '-'}\t{value}\n" for kind, role, unit, value in cases])
    sent = []
    for kind, role, unit, value in cases:
        number = float(value) if kind in ("float64", "ratio", "duration_float") else int(value)
        sent.append([{"type": kind, "role": role, "unit": unit},
                     number if abs(number) <= 2**53 or isinstance(number, float) else value])
    shown = evaluate('import { human } from "./ui/format";\n'
                               "answer = input.map(([column, value]) => human(value, column));", sent)
    wrong = [(case, mine, theirs) for case, mine, theirs in zip(cases, shown, expected) if mine != theirs]
    assert len(shown) == len(expected) and not wrong, f"{len(wrong)} of {len(cases)} differ: {wrong[:5]}"


@needs_node
def test_names_are_shortened_as_in_the_terminal(terminal):
    cases = [(name, width) for name in [*NAMES, *LONG, *made_names(34, 900)] for width in (1, 2, 5, 11, 12, 20, 33, 48, 80)]
    expected = terminal([f"name\t{width}\t{name}\n" for name, width in cases])
    shown = evaluate('import { shortName } from "./ui/format";\n'
                               "answer = input.map(([name, width]) => shortName(name, width));", cases)
    wrong = [(case, mine, theirs) for case, mine, theirs in zip(cases, shown, expected) if mine != theirs]
    assert len(shown) == len(expected) and not wrong, f"{len(wrong)} of {len(cases)} differ: {wrong[:5]}"


@needs_node
def test_names_of_a_list_are_those_of_the_terminal(terminal):
    """Lists with long fronts in common, of real names and random ones, and of those that differ in nothing else than what is not shown."""
    draw = random.Random(56)
    words = ["void ", "at::native::", "(anonymous namespace)", "gemm", "_", "<", ">", "(int)", "::", ":", "128x64", "Functor", "f32", ", ", "a", ";", "é", "ê", "\uff5e", "\U0001f40d",
             "\x1b", "\\x1b"]
    lists = [NAMES, LONG, ["a\x1b", "a\\x1b"], ["a\x1b", "a\\x1b", "x" * 70], [LONG[0] + "a", LONG[0] + "b"], [LONG[2] + ";a", LONG[2] + ";b"],
             ["void (anonymous namespace)::a;gemm", "void (anonymous namespace):b;gemm"]]
    for _ in range(600):
        front = "".join(draw.choice(words) for _ in range(draw.randrange(1, 14)))
        back = "".join(draw.choice(words) for _ in range(draw.randrange(0, 14)))
        lists.append(sorted({(front + draw.choice(words) + draw.choice(words) + back).strip() or "x" for _ in range(draw.randrange(2, 7))}))
    cases = [(names, width, unit) for names in lists for width in (1, 2, 5, 12, 16, 24, 40, 60) for unit in (None, "frames, innermost first")]
    expected = terminal([f"names\t{unit or '-'}\t{width}\t" + "\t".join(names) + "\n" for names, width, unit in cases])
    shown = evaluate('import { shortNames } from "./ui/brief";\n'
                               "answer = input.map(([names, width, unit]) => [...shortNames(names, width, unit).values()].join('\\t'));", cases)
    wrong = [(case, mine, theirs) for case, mine, theirs in zip(cases, shown, expected) if mine != theirs]
    assert len(shown) == len(expected) and not wrong, f"{len(wrong)} of {len(cases)} differ: {wrong[:3]}"


@needs_node
def test_intervals_are_students(terminal):
    """As many degrees of freedom as the page asks for, and some more."""
    degrees = range(1, 41)
    wanted = terminal([f"student\t{df}\n" for df in degrees])
    reach = evaluate('import { t95 } from "./app/noise"; answer = input.map(t95);', list(degrees))
    assert reach == pytest.approx([float(one) for one in wanted], rel=1e-12)


@needs_node
def test_names_of_a_list_stay_apart():
    """Of the same length and shorter than each other by a middle that all tools cut."""
    front, back = "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_", "_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas"
    tiles = ["tilesize256x128x8", "tilesize64x64x8", "tilesize32x32x8", "tilesize32x128x8"]
    names = [front + tile + back for tile in tiles] + ["aten::mm", "void at::native::f<int>(int)"]
    widths = (16, 24, 40, 60)
    shown = evaluate('import { shortNames } from "./ui/brief";\n'
                               "answer = input.widths.map(width => [...shortNames(input.names, width)]);", {"names": names, "widths": widths})
    for width, pairs in zip(widths, shown):
        assert [name for name, _ in pairs] == names
        short = [text for _, text in pairs]
        assert len(set(short)) == len(names), short
        assert all(len(text) <= width for text in short)
        assert short[4] == "aten::mm" and all(text.startswith(front[:width // 3]) for text in short[:4])


@needs_node
def test_only_the_terminal_reads_mangled_names(terminal):
    """By design: the page has names as the trace does, in which they are found."""
    mangled = "_Z4gemmPfS_"
    assert terminal([f"names\t-\t40\t{mangled}\n"]) == ["gemm"]
    assert evaluate('import { shortNames } from "./ui/brief"; answer = [...shortNames([input], 40).values()];', mangled) == [mangled]


@needs_node
def test_absent_values_and_words():
    text = evaluate('import { exact, human, nsText, shortName } from "./ui/format";\n'
                    "answer = [human(null, {type: 'duration', unit: 'ns'}), human(NaN, {type: 'ratio', unit: null}),"
                    "human(true, {type: 'bool', unit: null}), human(false, {type: 'bool', unit: null}),"
                    "human('0:17', {type: 'event', unit: null}), exact(41234567, {type: 'duration', unit: 'ns'}),"
                    "exact('1767225600123456789', {type: 'time', unit: 'ns'}), exact(null, {type: 'int64', unit: null}),"
                    "exact(0.1, {type: 'ratio', unit: 'ratio'}), nsText(3070),"
                    "human('a\\x1b[0m\\n\\u202eb\\u009b', {type: 'string', unit: null}), shortName('x\\x07y', 9)];", None)
    assert text == ["–", "–", "yes", "no", "0:17", "41\u2009234\u2009567 ns",
                    "1\u2009767\u2009225\u2009600\u2009123\u2009456\u2009789 ns", "no value", "10 %", "3.07 µs",
                    r"a\x1b[0m\n\u202eb\x9b", r"x\x07y"]


@needs_node
def test_headings_are_those_of_the_terminal():
    """One place makes them: the text's headings and what it leaves out, the columns of JSON, the page, and Python."""
    diff = support.ROOT / "examples" / "diff"
    for verb, runs in (("diff", [diff / "control", diff / "test"]), ("steps", [support.ROOT / "examples" / "straggler"])):
        table = json.loads(support.output(verb, *runs, "--format", "json"))
        labels = [column["label"] for column in table["columns"]]
        text = support.output(verb, *runs, "--wide").decode().split("\n\n")[1].splitlines()
        empty = [name.strip() for line in text if line.startswith("empty columns not shown: ") for name in line.split(": ", 1)[1].split(",")]
        assert text[0].split() == [label for label in labels if label not in empty]
        narrow = " ".join(support.output(verb, *runs).decode().split("\n\n")[1].splitlines())
        left_out = re.search(r"(?<!columns )not shown: (.*?); --wide", narrow)
        assert (verb == "diff") == bool(left_out)
        if left_out:
            assert {"baseline_count", "this_run_count"} <= set(left_out[1].split(", ")) <= set(labels)
        shown = evaluate('import { label } from "./ui/format"; answer = input.map(label);', table["columns"])
        assert shown == [label.replace("_", " ") for label in labels]


@needs_node
def test_headings_leave_units_to_the_cells():
    columns = [
        ({"name": "algbw_gb_per_s", "label": "algbw_gb_per_s", "type": "float64", "unit": "GB/s"}, "algbw"),
        ({"name": "mean_gbps", "label": "mean_gbps", "type": "float64", "unit": "GB/s"}, "mean"),
        ({"name": "dur_ns", "label": "dur", "type": "duration", "unit": "ns"}, "dur"),
        ({"name": "step_ns", "label": "step_ns", "type": "duration", "unit": "ns"}, "step time"),  # beside a column "step"
        ({"name": "time_ns", "label": "time_ns", "type": "duration_float", "unit": "ns"}, "time"),
        ({"name": "gbps", "label": "gbps", "type": "float64", "unit": "GB/s"}, "gbps"),
        ({"name": "n_kernels", "type": "int64", "unit": None}, "n kernels"),
    ]
    source = """import { label } from "./ui/format";
answer = input.map((column: any) => label(column));"""
    assert evaluate(source, [column for column, _ in columns]) == [heading for _, heading in columns]
