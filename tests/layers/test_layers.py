# SPDX-License-Identifier: Apache-2.0
"""tools/check_layers, asked of small trees: each rule fails where it is broken, and nowhere else."""
import shutil
import subprocess

import pytest
import support


def check(root, files):
    (root / "tools").mkdir()
    shutil.copy(support.ROOT / "tools" / "check_layers", root / "tools")
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
    "cli/main.c": '#include "holotrace.h"\n', "include/holotrace/slice.h": "", "examples/c/slice.c": "",
}


def test_sound(tmp_path):
    """A unit is X.c with X.h and X.inc.h; tests, examples and public headers may be named as what they are of."""
    assert check(tmp_path, SOUND) == ""


@pytest.mark.parametrize("broken,said", [
    ({"src/table/slice.h": ""}, "slice: the name of src/base/slice and src/table/slice; a name is in the tree once\n"),
    ({"cli/rows.c": ""}, "rows: the name of cli/rows and src/store/rows; a name is in the tree once\n"),
    ({"src/base/up.c": '#include "store/rows.inc.h"\n'}, "src/base/up.c: base must not include store/rows.inc.h\n"),
    ({"cli/deep.c": '#include "base/slice.h"\n'}, "cli/deep.c: a front end includes holotrace.h only, not base/slice.h\n"),
    ({"src/base/slice.h": "#if HT_HAS_LEASES\n#endif\n"}, "src/base/slice.h: only sources of src and serve see HT_HAS_LEASES (docs/design/portability.md)\n"),
    ({"tests/file.h": "#if HT_HAS_LEASES\n#endif\n"}, "tests/file.h: only sources of src and serve see HT_HAS_LEASES (docs/design/portability.md)\n"),
    ({"cli/main.c": "#ifdef HT_PORTABLE\n#endif\n"}, "cli/main.c: only sources of src and serve see HT_PORTABLE (docs/design/portability.md)\n"),
])
def test_broken(tmp_path, broken, said):
    assert check(tmp_path, SOUND | broken).replace(f"{tmp_path}/", "").endswith(said)


def test_two_that_include_each_other(tmp_path):
    said = check(tmp_path, SOUND | {"src/base/slice.c": '#include "base/other.h"\n', "src/base/other.h": '#include "base/slice.h"\n'})
    assert "no two units include each other" in said
