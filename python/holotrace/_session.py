# SPDX-License-Identifier: Apache-2.0
"""Session: traces opened together, with one method per analysis of the engine."""
import os
import warnings

from . import _core, _progress
from ._errors import LossWarning, UsageError
from ._table import Table
from .options import cache_dir as default_cache_dir, options, use_cache


def source_list(sources):
    """Paths as the engine takes them: one path, several, or {rank: path}."""
    if isinstance(sources, (str, bytes, os.PathLike)):
        return [sources]
    if hasattr(sources, "items"):
        return [f"{int(rank)}={os.fsdecode(path)}" for rank, path in sources.items()]
    return list(sources)


def attach_lines(attach):
    """What joins the traces, a source per line as the engine takes it; None for nothing."""
    if attach is None:
        return None
    return "\n".join(os.fsdecode(source) for source in source_list(attach)) or None


def core_open(sources, *, recursive=False, strict=False, cache=None, cache_dir=None, jobs=None,
              memory_limit=None, kernel_rules=None, progress=None, verify_cache=False, prefer_db=False,
              partial=False, listed=False, attach=None):
    """Open a set with the package's options as defaults; the engine's object."""
    cache = use_cache() if cache is None else bool(cache)
    place = cache_dir if cache_dir is not None else default_cache_dir()
    wanted = options.progress if progress is None else progress
    callback, done = _progress.make(wanted)
    try:
        return _core.open(
            source_list(sources), recursive=recursive, strict=strict, no_cache=not cache,
            cache_dir=place if cache else None, cache_max_bytes=options.cache_max_bytes,
            jobs=options.jobs if jobs is None else jobs,
            memory_limit=options.memory_limit if memory_limit is None else memory_limit,
            kernel_rules=kernel_rules, progress=callback, verify_cache=verify_cache,
            prefer_db=prefer_db, partial=partial, listed=listed, attach=attach_lines(attach))
    finally:
        done()


