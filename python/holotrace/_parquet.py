# SPDX-License-Identifier: Apache-2.0
"""A dataset of Arrow files as one of Parquet files."""
import json
import os
import pathlib


def to_parquet(folder):
    """Replace the Arrow files that the manifest of a dataset names; the manifest comes last."""
    import pyarrow.ipc
    import pyarrow.parquet

    folder = pathlib.Path(os.fsdecode(folder))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").unlink()
    for table in manifest["tables"]:
        for file in table["files"]:
            old = folder / file["path"]
            new = old.with_suffix(".parquet")
            with pyarrow.ipc.open_file(os.fspath(old)) as reader:
                pyarrow.parquet.write_table(reader.read_all(), new)
            old.unlink()
            file["path"] = new.relative_to(folder).as_posix()
    manifest["format"] = "parquet"
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
