# SPDX-License-Identifier: Apache-2.0
"""CUPTI counters with the operators that launched the kernels."""

from typing import List, Optional

import pandas as pd

from holotrace.analyzers.trace_counters import chosen_ranks

_OPS = {"ffma": 2, "fmul": 1, "fadd": 1, "hfma": 2, "hmul": 1, "hadd": 1, "dfma": 2, "dmul": 1,
        "dadd": 1}
# floating point operations per count of a counter
CUDA_SASS_INSTRUCTION_COUNTER_FLOPS = {
    f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum": flops for op, flops in _OPS.items()
}


class CuptiCounterAnalysis:
    cuda_profiler_cat = "cuda_profiler_range"

    @classmethod
    def get_counter_data_with_operators(cls, t, ranks: Optional[List[int]] = None
                                        ) -> List[pd.DataFrame]:
        """One frame per rank: the profiler ranges with their counters and operators."""
        frames: List[pd.DataFrame] = []
        if not t.has_category(cls.cuda_profiler_cat):
            return frames
        for rank in chosen_ranks(t, ranks):
            t.add_call_graph(rank)
            frames.append(cls._of_rank(t, rank))
        return frames

    @classmethod
    def _of_rank(cls, t, rank) -> pd.DataFrame:
        result = t.run("cupti-counters", ranks=[rank])
        df = t.traces[rank]
        df = df[df["cat"] == t.known_symbols.sym_index[cls.cuda_profiler_cat]].copy()
        # the engine has one row per range, by index
        df = df.set_index("index", drop=False).loc[result.ints("index")].reset_index(drop=True)
        t.known_symbols.decode_df(df, create_new_columns=False)
        if "user_annotation" in df.columns:
            df["s_user_annotation"] = t.known_symbols.texts(df["user_annotation"])
        df["index_runtime"] = result.ints("index_launch")
        stacks = [text.split("|") if text else [] for text in result.texts("op_stack")]
        df["op_stack"] = pd.Series(stacks, dtype=object)
        df["top_level_op"] = result.texts("top_level_op")
        df["bottom_level_op"] = result.texts("bottom_level_op")
        return df.sort_values("ts", kind="stable", ignore_index=True)