def joined(value):
    """A list as the engine takes it: "a,b"; text, numbers and None as they are."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if getattr(value, "shape", None) == ():
        return value.item()  # a number of numpy
    if isinstance(value, (bytes, bytearray)):
        raise TypeError("text must be a str, not bytes")
    return ",".join(str(joined(item)) for item in value)


class Session:
    """Traces opened together by holotrace.open(): one rank each, aligned and immutable.

    Every analysis of the engine is a method that returns a Table. Any number of threads may use a
    session; close() waits for nobody and frees the traces when the last call has returned.
    """

    def __init__(self, core):
        self._core = core

    @property
    def ranks(self):
        """The ranks, ascending."""
        return self._core.ranks

    @property
    def paths(self):
        """{rank: file}"""
        return dict(zip(self._core.ranks, self._core.paths))

    @property
    def n_events(self):
        """{rank: number of events}"""
        return dict(zip(self._core.ranks, self._core.n_events))

    def serve(self, port=None):
        """Show these traces as a page: in the cell of a notebook, or in a browser at .url; .stop() ends it."""
        from ._serve import serve
        return serve(self.paths, port=port)

    @property
    def loss_note(self):
        """What was lost while reading, or None."""
        return self._core.loss_note

    @property
    def closed(self):
        """Whether close() was called."""
        return self._core.closed

    def close(self):
        """Let go of the traces. Tables stay."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __repr__(self):
        if self.closed:
            return "<holotrace.Session, closed>"
        n_ranks, n_events = len(self.ranks), sum(self._core.n_events)
        return f"<holotrace.Session: {n_ranks} rank{'s' * (n_ranks != 1)}, {n_events:,} events>"

    def run(self, name, other=None, *, columns=None, where=None, sort=None, top=0, **arguments):
        """Run an analysis by name: session.run("kernel-types", by="rank").

        name: of the analysis, with - or _
        other: the session to compare with, for analyses of two
        columns: which columns, in which order: "a,b" or a list
        where: keep rows for which this holds: "dur_ns > 1ms and name ~ nccl"
        sort: order by columns; a minus means descending: "-sum_ns,name"
        top: only the first rows; 0: all
        """
        from ._speech import argument, nearest

        values = {key.rstrip("_").replace("_", "-"): value for key, value in arguments.items()}
        name = name.replace("_", "-")
        known = {analysis["name"]: analysis for analysis in _core.analyses()}
        if name not in known:
            raise UsageError(f"no analysis named {name}",
                             hint=nearest(name, known) or "help(holotrace.Session) shows all")
        params = {param["name"] for param in [*known[name]["params"], *_core.common_params()]}
        for key in values:
            if key not in params:
                raise UsageError(f"{name} has no argument {argument(key)}", hint=nearest(
                    key, params) or f"help(holotrace.Session.{argument(name)}) shows all")
        return self._run(name, values, other, columns, where, sort, top)

    def sql(self, query, params=None, *, base=None, timeout=0, max_rows=0):
        """Run one SQL statement over all ranks: session.sql("SELECT name, sum(dur_ns) FROM gpu GROUP BY name").

        Tables are events, gpu, ops, launches, collectives, steps, ranks, tracks, args, strings, health, and
        every analysis: kernel_breakdown('by=all'). "SELECT * FROM sql_tables" and sql_columns list them.

        query: the statement, in SQLite's language; it only reads
        params: {name: value} for :name in the query
        base: the Session that diff and gate compare this one with; a query itself opens no files
        timeout: seconds after which LimitError is raised; 0: never
        max_rows: stop after so many rows, with a note; 0: never
        """
        given = {key: joined(value) for key, value in (params or {}).items()}
        return Table(self._core.sql(query, given, timeout_ms=round(timeout * 1000), max_rows=max_rows,
                                    base=base and base._core), "sql")

    def export(self, folder, *, tables=None, format="arrow", rows_a_file=0):
        """Write tables of SQL as a dataset: a folder per table and rank, and manifest.json.

        folder: where to; it must not hold a dataset already
        tables: which, "events,gpu" or a list; None: those of the columns
        format: "arrow" (IPC files) or "parquet", which needs pyarrow
        rows_a_file: events of a rank in one file; 0: a million
        """
        if format not in ("arrow", "parquet"):
            raise ValueError(f"format must be 'arrow' or 'parquet', not {format!r}")
        if format == "parquet":
            from ._table import _need

            _need("pyarrow", "Session.export(format='parquet')")
        self._core.export(folder, joined(tables), rows_a_file)
        if format == "parquet":
            from ._parquet import to_parquet

            to_parquet(folder)

    def report(self, path=None, *, top=10):
        """Every analysis that the traces support, in one object that shows as text or in a notebook.

            holotrace.open("traces/").report("report.html")

        path: also write it, as .html, .md or .txt
        top: rows of each table; 0: all
        """
        from ._report import Report

        report = Report(self, top)
        if path is not None:
            report.save(path)
        return report

    def convert(self, path, *, ranks=None, steps=None, categories=None, threads=None, from_ns=None,
                to_ns=None, document=None, merge=False, with_counters=False, overlay=None,
                overlay_args=None, partial=False):
        """Write the traces as Chrome JSON; .gz and .zst compress, "{rank}" makes a file per rank.

        overlay draws "critical-path" or "kernel-sequences" into them, overlay_args are that
        analysis's arguments. Traces of which something was lost while reading need partial=True.
        """
        texts = {"ranks": ranks, "steps": steps, "categories": categories, "threads": threads,
                 "from_ns": from_ns, "to_ns": to_ns, "document": document}
        texts = {key: None if value is None else str(joined(value)) for key, value in texts.items()}
        arguments = {key.replace("_", "-"): joined(value) for key, value in (overlay_args or {}).items()}
        self._core.convert(path, merge=merge, with_counters=with_counters, overlay=overlay,
                           overlay_args=arguments, partial=partial, **texts)

    def __getattr__(self, name):
        from ._speech import nearest

        verbs = [analysis["name"].replace("-", "_") for analysis in _core.analyses()]
        raise AttributeError("; ".join(filter(None, [
            f"Session has no attribute {name!r}", None if name.startswith("_") else nearest(name, verbs)])))

    def _repr_html_(self):
        from html import escape

        from ._show import session_html

        return f'<div class="holotrace"><code>{escape(repr(self))}</code></div>' if self.closed else session_html(self)

    @staticmethod
    def _refuse(method, unknown, known):
        """An argument that the method does not have: an error as Python's own, with the nearest name."""
        from ._speech import nearest

        name = next(iter(unknown))
        raise TypeError("; ".join(filter(None, [
            f"Session.{method}() got an unexpected keyword argument {name!r}", nearest(name, known)])))

    def _run(self, name, values, other, columns, where, sort, top):
        if isinstance(top, bool) or not hasattr(top, "__index__"):
            raise TypeError(f"top must be a whole number, not {top!r}")
        given = {}
        for key, value in values.items():
            value = joined(value)
            if value is not None and value != _DEFAULTS.get((name, key), _NEVER):
                given[key] = value
        if options.hta_compat and values.get("hta-compat") is None:
            given["hta-compat"] = True
        if other is not None:
            others = [other] if isinstance(other, Session) else list(other) if _is_list(other) else [other]
            for one in others:
                if not isinstance(one, Session):
                    raise TypeError(f"compare with a holotrace.Session, not {type(one).__name__}")
            other = [one._core for one in others]
        return Table(self._core.run(name, given, columns=joined(columns), where=where,
                                    sort=joined(sort), top=top, other=other), name)


