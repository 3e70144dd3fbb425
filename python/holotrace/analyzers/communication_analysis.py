# SPDX-License-Identifier: Apache-2.0
"""How much communication is hidden behind computation."""

import numpy as np
import pandas as pd

from holotrace._hta import plots


class CommunicationAnalysis:
    @classmethod
    def get_comm_comp_overlap(cls, t, visualize: bool = True) -> pd.DataFrame:
        result = t.run("comm-overlap", ranks=t.get_ranks(), columns=["rank", "overlap_share"])
        df = pd.DataFrame({
            "rank": result.ints("rank"),
            "comp_comm_overlap_pctg": np.round(100 * result.floats("overlap_share"), 2),
        })
        if visualize:
            plots.show(plots.overlap(df))
        return df
