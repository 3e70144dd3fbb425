# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING's recipes, followed: one of each is added to a copy of the tree, which is then built, checked and asked for it.

An analysis, a column, a view of the page, a reader, an output format and an event of the recorder. What a recipe does not say
is not done here, so a step that it forgot shows: each file that is written or changed is one that its recipe names.

Counted are the files that all six touch together: sources, pages, what make docs writes, and apart from these their tests. Golden
results and the fuzz target of the reader are left out: neither is made here.

The copy comes with what the build under test has compiled, so only what the additions change is compiled again.
"""
import filecmp
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import support

BUILD = pathlib.Path(support.EXE).parent
pytestmark = [pytest.mark.long, pytest.mark.skipif(
    support.is_sanitized() or not (support.ROOT / ".git").exists() or not (BUILD / "build.ninja").exists(),
    reason="skipped: a sanitizer is inside, this is no git checkout, or the program was built elsewhere")]
MAX_FILES, MAX_TESTS = 18, 4
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"

ANALYSIS = LICENCE + """/*
 * recipe.c - how many events a rank has. Example: a file of three events gives 3.
 */
#include "analysis/analysis.h"
#include "model/part.h"
#include "store/columns.h"

#define COLUMNS(COLUMN)                                                                            \\
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL)                        \\
	COLUMN(COL_N_EVENTS, "n_events", HT_I64, HT_MEASURE, "events of the trace", NULL)
HT_COLUMNS(columns, COLUMNS);

static enum ht_status count(struct ht_run *run, struct ht_part *part)
{
	ht_table_row(part->facts[0]);
	ht_table_put_i64(part->facts[0], COL_RANK, part->rank);
	ht_table_put_i64(part->facts[0], COL_N_EVENTS, ht_n_events(run->trace));
	return HT_OK;
}

const struct ht_analysis ht_analysis_recipe = {
	.info = {
		.name = "recipe",
		.group = "engine",
		.page_view = "recipe",
		.title = "Recipe",
		.question = "How many events has each rank?",
		.method = "Events are counted as they are stored.",
		HT_ONE_SCHEMA(columns),
		.n_sets = 1,
	},
	.per_rank = count,
};
"""

COLUMN = """	COLUMN(COL_N_RECIPES, "n_recipes", HT_I64, HT_MEASURE, "how many recipes", NULL)           \\
"""

VIEW = "// SPDX-License-Identifier: Apache-2.0\n" + """// How many events there are.
import { Head } from "../app/Head";
import { VerbTable } from "../app/parts";

export function Recipe() {
  return (
    <>
      <Head title="Recipe" lead="How many events each rank has." />
      <VerbTable url verb="recipe" query={{}} />
    </>
  );
}
"""

READER = LICENCE + """/*
 * recipe_lines.c - a reader of lines "name start_ns dur_ns".
 */
#include "read/reader.h"
#include "read/rows.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES (1 << 20)

static bool sniff(const struct ht_head *head)
{
	size_t n = strlen(head->name);
	return n > 7 && !strcmp(head->name + n - 7, ".recipe");
}

static enum ht_status put_lines(struct ht_rows *rows, const char *text)
{
	uint32_t category = ht_rows_text(rows, "cpu_op", 6);
	long long start_ns, dur_ns;
	char name[64];
	for (int n; sscanf(text, "%63s %lld %lld%n", name, &start_ns, &dur_ns, &n) == 3;
	        text += n) {
		ht_row_begin(rows, 'X', category, ht_rows_text(rows, name, strlen(name)));
		ht_row_process(rows, 1, 1);
		ht_row_time(rows, start_ns);
		ht_row_duration(rows, dur_ns);
		HT_TRY(ht_row_end(rows, 0));
	}
	return HT_OK;
}

static enum ht_status read_lines(struct ht_builder *builder, const struct ht_reading *reading)
{
	struct ht_vec text = { 0 };
	struct ht_rows rows;
	HT_TRY(ht_source_read_all(builder->ctx, reading->source, MAX_BYTES, &text));
	ht_rows_init(&rows, builder);
	enum ht_status status = put_lines(&rows, text.data);
	ht_rows_done(&rows);
	builder->n_documents++;
	ht_vec_free(builder->ctx->mem, &text, 1);
	return status;
}