def _without_unknown(method):
    """The signature of a method less the catch-all that finds misspelt arguments."""
    import inspect  # slow to import, and needed by few programs

    full = inspect.signature(method)
    return full.replace(parameters=[one for one in full.parameters.values()
                                    if one.kind is not one.VAR_KEYWORD])


def _is_list(value):
    return isinstance(value, (list, tuple))


_NEVER = object()
_DEFAULTS = {}


class _Method:
    """Stands for a method until it is first looked at: compiling all would slow the import down."""

    def __init__(self, analysis, common):
        self.analysis, self.common = analysis, common

    def __get__(self, instance, owner=None):
        from . import _methods
        name, found = _methods.method_name(self.analysis), {}
        # Annotations stay text, so that nothing of typing is needed here.
        text = "from __future__ import annotations\n" + _methods.source(self.analysis, self.common)
        exec(compile(text, f"<holotrace.Session.{name}>", "exec"), {"__name__": __name__}, found)
        method = found[name]
        method.__signature__ = _without_unknown(method)
        method.__qualname__ = f"Session.{name}"
        method.__doc__ = _methods.docstring(self.analysis, self.common)
        for param in _methods.parameters(self.analysis, self.common):
            _DEFAULTS[self.analysis["name"], param["name"]] = _methods.default_of(param)
        setattr(Session, name, method)
        return method.__get__(instance, owner)


def _add_methods():
    common = _core.common_params()
    for analysis in _core.analyses():
        setattr(Session, analysis["name"].replace("-", "_"), _Method(analysis, common))


_add_methods()


