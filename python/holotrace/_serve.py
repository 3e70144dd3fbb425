# SPDX-License-Identifier: Apache-2.0
"""The page of `holotrace serve`, from inside a process: in the cell of a notebook, or in a browser."""
import html

from . import _core
from ._session import source_list
from .options import cache_dir as default_cache_dir, options, use_cache

DEFAULT_PORT = 6006


class Server:
    """A page that is being served on loopback; a notebook shows it in the cell.

    It ends with stop(), with the `with` block, or when nobody holds it any more.
    """

    def __init__(self, core, height=900):
        self._core = core
        self.height = height

    @property
    def url(self):
        """What to open in a browser; None when it has stopped."""
        return self._core.url

    @property
    def port(self):
        return self._core.port

    def stop(self):
        """End it. Twice is once."""
        self._core.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def __repr__(self):
        return f"<holotrace.Server {self.url}>" if self.url else "<holotrace.Server, stopped>"

    def _repr_html_(self):
        if not self.url:
            return "<p>The page has been stopped.</p>"
        url = html.escape(self.url, quote=True)
        return (f'<iframe src="{url}" width="100%" height="{int(self.height)}" style="border: 1px solid #8884" '
                f'title="Holotrace"></iframe><p><a href="{url}" target="_blank" rel="noopener">{url}</a></p>')


def serve(logdir, *, port=None, height=900, path_prefix=None):
    """Serve a log directory, or traces as open() takes them, on loopback; a Server.

    port: that one, or by default 6006 or the next that is free. The page works where the browser reaches this
    machine's loopback: on it, or through a tunnel.
    """
    sources = source_list(logdir)
    core = _core.serve(sources, port=DEFAULT_PORT if port is None else port, or_next_port=port is None,
                       cache_dir=default_cache_dir() if use_cache() else None, jobs=options.jobs or 0,
                       path_prefix=path_prefix)
    return Server(core, height)