const struct ht_reader ht_reader_recipe_lines = {
	.name = "recipe-lines",
	.what = "lines of a recipe",
	.endings = ".recipe",
	.sniff = sniff,
	.read = read_lines,
};
"""

PAGE = """## Example

```
$ holotrace recipe examples/ddp
```

## How to read it

The more events, the longer the recording.
"""

CASE = """Three events are three.
--- timeline a.json
0 10 op one
20 10 op two
40 10 op three
--- run
recipe a.json --format csv
--- stdout
rank,n_events
0,3
"""

READER_CASE = """A line is an event.
--- trace a.recipe
one 1000 5
two 2000 7
--- run
events a.recipe --format csv --columns name,dur_ns
--- stdout
name,dur_ns
one,5
two,7
"""

FORMAT = LICENCE + """/*
 * count_rows.c - the number of rows, and nothing else.
 */
#include "table/render.h"

#include <stdio.h>

enum ht_status ht_render_count_rows(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	char text[32];
	(void)options;
	snprintf(text, sizeof text, "%zu rows\\n", ht_table_n_rows(table));
	ht_out_str(out, text);
	return HT_OK;
}
"""

FORMAT_TEST = LICENCE + """/*
 * count_rows_test.c - tables of one row and of none.
 */
#include "table/table_test_help.h"

static const struct ht_column columns[] = { { "n", HT_I64, HT_KEY, "number", NULL } };