def open(sources, *, recursive=False, strict=False, cache=None, cache_dir=None, jobs=None,
         memory_limit=None, kernel_rules=None, progress=None, verify_cache=False, prefer_db=False,
         partial=False, attach=None, executor=None, shares=None):
    """Open traces and return a Session.

    sources        a file, a directory, a glob or "rank=path"; a list of such; or {rank: path}
    recursive      descend into directories
    strict         what was not stored as written is an error instead of a warning
    cache          keep the parsed traces on disk for the next time
    cache_dir      where; by default where the command line keeps them
    jobs           threads, 0: one per CPU; results do not depend on it
    memory_limit   bytes, 0: none
    kernel_rules   a file with extra rules that sort kernels into classes
    progress       True, False, None (terminals and notebooks), or a function of
                   (what, done, total) that may return False to cancel
    verify_cache   believe the cache only after hashing the whole trace file
    prefer_db      of an Ascend rank that is there as text and as database, read the database
    partial        go on without files that cannot be read; every result names them
    attach         files or folders that join the traces (capture traces, compiler logs, execution traces, ...):
                   a path, a list of paths, or {rank: path}; see docs/attribution.md
    executor       read the traces and compute with the workers of a concurrent.futures.Executor, which
                   see the paths; this process need not. A list of them for machines that see different
                   files. jobs is then threads per worker, 1 unless given. See docs/cluster.md
    shares         into how many tasks to deal the files; by default four per worker

    What is not given comes from holotrace.options. Ctrl-C interrupts a load.
    """
    choice = {"recursive": recursive, "strict": strict, "cache": cache, "cache_dir": cache_dir,
              "memory_limit": memory_limit, "kernel_rules": kernel_rules, "verify_cache": verify_cache,
              "prefer_db": prefer_db, "partial": partial, "attach": attach}
    if executor is None:
        core = core_open(sources, jobs=jobs, progress=progress, **choice)
    else:
        from ._executor import FarSet  # few programs need it

        executors = list(executor) if _is_list(executor) else [executor]
        core = FarSet([os.fsdecode(source) for source in source_list(sources)], executors,
                      {**choice, "jobs": 1 if jobs is None else jobs}, shares)
    if core.loss_note:
        warnings.warn(core.loss_note + "; see Session.health()", LossWarning, stacklevel=2)
    return Session(core)


def _sessions(runs):
    """[(session, whether it was opened here)]: of sessions, or of what open() takes."""
    opened = []
    try:
        for run in runs:
            opened.append((run, False) if isinstance(run, Session) else (open(run), True))
    except BaseException:
        _close(opened)
        raise
    return opened


def _close(sessions):
    for session, is_ours in sessions:
        if is_ours:
            session.close()


def diff(baseline, run, **arguments):
    """Compare a run with a baseline: sessions, or what open() takes. Arguments as for Session.diff()."""
    sessions = _sessions([baseline, run])
    try:
        return sessions[0][0].diff(sessions[1][0], **arguments)
    finally:
        _close(sessions)


def gate(base, test, **arguments):
    """Is test slower than base beyond what is allowed and beyond noise? A Table; its check_failed tells.

    base, test     a run or a list of runs: each a session, or what open() takes as one source
    Arguments as for Session.gate(): max_slowdown=0.03, metric="step" ...
    """
    sides = [list(side) if _is_list(side) else [side] for side in (base, test)]
    if not all(sides):
        raise ValueError("both base and test need a run")
    sessions = _sessions(sides[0] + sides[1])
    try:
        first, *others = [session for session, _ in sessions]
        return first.gate(others, n_base=len(sides[0]), **arguments)
    finally:
        _close(sessions)


def _over_files(name, et, kineto, arguments):
    """An analysis over execution traces: alone, or with the Kineto traces of the same windows."""
    paths = [os.fspath(path) for path in (et if _is_list(et) else [et])]
    view = {key: arguments.pop(key) for key in ("columns", "where", "sort", "top") if key in arguments}
    if kineto is None:
        given = {key.rstrip("_").replace("_", "-"): joined(value) for key, value in arguments.items()}
        for key in ("columns", "sort"):
            if key in view:
                view[key] = joined(view[key])
        return Table(_core.run(name, {"et": "\n".join(paths), **given}, **view), name)
    sessions = _sessions([kineto])
    try:
        return sessions[0][0].run(name, et="\n".join(paths), **view, **arguments)
    finally:
        _close(sessions)


def et_nodes(et, **arguments):
    """The nodes of execution traces: a file, a folder, or a list of such. Arguments as for Session.et_nodes()."""
    return _over_files("et-nodes", et, None, arguments)


def et_check(et, kineto=None, **arguments):
    """Defects of execution traces, and of pairs with their Kineto traces: a session, or what open() takes."""
    return _over_files("et-check", et, kineto, arguments)


def et_link(et, kineto, **arguments):
    """Execution traces joined with their Kineto traces: a session, or what open() takes."""
    return _over_files("et-link", et, kineto, arguments)
