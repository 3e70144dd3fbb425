# SPDX-License-Identifier: Apache-2.0
"""The page from Python: the server inside the process, the cell of a notebook, the tab of TensorBoard."""
import gc
import json
import pathlib
import urllib.error
import urllib.request

import pytest

import holotrace
import support

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"


@pytest.fixture
def start():
    """serve() that is skipped in a build without the server, and stopped at the end."""
    started = []

    def begin(make):
        try:
            started.append(make())
        except ValueError as error:
            if "no web server" in str(error):
                pytest.skip(str(error))
            raise
        return started[-1]

    yield begin
    for server in started:
        server.stop()


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def ready(url):
    def read():
        runs = get(url + "api/v1/runs")["runs"]
        return runs if runs and all(run["state"] == "ready" for run in runs) else None

    return support.wait_until(read, 30, every=0.03)


def test_a_directory(start):
    server = start(lambda: holotrace.serve(EXAMPLES / "ddp", port=0))
    run, = ready(server.url)
    shown = get(server.url + f"api/v1/runs/{run['id']}/table/steps")
    total = [column["name"] for column in shown["columns"]].index("total_ns")
    with holotrace.open(EXAMPLES / "ddp") as session:
        table = session.steps()
        assert [row[total] for row in shown["rows"]] == list(table["total_ns"])


def test_a_session(start):
    with holotrace.open({7: EXAMPLES / "train" / "train.json.gz"}) as session:
        server = start(lambda: session.serve(port=0))
        run, = ready(server.url)
        assert run["workers"][0]["rank"] == 7


def test_the_cell_of_a_notebook(start):
    server = start(lambda: holotrace.serve(EXAMPLES / "cpu", port=0))
    assert f'<iframe src="{server.url}"' in server._repr_html_()
    url = server.url
    server.stop()
    server.stop()
    assert server.url is None and "stopped" in repr(server) and "iframe" not in server._repr_html_()
    with pytest.raises(urllib.error.URLError):
        get(url + "api/v1/runs")


def test_it_ends_with_its_last_holder(start):
    server = start(lambda: holotrace.serve(EXAMPLES / "cpu", port=0))
    url = server.url
    with holotrace.serve(EXAMPLES / "cpu", port=0) as other:
        assert other.port != server.port
    loose = holotrace.serve(EXAMPLES / "cpu", port=0)
    url = loose.url
    del loose
    gc.collect()
    with pytest.raises(urllib.error.URLError):
        get(url + "api/v1/runs")


def test_mistakes(start):
    server = start(lambda: holotrace.serve(EXAMPLES / "cpu", port=0))
    with pytest.raises(OSError, match="port"):
        holotrace.serve(EXAMPLES / "cpu", port=server.port)
    with pytest.raises(ValueError):
        holotrace.serve([])
    with pytest.raises(TypeError):
        holotrace.serve([3])


def test_tensorboard(start, tmp_path):
    """The plugin in TensorBoard's own application: the page's routes below the plugin's path."""
    base_plugin = pytest.importorskip("tensorboard.plugins.base_plugin")
    test = pytest.importorskip("werkzeug.test")
    from tensorboard.backend import application
    from holotrace.tensorboard_plugin import HolotracePlugin
    plugin = HolotracePlugin(base_plugin.TBContext(logdir=str(EXAMPLES)))
    start(plugin.server)
    client = test.Client(application.TensorBoardWSGI([plugin]))
    assert "render" in client.get("/data/plugin/holotrace/index.js").get_data(as_text=True)
    listed = json.loads(client.get("/data/plugins_listing").get_data())
    assert listed["holotrace"]["tab_name"] == "Holotrace" and listed["holotrace"]["enabled"]
    page = "/data/plugin/holotrace/page/"
    ready(plugin.server().url)
    shown = client.get(page + "index.html")
    assert shown.status_code == 200 and "<title>Holotrace" in shown.get_data(as_text=True)
    assert "frame-ancestors 'self'" in shown.headers["Content-Security-Policy"]
    assert "page/index.html" in client.get("/data/plugin/holotrace/index.js").get_data(as_text=True)
    answer = client.get(page + "api/v1/runs/diff~control/table/steps?top=2")
    assert answer.status_code == 200
    assert json.loads(answer.get_data()) == get(plugin.server().url + "api/v1/runs/diff~control/table/steps?top=2")
    again = client.get(page + "api/v1/runs/diff~control/table/steps?top=2",
                       headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    assert client.post(page + "api/v1/rescan").status_code == 202
    assert client.post(page + "api/v1/rescan", headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.get(page + "none").status_code == 404
