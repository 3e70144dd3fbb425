# SPDX-License-Identifier: Apache-2.0
"""Page and report draw the same thing in the same colour, in both themes, and the rank that keeps the others waiting is what stands out."""
import json
import urllib.parse

import served
import support
from web import needs_browser

pytestmark = [needs_browser, served.needs_serve]
RUN = support.ROOT / "examples" / "straggler"


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def distance(cell, color):
    wanted = [int(color[i:i + 2], 16) for i in (1, 3, 5)]
    return sum(abs(int(part) - one) for part, one in zip(cell.split(), wanted))


def test_heat_maps_and_kernels(tmp_path):
    report = tmp_path / "report.html"
    support.output("report", RUN, "-o", report)
    rows = rows_of(served.table("collectives", RUN, "--view", "lateness"))
    late = {(row["rank"], row["step"]): row["late_ns"] for row in rows}
    most = max(late, key=late.get)
    steps = sorted({step for _, step in late})
    with served.serving(RUN) as url:
        run, = served.wait_ready(url)["runs"]
        place = f"{url}#/{urllib.parse.quote(run['id'], safe='')}"
        said = json.loads(served.drive("heat.mjs", f"{place}/overview", f"{place}/kernels", report))
    for theme in ("light", "dark"):
        found = said[theme]
        assert found["page"] == found["report"] and len(set(found["page"]["bars"])) > 1, theme
        cells = found["page"]["map"]
        assert len(cells) == len({rank for rank, _ in late}) and all(len(line) == len(steps) for line in cells)
        # the strongest colour, which is that of the scale's end, is at the latest rank
        place = {(rank, step): cells[rank][steps.index(step)] for rank, step in late}
        nearest = min(place, key=lambda key: distance(place[key], found["high"]))
        assert nearest == most and distance(place[most], found["high"]) <= 3, theme
