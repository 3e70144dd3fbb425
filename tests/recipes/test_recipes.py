# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING's recipes, followed: one of each is added to a copy of the tree, which is then built and asked for it.

An analysis, a column, a view of the page, a reader, an output format and an event of the recorder. What a recipe does not say
is not done here, so a step that it forgot shows; and the files that all of them touch are counted, golden results aside.
"""
import os
import shutil
import subprocess

import pytest
import support

pytestmark = [pytest.mark.long, pytest.mark.skipif(
    support.is_sanitized() or not shutil.which("ccache") or not (support.ROOT / ".git").exists(),
    reason="skipped: a sanitizer is inside, this is no git checkout, or there is no ccache, which makes it short")]
MAX_FILES = 20

ANALYSIS = """/*
 * recipe.c - how many events a rank has. Example: a file of three events gives 3.
 */
#include "analysis/analysis.h"
#include "model/part.h"
#include "store/columns.h"

#define COLUMNS(COLUMN) \\
	COLUMN(COL_RANK, "rank", HT_I64, HT_KEY, "rank of the trace", NULL) \\
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
		.group = "trace",
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

VIEW = """// How many events there are.
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

READER = """/*
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
	for (int n; sscanf(text, "%63s %lld %lld%n", name, &start_ns, &dur_ns, &n) == 3; text += n) {
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

FORMAT = """/*
 * recipe.c - the number of rows, and nothing else.
 */
#include "table/render.h"

#include <stdio.h>

