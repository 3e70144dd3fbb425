# SPDX-License-Identifier: Apache-2.0
"""Report: every analysis that traces support, as tables in one object, text or page."""
import os
from html import escape

from ._errors import InputError, MissingError, UsageError

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1400px; padding: 0 1rem; }}
section {{ margin: 2rem 0; overflow-x: auto; }}
nav a {{ margin-right: 1rem; white-space: nowrap; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #16191d; color: #e6e8eb; }}
  a {{ color: #8ab4f8; }}
}}
</style></head><body>
<h1>{title}</h1><p>{about}</p><nav>{links}</nav>
{sections}
{empty}
</body></html>
"""


class Report:
    """Tables of a run by analysis: report["kernel-breakdown"]. Shows as text or as a page.

    tables     {analysis: Table}, health first
    empty      analyses that found nothing
    problems   {analysis: why it failed}
    """

    def __init__(self, session, top):
        from . import _core

        self.about = repr(session)[1:-1].replace("holotrace.Session: ", "")
        self.tables, self.empty, self.problems = {}, [], {}
        asked = [analysis for analysis in _core.analyses() if analysis["n_sets"] == 1 and not analysis["lists_events"]]
        for name in (analysis["name"] for analysis in sorted(asked, key=lambda asked: not asked["tells_losses"])):
            try:
                table = session.run(name, top=top)
            except MissingError:
                self.empty.append(name)
            except InputError as error:
                self.problems[name] = str(error)
            else:
                if len(table):
                    self.tables[name] = table
                else:
                    self.empty.append(name)

    def __getitem__(self, name):
        return self.tables[name.replace("_", "-")]

    def __iter__(self):
        return iter(self.tables)

    def __len__(self):
        return len(self.tables)

    def _found_nothing(self):
        return f"Nothing found by {', '.join(self.empty)}." if self.empty else ""

    def __repr__(self):
        parts = [repr(table) for table in self.tables.values()]
        parts += [f"{name} failed: {problem}" for name, problem in self.problems.items()]
        return "\n\n".join([self.about, *parts, self._found_nothing()]).rstrip()

    def _sections(self):
        for name, table in self.tables.items():
            yield f'<section id="{name}">{table._repr_html_()}</section>'
        for name, problem in self.problems.items():
            yield f'<section id="{name}"><p>{escape(name)} failed: {escape(problem)}</p></section>'

    def _repr_html_(self):
        return "\n".join([f"<p>{escape(self.about)}</p>", *self._sections(),
                          f"<p>{escape(self._found_nothing())}</p>"])

    def to_html(self, title="Holotrace report"):
        """A page of its own, without anything from elsewhere."""
        links = "".join(f'<a href="#{name}">{escape(table.title)}</a>' for name, table in self.tables.items())
        empty = f"<p>{escape(self._found_nothing())}</p>"
        return _PAGE.format(title=escape(title), about=escape(self.about), links=links,
                            sections="\n".join(self._sections()), empty=empty)

    def to_markdown(self):
        parts = [f"## {table.title}\n\n{table.render('md')}" for table in self.tables.values()]
        return "\n\n".join([self.about, *parts, self._found_nothing()]).rstrip() + "\n"

    def save(self, path):
        """Write it as the name says: .html, .md or .txt."""
        ending = os.path.splitext(os.fspath(path))[1]
        made = {".html": self.to_html, ".md": self.to_markdown, ".txt": lambda: repr(self) + "\n"}.get(ending)
        if made is None:
            raise UsageError(f"a report can be .html, .md or .txt, not {os.path.basename(os.fspath(path))}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(made())
