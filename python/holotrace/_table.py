# SPDX-License-Identifier: Apache-2.0
"""Table: a result of an analysis, and Column, one of its columns.

Neither needs numpy, pandas or Arrow; each is asked for only by the method that is named after it.
"""
import os
import warnings

from . import _core
from .options import options

_BINARY = frozenset(form["name"] for form in _core.formats() if form["is_binary"])


def _need(name, what, package=None):
    """Import an optional package, or say how to get it."""
    try:
        return __import__(name)
    except ImportError as error:
        raise ImportError(f"{what} needs {name}, which is not installed: "
                          f"pip install {package or name}") from error


def _shown(value):
    """A value as people read it: six digits of a float are enough."""
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


class Column:
    """One column: a sequence of Python values, None where a cell is null.

    numpy.asarray(column) of numbers without nulls does not copy.
    """

    def __init__(self, core, name):
        self._core = core
        for key, value in core.column_info(name).items():
            setattr(self, key, value)

    def __len__(self):
        return self._core.n_rows

    def __getitem__(self, index):
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step > 0:
                return self._core.values(self.name, start, stop)[::step]
            return self.to_list()[index]
        index = range(len(self))[index]
        return self._core.values(self.name, index, index + 1)[0]

    def __iter__(self):
        for start in range(0, len(self), 4096):
            yield from self._core.values(self.name, start, start + 4096)

    def __repr__(self):
        unit = f" [{self.unit}]" if self.unit else ""
        values = ", ".join(map(_shown, self[:6])) + (", ..." if len(self) > 6 else "")
        return f"<holotrace.Column {self.name}{unit}: {values}>"

    def __array__(self, dtype=None, copy=None):
        array = self.to_numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def to_list(self):
        """All values as Python objects."""
        return self._core.values(self.name)

    def to_numpy(self):
        """An array: the table's own memory, read-only, for numbers without nulls. Numbers with nulls
        become float64 with NaN, text becomes objects with None."""
        numpy = _need("numpy", "an array")
        if self.type == "string":
            codes, texts = self._core.strings(self.name)
            return numpy.array(texts + [None], dtype=object)[numpy.asarray(codes)]
        values, valid = numpy.asarray(self._core.column(self.name)), self._core.validity(self.name)
        if valid is not None:
            return numpy.where(numpy.asarray(valid) != 0, values.astype("float64"), numpy.nan)
        return values.astype(bool) if self.type == "bool" else values


def _load(data, analysis):
    """A table that was pickled."""
    return Table(_core.load_table(data), analysis)