enum ht_status ht_render_recipe(
        struct ht_out *out, const ht_table *table, const struct ht_render_options *options)
{
	char text[32];
	(void)options;
	snprintf(text, sizeof text, "%zu rows\\n", ht_table_n_rows(table));
	ht_out_str(out, text);
	return HT_OK;
}
"""


def write(tree, name, text):
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text)


def change(tree, name, before, after):
    """Put something before a text that is there once."""
    text = (tree / name).read_text()
    assert text.count(before) == 1, (name, before)
    (tree / name).write_text(text.replace(before, after + before))


def add_all(tree):
    write(tree, "src/analysis/trace/recipe.c", ANALYSIS)
    change(tree, "src/analysis/analyses.def", "ANALYSIS(diff)\n", "ANALYSIS(recipe)\n")
    # a column of an analysis that is there: its entry, and the cell
    change(tree, "src/analysis/device/kernel_types.c", "\tCOLUMN(COL_SHARE,",
           '\tCOLUMN(COL_N_RECIPES, "n_recipes", HT_I64, HT_MEASURE, "how many recipes", NULL) \\\n')
    change(tree, "src/analysis/device/kernel_types.c", "\t\tht_table_put_f64(\n",
           "\t\tht_table_put_i64(table, COL_N_RECIPES, 7);\n")
    write(tree, "web/src/views/Recipe.tsx", VIEW)
    change(tree, "web/src/views/registry.ts", 'import { Sequences }', 'import { Recipe } from "./Recipe";\n')
    change(tree, "web/src/views/registry.ts", '      { id: "kernel-types"',
           '      { id: "recipe", title: "Recipe", component: Recipe },\n')
    write(tree, "src/read/recipe_lines.c", READER)
    change(tree, "src/read/readers.def", "READER(kineto)", "READER(recipe_lines)\n")
    write(tree, "docs/formats/recipe.md", "# Lines of a recipe\n\nA name, a start and a duration in ns.\n")
    write(tree, "src/table/recipe.c", FORMAT)
    change(tree, "src/table/renderers.def", "RENDERER(arrow", 'RENDERER(recipe, ".rec", "text/x-recipe", 0)\n')
    change(tree, "src/record/gpu.h", "\tHT_GPU_DEVICE, ", "\tHT_GPU_RECIPE, /* something that CUPTI reports */\n")
    change(tree, "src/record/cupti.c", "\tcase ACTIVITY_CUDA_EVENT:\n",
           "\tcase 4711: read_overhead(a, r); r->kind = HT_GPU_RECIPE; return true;\n")
    change(tree, "src/record/gpu_events.c", "\t\t} else if (r->kind == HT_GPU_OVERHEAD) {\n",
           "\t\t} else if (r->kind == HT_GPU_RECIPE) {\n\t\t\temit_overhead(side, r);\n")
    write(tree, "tests/cases/recipe/recipe.txt", "a case of each rule\n")


def run(tree, *words):
    done = subprocess.run([*map(str, words)], cwd=tree, env=support.compiler_environment(tree.parent), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, (words, done.stdout[-3000:])
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with one of each, built."""
    tree = tmp_path_factory.mktemp("recipes") / "holotrace"
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=support.ROOT, check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split("\0")[:-1]
    for name in names:
        if (support.ROOT / name).is_file() and not name.startswith("tests/data/"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(support.ROOT / name, tree / name)
    # the examples of the pages are run on them
    (tree / "tests" / "data").symlink_to(support.ROOT / "tests" / "data")
    run(tree, "git", "init", "-q")
    run(tree, "git", "add", "-A")
    run(tree, "git", "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-q", "-m", "before")
    add_all(tree)
    run(tree, "meson", "setup", "build", *support.options_of_build(), "-Dtests=disabled", "-Dmpi=disabled", "-Dpage=disabled")
    run(tree, "ninja", "-C", "build", "holotrace", "python/holotrace/_record.so", "python/holotrace/_core.abi3.so",
        "python/package.stamp", "man1")
    return tree


def ask(tree, *words):
    return subprocess.run([tree / "build" / "holotrace", *words], cwd=support.ROOT, env=support.environment(), check=True,
                          stdout=subprocess.PIPE).stdout


def test_each_is_there(tree, tmp_path):
    names, rows = support.read_csv(ask(tree, "recipe", "examples/ddp", "--format", "csv"))
    assert names == ["rank", "n_events"] and [row[0] for row in rows] == ["0", "1", "2", "3"]
    names, rows = support.read_csv(ask(tree, "kernel-types", "examples/train", "--format", "csv"))
    assert {row[names.index("n_recipes")] for row in rows} == {"7"}
    (tmp_path / "a.recipe").write_text("one 1000 5\ntwo 2000 7\n")
    names, rows = support.read_csv(ask(tree, "events", str(tmp_path), "--format", "csv", "--columns", "name,dur_ns"))
    assert rows == [["one", "5"], ["two", "7"]]
    assert ask(tree, "recipe", "examples/ddp", "--format", "recipe") == b"4 rows\n"
    ask(tree, "recipe", "examples/ddp", "-o", str(tmp_path / "a.rec"))
    assert (tmp_path / "a.rec").read_bytes() == b"4 rows\n"
    code = "import holotrace, sys; t = holotrace.open(sys.argv[1]).recipe(); print(t.render('recipe'), end='')"
    said = subprocess.run(["/usr/bin/python3", "-c", code, support.ROOT / "examples/ddp"], check=True, stdout=subprocess.PIPE,
                          env=support.environment(PYTHONPATH=str(tree / "build/python"))).stdout
    assert said == b"4 rows\n"
    assert (tree / "build/man1/holotrace-recipe.1").exists()


def test_the_view_has_types_that_fit(tree):
    if not (support.ROOT / "web/node_modules/.bin/tsc").exists():
        pytest.skip("skipped: no compiler of the page")
    (tree / "web/node_modules").symlink_to(support.ROOT / "web/node_modules")
    run(tree, "web/node_modules/.bin/tsc", "-p", "web")
    os.unlink(tree / "web/node_modules")


def test_few_files_are_touched(tree):
    """With the pages that make docs writes."""
    run(tree, "tools/gen_docs", "build/holotrace")
    run(tree, "/usr/bin/python3", "tools/gen_python_stubs", "build")
    touched = run(tree, "git", "status", "--porcelain", "-uall").splitlines()
    assert not [line for line in touched if "docs/man" in line]
    assert len(touched) <= MAX_FILES, "\n".join(touched)
