# SPDX-License-Identifier: Apache-2.0
"""tools/check_layers, asked of small trees: each rule fails where it is broken, and nowhere else."""
import shutil
import subprocess

import pytest
import support


def check(root, files):
    (root / "tools").mkdir()
    shutil.copy(support.ROOT / "tools" / "check_layers", root / "tools")
    shutil.copy(support.ROOT / "ARCHITECTURE.md", root)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([root / "tools" / "check_layers"], stdout=subprocess.PIPE, text=True)
    assert (done.returncode == 0) == (not done.stdout)
    return done.stdout


SOUND = {
    "src/base/slice.h": "", "src/base/slice.c": '#include "base/slice.h"\n', "src/base/slice_test.c": "",
    "src/store/rows.inc.h": "", "src/store/rows.c": '#include "base/slice.h"\n#include "store/rows.inc.h"\n',
    "src/store/far.h": "extern const int ht_far;\nint ht_go(int x);\n", "src/store/far.c": "const int ht_far = 1;\nint ht_go(int x)\n{\n\treturn x;\n}\n",
    "src/read/open.h": "", "src/registry/door.c": '#include "read/open.h"\n', "src/model/ask.h": "",
    "src/model/rows/row.h": '#include "model/ask.h"\n', "src/model/calls/call.h": '#include "model/rows/row.h"\n',
    "cli/main.c": '#include "holotrace.h"\n', "include/holotrace/slice.h": "", "examples/c/slice.c": "",
}


def test_sound(tmp_path):
    """A unit is X.c with X.h and X.inc.h; tests, examples and public headers may be named as what they are of."""
    assert check(tmp_path, SOUND) == ""


@pytest.mark.parametrize("broken,said", [
    ({"src/table/slice.h": ""}, "slice: the name of src/base/slice and src/table/slice; a name is in the tree once\n"),
    ({"cli/rows.c": ""}, "rows: the name of cli/rows and src/store/rows; a name is in the tree once\n"),
    ({"src/base/up.c": '#include "store/rows.inc.h"\n'}, "src/base/up.c: base must not include store/rows.inc.h\n"),
    ({"src/base/slice.h": "struct ht_slice {\n\tint n;\n};\n", "src/store/near.h": "struct ht_slice;\n", "src/read/open.h": "enum ht_slice {\n\tHT_ONE\n};\n"},
     "ht_slice: a struct of src/base/slice.h and src/read/open.h; a tag has one meaning\n"),
    ({"src/read/other.h": "", "src/registry/up.c": '#include "read/other.h"\n'}, "src/registry/up.c: registry must not include read/other.h\n"),
    ({"src/model/rows/up.c": '#include "model/calls/call.h"\n'}, "src/model/rows/up.c: calls is above rows: not model/calls/call.h\n"),
    ({"src/model/up.c": '#include "model/rows/row.h"\n'}, "src/model/up.c: rows is above model itself: not model/rows/row.h\n"),
    ({"src/model/attic/up.c": ""}, "src/model/attic/up.c: no place for the room 'attic' in MODEL_ROOMS of tools/check_layers\n"),
    ({"src/store/near.h": "int ht_near(\n        int x);\n", "src/read/open.c": "int ht_near(int x)\n{\n\treturn x;\n}\n"},
     "src/store/near.h: ht_near is declared here and defined in src/read/open.c, another layer or room\n"),
    ({"src/model/rows/row.h": "int ht_call(void);\n", "src/model/calls/call.c": "int ht_call(void)\n{\n\treturn 1;\n}\n"},
     "src/model/rows/row.h: ht_call is declared here and defined in src/model/calls/call.c, another layer or room\n"),
    ({"src/store/near.h": "extern const int ht_near[];\n", "src/read/open.c": "const int ht_near[2] = { 1, 2 };\n"},
     "src/store/near.h: ht_near is declared here and defined in src/read/open.c, another layer or room\n"),
    ({"cli/deep.c": '#include "base/slice.h"\n'}, "cli/deep.c: a front end includes holotrace.h only, not base/slice.h\n"),
    ({"src/base/slice.h": "#if HT_HAS_LEASES\n#endif\n"}, "src/base/slice.h: only sources of src and serve see HT_HAS_LEASES (docs/design/portability.md)\n"),
    ({"tests/file.h": "#if HT_HAS_LEASES\n#endif\n"}, "tests/file.h: only sources of src and serve see HT_HAS_LEASES (docs/design/portability.md)\n"),
    ({"cli/main.c": "#ifdef HT_PORTABLE\n#endif\n"}, "cli/main.c: only sources of src and serve see HT_PORTABLE (docs/design/portability.md)\n"),
])
def test_broken(tmp_path, broken, said):
    assert check(tmp_path, SOUND | broken).replace(f"{tmp_path}/", "").endswith(said)


@pytest.mark.parametrize("ring", [("slice", "other"), ("slice", "other", "third")])
def test_a_circle(tmp_path, ring):
    """Units include each other neither directly nor by way of others, whether headers or sources do it; who only stands beside is not named."""
    files = {f"src/base/{one}.{'c' if one == 'slice' else 'h'}": f'#include "base/{next_}.h"\n' for one, next_ in zip(ring, ring[1:] + ring[:1])}
    said = check(tmp_path, SOUND | files | {"src/base/beside.c": '#include "base/slice.h"\n'})
    assert said.endswith(": units do not include each other in a circle\n") and said.count("\n") == 1 and "beside" not in said
    assert all(f"base/{one}.h" in said for one in ring)


@pytest.mark.parametrize("before,after,said", [
    ("memory ← snapshot ←", "memory ←", "ARCHITECTURE.md: the rooms of the model are not those of MODEL_ROOMS in tools/check_layers\n"),
    ("memory ← snapshot", "snapshot ← memory", "ARCHITECTURE.md: the rooms of the model are not those of MODEL_ROOMS in tools/check_layers\n"),
    ("base ← record", "base", "ARCHITECTURE.md: who may include whom lacks the layer 'record'\n"),
])
def test_the_map_has_the_same_order(tmp_path, before, after, said):
    text = (support.ROOT / "ARCHITECTURE.md").read_text()
    assert text.count(before) == 1
    assert check(tmp_path, SOUND | {"ARCHITECTURE.md": text.replace(before, after)}) == said