class Table:
    """A result: typed columns with names, units and sentences.

    Shows its first rows in terminals and notebooks, is a sequence of rows (dicts), gives columns by
    name, and leaves as Arrow, pandas, polars, CSV or a plot. It outlives its session.
    """

    def __init__(self, core, analysis=None):
        self._core = core
        self._analysis = analysis

    def __reduce__(self):
        return _load, (self._core.save(), self._analysis)

    @property
    def title(self):
        """What the table is of."""
        return self._core.title

    @property
    def method(self):
        """How the numbers are made, in a line or two."""
        return self._core.method

    @property
    def notes(self):
        """Lines that belong under the table."""
        from ._speech import note_line

        return [note_line(note) for note in self._core.findings]

    @property
    def findings(self):
        """The notes as data: dicts of severity, kind, state, sentence, values, and what to ask next with its arguments."""
        return self._core.findings

    def head(self, n=5):
        """The first rows, as a list of dicts."""
        return self[:n]

    def tail(self, n=5):
        """The last rows, as a list of dicts."""
        return self[max(0, len(self) - n):] if n > 0 else []

    @property
    def columns(self):
        """Names of the columns."""
        return self._core.column_names

    @property
    def shape(self):
        """(rows, columns)"""
        return self._core.n_rows, self._core.n_columns

    @property
    def bar(self):
        """Name of the share column that the analysis suggests to draw, or None."""
        return self._core.bar

    @property
    def n_hidden(self):
        """Rows that top removed."""
        return self._core.n_hidden

    @property
    def check_failed(self):
        """Whether the table is the answer of a check that failed: of a gate, of a history with a regression."""
        return self._core.check_failed

    @property
    def says_no(self):
        """The old name of check_failed; it goes with the next release."""
        warnings.warn("Table.says_no is called check_failed", DeprecationWarning, stacklevel=2)
        return self.check_failed

    def info(self, column):
        """Name, type, role, sentence and unit of a column."""
        return self._core.column_info(column)

    def labels(self, n_rows=None):
        """A text per row made of its key columns."""
        keys = [name for name in self.columns if self.info(name)["role"] == "key"]
        stop = len(self) if n_rows is None else n_rows
        values = [self._core.values(name, 0, stop) for name in keys]
        named = [name if self.info(name)["type"] not in ("string", "bool") else "" for name in keys]
        return [" ".join(f"{name} {value}".strip() for name, value in zip(named, row) if value is not None)
                for row in zip(*values)] if keys else [str(row) for row in range(min(stop, len(self)))]

    def __len__(self):
        return self._core.n_rows

    def __bool__(self):
        return True

    def __iter__(self):
        names = self.columns
        for start in range(0, len(self), 1024):
            for row in zip(*(self._core.values(name, start, start + 1024) for name in names)):
                yield dict(zip(names, row))

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self.columns:
                from ._speech import nearest

                raise KeyError("; ".join(filter(None, [
                    f"no column {key!r} among {', '.join(self.columns)}", nearest(key, self.columns)])))
            return Column(self._core, key)
        if isinstance(key, slice):
            return [self[row] for row in range(len(self))[key]]
        row = range(len(self))[key]
        return {name: self._core.values(name, row, row + 1)[0] for name in self.columns}

    def __contains__(self, name):
        return name in self.columns

    def __repr__(self):
        from . import _show
        return _show.as_text(self, options.max_rows)

    def _repr_html_(self):
        from . import _show
        return _show.as_html(self, options.max_rows)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._core.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self):
        return self._core.__arrow_c_schema__()

    def render(self, format, **how):
        """The table as `holotrace --format` writes it: str, or bytes where the format is binary.

        color, bars, wide, width and no_title are the command line's options for text, safe_csv for csv.
        """
        data = self._core.render(format, **how)
        return data if format in _BINARY else data.decode()

    def to_dict(self):
        """{column: list of values}"""
        return {name: self._core.values(name) for name in self.columns}

    def to_csv(self, path=None, *, safe_csv=False):
        """CSV with exact values in base units: a str, or written to path (a name or a text file).

        With safe_csv texts that a spreadsheet would take for formulas start with an apostrophe.
        """
        data = self._core.render("csv", safe_csv=safe_csv)
        if path is None:
            return data.decode()
        if hasattr(path, "write"):
            path.write(data.decode())
        else:
            with open(os.fspath(path), "wb") as file:
                file.write(data)
        return None

    def to_pandas(self, *, categorical=False, copy=True):
        """A DataFrame, without pyarrow. Integers with nulls are Int64, other nulls NaN or None.

        The frame is yours to write to. With copy=False numbers without nulls stay the table's own memory,
        which is read-only: for frames of many millions of rows that are only read.
        With categorical texts stay numbered, which is small and quick.
        """
        pandas = _need("pandas", "to_pandas()")
        import numpy
        columns = {}
        for name in self.columns:
            columns[name] = self._pandas_column(pandas, numpy, self.info(name)["type"], name, categorical)
        frame = pandas.DataFrame(columns, copy=copy)
        frame.attrs.update(title=self.title, method=self.method, notes=self.notes)
        return frame

    def _pandas_column(self, pandas, numpy, kind, name, categorical):
        if kind == "string":
            codes, texts = self._core.strings(name)
            codes = numpy.asarray(codes)
            if categorical:
                return pandas.Categorical.from_codes(codes, categories=texts)
            return pandas.Series(numpy.array(texts + [None], dtype=object)[codes], dtype=object)
        values, valid = numpy.asarray(self._core.column(name)), self._core.validity(name)
        null = numpy.asarray(valid) == 0 if valid is not None else None
        if null is not None and not null.any():
            null = None
        if kind == "bool":
            values = values.astype(bool)
            return values if null is None else pandas.arrays.BooleanArray(values, null)
        if null is None:
            return values
        if values.dtype.kind == "f":
            return numpy.where(null, numpy.nan, values)
        return pandas.arrays.IntegerArray(values, null)

    def to_polars(self):
        """A polars DataFrame; numbers are not copied."""
        polars = _need("polars", "to_polars()")
        try:
            return polars.DataFrame(self)
        except TypeError:
            # polars before it knew Arrow's capsules
            return polars.from_arrow(self.to_arrow())

    def to_arrow(self):
        """A pyarrow Table with units and sentences as metadata; numbers are not copied."""
        pyarrow = _need("pyarrow", "to_arrow()")
        if hasattr(pyarrow.RecordBatchReader, "from_stream"):
            return pyarrow.RecordBatchReader.from_stream(self).read_all()
        import pyarrow.ipc
        return pyarrow.ipc.open_stream(self._core.render("arrow")).read_all()

    def plot(self, y=None, *, top=30, roofs=None):
        """A plotly figure: series over time as lines, shares as stacked bars, rates over intensity as a roofline, else bars of a measure.

        y names the measure when the usual one is not wanted; top is how many bars are drawn; roofs is the table
        efficiency(view="roofs"), whose peaks a roofline has.
        """
        _need("plotly", "plot()")
        from . import _plot
        return _plot.figure(self, y, top, roofs)
