# SPDX-License-Identifier: Apache-2.0
"""A tab in TensorBoard: the page of `holotrace serve` over TensorBoard's log directory.

TensorBoard finds the class by the entry point tensorboard_plugins. The server of the page starts on loopback when
the tab is first asked for, and its routes are passed on below TensorBoard's own path, so that a browser talks to
TensorBoard alone and what protects or proxies that holds here too.
"""
import http.client
import re
import threading
import urllib.parse

from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from ._serve import serve

# The page's place is part of TensorBoard's address, so that it survives a reload and can be sent to others. It begins with the whole trace,
# which is what the profiler's own plugin looks at, so that its users find its numbers.
SCRIPT = b"""export function render() {
  const page = document.createElement("iframe");
  const place = /[#&]p\\.holotrace\\.at=([^&]*)/, kept = "holotrace.at";
  const linked = place.exec(top.location.hash);
  const at = linked ? decodeURIComponent(linked[1]) : sessionStorage.getItem(kept) || "";
  page.src = "page/index.html" + (at.startsWith("#/") ? at : "#/?step=all");
  page.onload = () => {
    const inner = page.contentWindow;
    const keep = () => {
      sessionStorage.setItem(kept, inner.location.hash);
      top.history.replaceState(top.history.state, "", "#holotrace&p.holotrace.at=" + encodeURIComponent(inner.location.hash));
    };
    inner.addEventListener("hashchange", keep);
    if (inner.location.hash) keep();
  };
  page.title = "Holotrace";
  page.style.cssText = "position:fixed;inset:0;width:100%;height:100%;border:0";
  document.body.appendChild(page);
}
"""
# What concerns one hop only, or what the answer to TensorBoard's client is given anew.
OWN_HEADERS = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}
PASSED_ON = ("Accept", "Accept-Encoding", "If-None-Match", "Content-Type")
MAX_BODY = 1 << 20


class HolotracePlugin(base_plugin.TBPlugin):
    plugin_name = "holotrace"

    def __init__(self, context):
        self._logdir = context.logdir
        self._lock = threading.Lock()
        self._server = None

    def get_plugin_apps(self):
        return {"/index.js": self._script, "/page/*": self._page}

    def is_active(self):
        return bool(self._logdir)

    def frontend_metadata(self):
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Holotrace", disable_reload=True)

    def server(self):
        """The server, started on first use."""
        with self._lock:
            if self._server is None:
                self._server = serve(self._logdir, port=0)
            return self._server

    @wrappers.Request.application
    def _script(self, request):
        return wrappers.Response(SCRIPT, content_type="text/javascript",
                                 headers={"X-Content-Type-Options": "nosniff"})

    @wrappers.Request.application
    def _page(self, request):
        origin = request.headers.get("Origin")
        if origin and urllib.parse.urlsplit(origin).netloc != request.host:
            return wrappers.Response("the request comes from another site's page", status=403)
        if (request.content_length or 0) > MAX_BODY:
            return wrappers.Response("the body is too large", status=413)
        raw = request.environ.get("RAW_URI") or request.environ.get("REQUEST_URI") or request.full_path
        target = raw.split("/holotrace/page/", 1)[-1]
        # TensorBoard drops the slash at the end of a path, so its page has a name here.
        return self._ask(request, "/" + re.sub(r"^index\.html(?=\?|$)", "", target))

    def _ask(self, request, target):
        connection = http.client.HTTPConnection("127.0.0.1", self.server().port, timeout=120)
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        try:
            body = request.get_data() if request.method == "POST" else None
            connection.request(request.method, target, body=body, headers=headers)
            answer = connection.getresponse()
            content = answer.read()
        except OSError as error:
            return wrappers.Response(f"the page's server does not answer: {error}", status=502)
        finally:
            connection.close()
        # What frames the page is TensorBoard itself, whatever it is called from outside.
        kept = [(name, re.sub(r"frame-ancestors [^;]*", "frame-ancestors 'self'", value))
                for name, value in answer.getheaders() if name.lower() not in OWN_HEADERS]
        return wrappers.Response(content, status=answer.status, headers=kept)
