# SPDX-License-Identifier: Apache-2.0
"""Sessions whose traces are with the workers of an executor (concurrent.futures): the same tables, computed there.

    files found by one worker ─► dealt by size into shares ─► each described ─► joined here: ranks, clocks, notes
    a question ─► the parts of every share, made by whichever worker is free ─► merged and finished here

A worker needs nothing but this package and the files. It keeps the sets that it opened last, and the cache on its
disk makes another opening quick, so shares need not go to the worker that had them before.
"""
import collections
import os
import threading

from . import _core
from ._errors import Error, InputError, LimitError, MissingError, UsageError

#: Shares per worker where the number of workers is known, so that a slow one does not hold up the rest; and shares
#: in all where it is not.
SHARES_PER_WORKER = 4
SHARES = 32
#: Sets that a worker keeps open.
KEPT = 8

_kept = collections.OrderedDict()
_lock = threading.Lock()


# ---- in the worker

def _opened(sources, options):
    """The set of these files, opened now or before; None for no files."""
    from ._session import core_open

    if not sources:
        return None
    key = (tuple(sources), repr(sorted(options.items())))
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    opened = core_open(list(sources), listed=True, progress=False, **options)
    with _lock:
        _kept[key] = opened
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return opened


def _changed_ns(source):
    """When the file was changed last: with path and size it tells that two machines see one file."""
    try:
        return os.stat(source.partition("=")[2]).st_mtime_ns
    except OSError:
        return 0


def list_files(sources, options):
    """What a worker sees of these sources: (description, [(source, size, when it was changed)])."""
    wanted = {key: options[key] for key in ("recursive", "partial", "prefer_db") if key in options}
    told, files = _core.list_files(sources, **wanted)
    return told, [(source, size, _changed_ns(source)) for source, size in files]


def describe(sources, options, with_facts):
    """What the others have to know of these files."""
    opened = _opened(sources, options)
    return opened.describe(with_facts) if opened is not None else _core.describe_missing([])


def make(name, arguments, view, sides):
    """The parts of a share: sides has (files, options, which description is theirs, all descriptions) per run."""
    joined = [_core.join(_opened(sources, options), i_own, told) for sources, options, i_own, told in sides]
    return joined[0].make(name, arguments, other=joined[1:] or None, **view)


# ---- here

class Share:
    """Some of the files, read by the workers of one executor."""

    def __init__(self, executor, sources):
        self.executor, self.sources = executor, sources
        self.told = None

    @property
    def paths(self):
        return [source.partition("=")[2] for source in self.sources]


def _n_shares(executor, shares, n_files):
    if shares is None:
        workers = getattr(executor, "_max_workers", None)
        shares = SHARES_PER_WORKER * workers if isinstance(workers, int) and workers > 0 else SHARES
    return max(1, min(shares, n_files))


def _refuse_shared(lists):
    """A file that the workers of two executors see is local to neither, and would be counted twice."""
    seen = {}
    for i, files in enumerate(lists):
        for file in files:
            if seen.setdefault(file, i) != i:
                raise UsageError(f"{file[0].partition('=')[2]} is the same file for two executors",
                                 hint="give one executor where all workers see the same files")


def _collect(futures, partial=False):
    """The results of {key: future} as [(key, result)], and with partial what failed as [(key, error)]."""
    done, failed = [], []
    try:
        for key, future in futures.items():
            try:
                done.append((key, future.result()))
            except Exception as error:
                ours = isinstance(error, Error)
                if partial and (not ours or isinstance(error, (InputError, LimitError))):
                    failed.append((key, error))
                elif ours:
                    raise
                else:
                    raise LimitError(
                        f"a worker failed: {type(error).__name__}: {error}",
                        hint="a worker that is killed often lacks memory: use more of them, or partial=True to go on "
                             "without its traces") from error
    finally:
        for future in futures.values():
            future.cancel()
    return done, failed


class FarSet:
    """What a Session asks of the engine, answered by the workers."""

    def __init__(self, sources, executors, options, shares):
        self.executors, self.options = executors, options
        self.partial = options.get("partial", False)
        self.missing = []
        self.listings, self.shares = [], []
        listings, _ = _collect({executor: executor.submit(list_files, sources, options) for executor in executors})
        _refuse_shared([files for _, (_, files) in listings])
        for executor, (told, files) in listings:
            self.listings.append(told)
            n = _n_shares(executor, shares, len(files))
            dealt = [[] for _ in range(n)]
            for (source, _, _), share in zip(files, _core.deal([size for _, size, _ in files], n)):
                dealt[share].append(source)
            self.shares += [Share(executor, sources) for sources in dealt if sources]
        self._describe(False)

    def _lose(self, share, error):
        """Go on without the files of a share."""
        why = error.message if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        self.missing += [f"{path}: {why}" for path in share.paths]
        self.shares.remove(share)

    def _describe(self, with_facts):
        """Have all files described, and know of all ranks."""
        told, failed = _collect({share: share.executor.submit(describe, share.sources, self.options, with_facts)
                                 for share in self.shares}, self.partial)
        for share, description in told:
            share.told = description
        for share, error in failed:
            self._lose(share, error)
        self._join()

    def _join(self):
        self.told = [share.told for share in self.shares] + self.listings + [_core.describe_missing(self.missing)]
        self.joined = _core.join(None, 0, self.told)

    ranks = property(lambda self: self.joined.ranks)
    paths = property(lambda self: self.joined.paths)
    n_events = property(lambda self: self.joined.n_events)
    loss_note = property(lambda self: self.joined.loss_note)
    closed = property(lambda self: self.joined.closed)

    def close(self):
        self.joined.close()

    def _rounds(self, runs):
        """The shares of every run, one of each together where the same executor has them."""
        for executor in self.executors:
            lists = [[(i, share) for i, share in enumerate(run.shares) if share.executor is executor] for run in runs]
            for k in range(max(map(len, lists))):
                yield executor, [one[k] if k < len(one) else None for one in lists]

    def run(self, name, args=None, columns=None, where=None, sort=None, top=0, other=None):
        runs = [self, *(other or [])]
        for run in runs:
            if not isinstance(run, FarSet) or len(run.executors) != len(self.executors) or \
                    any(a is not b for a, b in zip(run.executors, self.executors)):
                raise UsageError("runs can only be compared when they were opened with the same executor",
                                 hint="open both with executor=, or neither")
        view = {"columns": columns, "where": where, "sort": sort, "top": top}
        while True:
            joined = [run.joined for run in runs[1:]]
            if self.joined.lacks_facts(name, args, other=joined or None, **view):
                for run in runs:
                    run._describe(True)
                continue
            parts, again = self._make(name, args, view, runs)
            if not again:
                return self.joined.finish(parts, joined)

    def _make(self, name, args, view, runs):
        """The parts of all shares, and whether some failed and the question is to be asked again without them."""
        futures = {}
        for executor, shares in self._rounds(runs):
            sides = []
            for run, share in zip(runs, shares):
                sides.append((share[1].sources, run.options, share[0], run.told) if share is not None
                             else ([], run.options, 0, run.told))
            futures[tuple(share and share[1] for share in shares)] = executor.submit(make, name, args, view, sides)
        parts, failed = _collect(futures, self.partial)
        for shares, error in failed:
            for run, share in zip(runs, shares):
                if share is not None:
                    run._lose(share, error)
        for run in runs:
            if failed:
                run._join()
        return [part for _, part in parts], bool(failed)

    def convert(self, *unused, **also_unused):
        raise MissingError("the traces are with the workers of an executor",
                           hint="open them without executor= where they can be read")

    dump = sql = export = convert
