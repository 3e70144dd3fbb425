# SPDX-License-Identifier: Apache-2.0
"""Many runs over time: a store of their numbers, and where these changed."""
import os

from . import _core, _progress
from ._errors import UsageError
from ._session import Session, joined, open as open_traces
from ._table import Table
from .options import options


def history(store, *, add=None, label=None, file=None, view="changes", path=None, since=None,
            max_pvalue=0.001, min_change=0.0, window=50, columns=None, where=None, sort=None, top=0):
    """Keep the numbers of runs in a store, and find where they changed for good; a Table.

        holotrace.history("runs.db", add=holotrace.open("traces/"), label=commit)
        holotrace.history("runs.db", view="series", path="step").to_pandas()

    store: an SQLite file; it is made when the first run is added
    add: a Session, or traces as open() takes them, to add first
    label: what the added run is called, mostly its commit
    file: runs of other programs to add first: CSV with a label and then a value per column, a run per line
    view: "changes", "series" (the numbers of every run) or "latest" (those of the last one)
    path: only this and what is below it: "step", "gpu/kernels"
    since: the label of the first run whose changes count
    max_pvalue: the chance up to which a change is no accident
    min_change: the smallest change that counts; 0.02 is 2 %
    window: runs that are looked at together
    columns, where, sort, top: rows and columns of the table, as for Session.run()

    The table's check_failed is True when there is a regression that stayed.
    """
    if (add is None) != (label is None):
        raise UsageError("add and label go together", hint="label is mostly the commit of the run that is added")
    ours = add is not None and not isinstance(add, Session)
    session = open_traces(add) if ours else add
    if session is not None and not isinstance(session._core, _core.Set):
        raise UsageError("the traces of an executor cannot be added", hint="open them here, without executor=")
    callback, done = _progress.make(options.progress)
    try:
        core = _core.history(
            store, add=session and session._core, label=label, source=_source_of(session), file=file, view=view,
            path=path, since=since, columns=joined(columns), where=where, sort=joined(sort),
            max_pvalue=max_pvalue, min_change=min_change, window=window, top=top, progress=callback)
    finally:
        done()
        if ours:
            session.close()
    return Table(core, "history")


def _source_of(session):
    """Where a run came from: the folder of its files, as the command line notes what it was given."""
    paths = list(session.paths.values()) if session is not None else []
    if len(paths) > 1:
        return os.path.commonpath([os.path.abspath(path) for path in paths])
    return paths[0] if paths else None