static void test_count(void **state)
{
	for (size_t n = 0; n < 2; n++) {
		ht_table *table;
		assert_ok(ht_table_new(*state, "T", columns, 1, &table));
		for (size_t i = 0; i < n; i++) {
			ht_table_row(table);
			ht_table_put_i64(table, 0, 1);
		}
		struct memory_sink got = render(*state, table, "count_rows", NULL);
		assert_string_equal(got.data, n ? "1 rows\\n" : "0 rows\\n");
		free(got.data);
		ht_table_free(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_count, setup_ctx, teardown_ctx),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
"""

READ_ACTIVITY = """static void read_recipe(const uint8_t *a, struct ht_gpu_record *r)
{
	r->start_ns = ns_at(a, 8);
	r->end_ns = ns_at(a, 16);
	r->thread = u32_at(a, 28);
	r->name = name_of("one of a recipe");
}

"""

FAKE_ACTIVITY = """	struct api *recipe = &add(63)->api;
	recipe->start = now();
	recipe->end = recipe->start + 10;
"""


class Recipe:
    """A section of CONTRIBUTING, and what is done to a tree as it says."""

    def __init__(self, tree, title):
        self.tree = tree
        sections = re.split(r"^## ", (support.ROOT / "CONTRIBUTING.md").read_text(), flags=re.M)
        [self.text] = [section for section in sections if section.startswith(f"{title}\n")]

    def names(self, name, spelling):
        """The recipe has the file, as it is, or as src/analysis/SUBJECT/x.c."""
        assert f"`{spelling}`" in self.text, (self.text.split("\n")[0], spelling)
        pattern = re.sub(r"SUBJECT|(?<=/)[xX](?=[./_])", "*", spelling)
        assert fnmatch.fnmatchcase(name, pattern), (name, spelling)

    def write(self, name, spelling, text):
        self.names(name, spelling)
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / name).write_text(text)

    def change(self, name, before, after, spelling=None):
        """Put something before a text that is there once."""
        self.names(name, spelling or name)
        text = (self.tree / name).read_text()
        assert text.count(before) == 1, (name, before)
        (self.tree / name).write_text(text.replace(before, after + before))


def add_all(tree):
    recipe = Recipe(tree, "Add an analysis")
    recipe.write("src/analysis/trace/recipe.c", "src/analysis/SUBJECT/x.c", ANALYSIS)
    recipe.change("src/analysis/analyses.def", "ANALYSIS(diff)\n", "ANALYSIS(recipe)\n")
    recipe.write("tests/cases/recipe/count.test", "tests/cases/x/x.test", CASE)
    recipe.write("docs/analyses/recipe.md", "docs/analyses/x.md", PAGE)
    recipe = Recipe(tree, "Add a column")
    recipe.change("src/analysis/device/kernel_types.c", "\tCOLUMN(COL_SHARE,",
                  COLUMN, "src/analysis/SUBJECT/x.c")
    recipe.change("src/analysis/device/kernel_types.c", "\t\tht_table_put_f64(\n",
                  "\t\tht_table_put_i64(table, COL_N_RECIPES, 7);\n", "src/analysis/SUBJECT/x.c")
    recipe = Recipe(tree, "Add a view of the page")
    recipe.write("web/src/views/Recipe.tsx", "web/src/views/X.tsx", VIEW)
    recipe.change("web/src/views/registry.ts", 'import { Sequences }', 'import { Recipe } from "./Recipe";\n')
    recipe.change("web/src/views/registry.ts", '      { id: "kernel-types"',
                  '      { id: "recipe", title: "Recipe", component: Recipe },\n')
    recipe = Recipe(tree, "Add a reader")
    recipe.write("src/read/recipe_lines.c", "src/read/x.c", READER)
    recipe.change("src/read/readers.def", "READER(kineto)", "READER(recipe_lines)\n")
    recipe.write("docs/formats/recipe_lines.md", "docs/formats/x.md", "# Lines of a recipe\n\nA name, a start and a duration in ns.\n")
    recipe.write("tests/cases/recipe/lines.test", "tests/cases/x/x.test", READER_CASE)
    recipe = Recipe(tree, "Add an output format")
    recipe.write("src/table/count_rows.c", "src/table/x.c", FORMAT)
    recipe.change("src/table/renderers.def", "RENDERER(arrow", 'RENDERER(count_rows, ".rows", "text/x-rows", 0)\n')
    recipe.write("src/table/count_rows_test.c", "src/table/x_test.c", FORMAT_TEST)
    recipe = Recipe(tree, "Add an event of the recorder")
    recipe.change("src/record/gpu.h", "};\n\n/* One activity, as it is stored. */",
                  "\tHT_GPU_RECIPE,      /* something that CUPTI reports */\n")
    recipe.change("src/record/cupti.c", "/* What CUPTI is asked for,", READ_ACTIVITY)
    recipe.change("src/record/cupti.c", "\t{ ACTIVITY_OVERHEAD,", "\t{ 63, HT_GPU_RECIPE, read_recipe, false },\n")
    recipe.change("src/record/gpu_events.c", "\t\t} else if (r->kind == HT_GPU_OVERHEAD) {\n",
                  "\t\t} else if (r->kind == HT_GPU_RECIPE) {\n\t\t\temit_overhead(side, r);\n")
    recipe.change("tests/record/fake_cupti.c", "\tsynchronize(6, 3,", FAKE_ACTIVITY)


def run(tree, *words, **more):
    env = dict(support.compiler_environment(tree.parent), **more)
    done = subprocess.run([*map(str, words)], cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, (words, done.stdout[-3000:])
    return done.stdout


def copy_build(tree):
    """What was compiled, with its times; a build that lies elsewhere has paths of its own inside, and is made anew."""
    if BUILD.parent != support.ROOT:
        return []
    shutil.copytree(BUILD, tree / "build", symlinks=True,
                    ignore=lambda _, names: [name for name in names if "_test" in name or name.startswith("holotrace-mpi")])
    return ["--reconfigure"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with one of each, built."""
    tree = tmp_path_factory.mktemp("recipes") / "holotrace"
    for name in files(support.ROOT):
        if not name.startswith("tests/data/"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(support.ROOT / name, tree / name)
    # the examples of the pages are run on them
    (tree / "tests" / "data").symlink_to(support.ROOT / "tests" / "data")
    more = copy_build(tree)
    add_all(tree)
    run(tree, "meson", "setup", *more, "build", *support.options_of_build(), "-Dmpi=disabled", "-Dpage=disabled", "-Dtests=enabled")
    run(tree, "ninja", "-C", "build", "holotrace", "python/holotrace/_record.so", "python/holotrace/_core.abi3.so",
        "python/package.stamp", "man1", "fake_ops", "libfake_cupti.so", "src-table-count_rows_test")
    run(tree, "tools/gen_docs", "build/holotrace")
    run(tree, "/usr/bin/python3", "tools/gen_python_stubs", "build")
    return tree


def files(root):
    return [name for name in subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, check=True, stdout=subprocess.PIPE,
        text=True).stdout.split("\0")[:-1] if (root / name).is_file()]


def ask(tree, *words):
    return subprocess.run([tree / "build" / "holotrace", *words], cwd=support.ROOT, env=support.environment(), check=True,
                          stdout=subprocess.PIPE).stdout


def test_each_is_there(tree, tmp_path):
    names, rows = support.read_csv(ask(tree, "recipe", "examples/ddp", "--format", "csv"))
    assert names == ["rank", "n_events"] and [row[0] for row in rows] == ["0", "1", "2", "3"]
    names, rows = support.read_csv(ask(tree, "kernel-types", "examples/train", "--format", "csv"))
    assert {row[names.index("n_recipes")] for row in rows} == {"7"}
    assert ask(tree, "recipe", "examples/ddp", "--format", "count_rows") == b"4 rows\n"
    ask(tree, "recipe", "examples/ddp", "-o", str(tmp_path / "a.rows"))
    assert (tmp_path / "a.rows").read_bytes() == b"4 rows\n"
    code = "import holotrace, sys; t = holotrace.open(sys.argv[1]).recipe(); print(t.render('count_rows'), end='')"
    said = subprocess.run(["/usr/bin/python3", "-c", code, support.ROOT / "examples/ddp"], check=True, stdout=subprocess.PIPE,
                          env=support.environment(PYTHONPATH=str(tree / "build/python"))).stdout
    assert said == b"4 rows\n"
    assert b"How to read it\nThe more events" in ask(tree, "help", "recipe")
    assert (tree / "build/man1/holotrace-recipe.1").exists()


def test_its_tests_pass(tree):
    run(tree, "build/src-table-count_rows_test")
    said = run(tree, "/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/cases", "-k", "recipe",
               HOLOTRACE=str(tree / "build/holotrace"))
    assert "2 passed" in said, said


def test_the_recorder_has_the_event(tree, tmp_path):
    run(tree, "build/fake_ops", "cuda", tmp_path / "t.et.json", tmp_path / "t.json")
    names, rows = support.read_csv(ask(tree, "events", str(tmp_path / "t.json"), "--format", "csv", "--columns", "name,dur_ns",
                                       "--where", "name == 'one of a recipe'"))
    assert rows == [["one of a recipe", "10"]] * 2


def test_checks_of_lint_pass(tree):
    for tool in ("check_layers", "check_policy", "check_size", "check_words"):
        run(tree, f"tools/{tool}")
    run(tree, "tools/check_licence", *touched(tree))
    run(tree, "tools/check_registry", "build/holotrace")
    run(tree, "tools/gen_docs", "--check", "build/holotrace")
    if shutil.which("clang-format"):
        run(tree, "clang-format", "--dry-run", "-Werror", *[name for name in touched(tree) if name.endswith((".c", ".h"))])


def test_the_view_has_types_that_fit(tree):
    if not (support.ROOT / "web/node_modules/.bin/tsc").exists():
        pytest.skip("skipped: no compiler of the page")
    (tree / "web/node_modules").symlink_to(support.ROOT / "web/node_modules")
    run(tree, "web/node_modules/.bin/tsc", "-p", "web")
    os.unlink(tree / "web/node_modules")


def touched(tree):
    """Files that are not as in the tree that was copied, or not there."""
    ours = {os.path.relpath(os.path.join(folder, name), tree) for folder, folders, names in os.walk(tree)
            if not (folder == os.fspath(tree) and folders.remove("build")) for name in names}
    ours = {name for name in ours if "__pycache__" not in name}
    return sorted(name for name in ours
                  if not (support.ROOT / name).exists() or not filecmp.cmp(tree / name, support.ROOT / name, shallow=False))


def test_few_files_are_touched(tree):
    names = touched(tree)
    tests = [name for name in names if name.startswith("tests/") or name.endswith("_test.c")]
    assert len(names) - len(tests) <= MAX_FILES and len(tests) <= MAX_TESTS, "\n".join(names)
