/*
 * cp_build.c - from a trace and the user's window to the sealed graph. See cp_graph.h.
 *
 * Window: the span of the chosen instances of an annotation on the host, counted in time order; of the
 * chosen steps; or everything. Events: host operators and calls that start in it, the GPU work that
 * they launched (every kernel of a graph launch), and work without a known launch that starts in it.
 */
#include "graph/cp_build.h"
#include "base/list.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ANNOTATION "ProfilerStep"

/* ---- options ---- */

static enum ht_status read_instance(struct ht_run *run, struct ht_cp_options *options)
{
	const char *text = ht_run_str(run, "instance");
	if (!text)
		return HT_OK;
	char *end;
	options->first = options->last = strtoll(text, &end, 10);
	bool good = end != text;
	if (good && *end == '-') {
		const char *second = end + 1;
		options->last = strtoll(second, &end, 10);
		good = end != second;
	}
	if (!good || *end || options->first < 0 || options->last < options->first)
		return ht_fail(run->ctx, HT_USAGE, NULL, -1, "give a number from 0, or first-last",
		        "instance '%s' is not a number or a range", text);
	return HT_OK;
}

enum ht_status ht_cp_options_read(struct ht_run *run, struct ht_cp_options *ret_options)
{
	struct ht_cp_options options = { .annotation = run->annotation,
		.data_load = ht_run_str(run, "data-load-events"),
		.count_gaps = ht_run_bool(run, "count-gaps"),
		.hta = run->hta_compat };
	if (run->step && strcmp(run->step, "all") != 0)
		options.step = run->step;
	options.launch_edges = ht_run_str(run, "zero-weight-launch-edges")
	                               ? ht_run_bool(run, "zero-weight-launch-edges")
	                               : !options.hta;
	HT_TRY(read_instance(run, &options));
	*ret_options = options;
	return HT_OK;
}

/* ---- names ---- */

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static uint8_t look_at_wait(const struct ht_cp_builder *b, const char *name)
{
	static const char *const known_to_hta[] = { "cudaDeviceSynchronize",
		"cudaStreamSynchronize", "cudaEventQuery", "cudaEventSynchronize", "cudaMemcpy",
		"cudaMemcpyAsync" };
	for (size_t i = 0; b->g->options.hta && i < HT_COUNT(known_to_hta); i++) {
		if (!strcmp(name, known_to_hta[i]))
			return HT_CP_NAME_WAITS;
	}
	if (b->g->options.hta)
		return 0;
	if (starts_with(name, "cudaMemcpy") || starts_with(name, "hipMemcpy") ||
	        starts_with(name, "cuMemcpy"))
		return HT_CP_NAME_WAITS | HT_CP_NAME_COPIES;
	return strstr(name, "Synchronize") || strstr(name, "synchronize") ? HT_CP_NAME_WAITS : 0;
}

static uint8_t look_at_name(const struct ht_cp_builder *b, const char *name)
{
	uint8_t bits = HT_CP_NAME_KNOWN | look_at_wait(b, name);
	if (!strcmp(name, "cudaHostAlloc") || !strcmp(name, "cudaLaunchKernel") ||
	        !strcmp(name, "cudaMemcpyAsync"))
		bits |= HT_CP_NAME_LOCKS;
	if (strstr(name, "EventRecord"))
		bits |= HT_CP_NAME_RECORDS;
	if (starts_with(name, "autograd::engine::evaluate_function"))
		bits |= HT_CP_NAME_AUTOGRAD;
	if (b->data_load && !regexec(b->data_load, name, 0, NULL, 0))
		bits |= HT_CP_NAME_DATA_LOAD;
	return bits;
}

uint8_t ht_cp_name_bits(struct ht_cp_builder *b, uint32_t row)
{
	uint32_t name = b->trace->name[row];
	if (name == HT_NO_STR)
		return 0;
	if (!b->g->name_bits[name])
		b->g->name_bits[name] = look_at_name(b, ht_str(b->trace, name));
	return b->g->name_bits[name];
}

bool ht_cp_may_wait(struct ht_cp_builder *b, uint32_t row)
{
	uint8_t kind = b->trace->kind[row];
	bool call = b->g->options.hta || kind == HT_KIND_RUNTIME || kind == HT_KIND_DRIVER;
	return call && (ht_cp_name_bits(b, row) & HT_CP_NAME_WAITS);
}

/* ---- window ---- */

struct instance {
	int64_t ts_ns;
	uint32_t row;
};

static int compare_instances(const void *left, const void *right)
{
	const struct instance *a = left, *b = right;
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static bool on_host(uint8_t kind)
{
	return kind == HT_KIND_CPU_OP || kind == HT_KIND_ANNOTATION || kind == HT_KIND_PYTHON ||
	       kind == HT_KIND_RUNTIME || kind == HT_KIND_DRIVER || kind == HT_KIND_OTHER;
}

/* Host rows whose name contains the text; list may be NULL to count. match: by string id, 1 no, 2 yes. */
static size_t collect_instances(const struct ht_trace *t, const char *text, bool annotations,
        uint8_t *match, struct instance *list)
{
	size_t n = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		uint32_t name = t->name[row];
		bool fits =
		        annotations ? t->kind[row] == HT_KIND_ANNOTATION : on_host(t->kind[row]);
		if (!fits || name == HT_NO_STR || !ht_is_span(t, row))
			continue;
		if (!match[name])
			match[name] = strstr(ht_str(t, name), text) ? 2 : 1;
		if (match[name] == 1)
			continue;
		if (list)
			list[n] = (struct instance){ t->ts_ns[row], row };
		n++;
	}
	return n;
}

/* Annotations so named in time order, or other host rows when there are none. */
static struct instance *find_instances(struct ht_cp_builder *b, const char *text, size_t *ret_n)
{
	uint8_t *match = ht_cp_alloc(b, b->trace->n_string_offsets, 1);
	if (!match)
		return NULL;
	bool annotations = true;
	size_t n = collect_instances(b->trace, text, annotations, match, NULL);
	if (!n) {
		annotations = false;
		n = collect_instances(b->trace, text, annotations, match, NULL);
	}
	struct instance *list = ht_cp_alloc(b, n, sizeof *list);
	if (!list)
		return NULL;
	collect_instances(b->trace, text, annotations, match, list);
	qsort(list, n, sizeof *list, compare_instances);
	*ret_n = n;
	return list;
}

static void whole_window(struct ht_cp_builder *b)
{
	b->g->start_ns = b->trace->meta->min_ts_ns;
	b->g->end_ns = b->trace->meta->max_end_ns;
	b->g->empty = b->g->start_ns == HT_NO_I64;
}

static void extend_window(struct ht_cp_graph *g, bool first, int64_t start, int64_t end)
{
	g->start_ns = first || start < g->start_ns ? start : g->start_ns;
	g->end_ns = first || end > g->end_ns ? end : g->end_ns;
}

static enum ht_status step_window(struct ht_cp_builder *b)
{
	const struct ht_trace *t = b->trace;
	bool found = false;
	struct ht_list list;
	HT_TRY(ht_list_parse(b->run->ctx, "--step", b->run->step, &list));
	for (size_t k = 0; k < t->n_steps; k++) {
		const struct ht_step *step = &t->steps[k];
		bool host = t->kind[step->row] != HT_KIND_GPU_ANNOTATION;
		if ((!host && t->meta->has_host_steps) || !ht_list_has(&list, step->number))
			continue;
		extend_window(b->g, !found, step->ts_ns, step->end_ns);
		if (host)
			b->window_track = t->track[step->row];
		found = true;
	}
	ht_list_done(b->run->ctx, &list);
	if (!found) {
		b->g->empty = true;
		b->g->note =
		        ht_arena_printf(b->run->scratch, "no step %s in this rank", b->run->step);
	}
	return HT_OK;
}

static enum ht_status find_window(struct ht_cp_builder *b)
{
	struct ht_cp_graph *g = b->g;
	const struct ht_cp_options *o = &g->options;
	if (o->step)
		return step_window(b);
	if (o->annotation && !*o->annotation) {
		whole_window(b);
		return HT_OK;
	}
	const char *annotation = o->annotation ? o->annotation : DEFAULT_ANNOTATION;
	size_t n = 0;
	struct instance *list = find_instances(b, annotation, &n);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	if (!n && !o->annotation) {
		whole_window(b);
		g->note = "no " DEFAULT_ANNOTATION " in this rank: the whole trace";
		return HT_OK;
	}
	if (!n) {
		g->empty = true;
		g->note = ht_arena_printf(
		        b->run->scratch, "nothing on the host is named '%s'", annotation);
		return HT_OK;
	}
	if (o->first >= (int64_t)n)
		return ht_fail(b->run->ctx, HT_USAGE, b->trace->path, -1,
		        "instances count from 0 in time order",
		        "instance %lld of '%s' does not exist: rank %lld has %zu",
		        (long long)o->first, annotation, (long long)b->run->rank, n);
	for (int64_t k = o->first; k <= o->last && k < (int64_t)n; k++)
		extend_window(g, k == o->first, list[k].ts_ns, ht_end_ns(b->trace, list[k].row));
	b->window_track = b->trace->track[list[o->first].row];
	return HT_OK;
}

/* ---- events ---- */

static bool starts_inside(const struct ht_cp_builder *b, uint32_t row)
{
	int64_t ts = b->trace->ts_ns[row];
	return ts >= b->g->start_ns && ts <= b->g->end_ns;
}

static enum ht_status select_rows(struct ht_cp_builder *b)
{
	const struct ht_trace *t = b->trace;
	uint8_t *chosen = ht_cp_alloc(b, t->n_kind, 1);
	if (!chosen)
		return ht_fail_nomem(b->run->ctx);
	for (uint32_t row = 0; row < t->n_kind; row++) {
		if (!on_host(t->kind[row]) || !starts_inside(b, row) || !ht_is_span(t, row) ||
		        t->dur_ns[row] <= 0)
			continue;
		bool call = t->kind[row] == HT_KIND_CPU_OP || t->kind[row] == HT_KIND_RUNTIME ||
		            t->kind[row] == HT_KIND_DRIVER;
		uint8_t bits = ht_cp_name_bits(b, row);
		chosen[row] = call || (bits & HT_CP_NAME_DATA_LOAD);
	}
	for (size_t i = 0; i < t->n_gpu; i++) {
		const struct ht_gpu *gpu = &t->gpu[i];
		if (ht_is_span(t, gpu->row) &&
		        starts_inside(b, gpu->launch == HT_NONE ? gpu->row : gpu->launch))
			chosen[gpu->row] = 1;
	}
	return ht_cp_events_make(b, chosen);
}

double ht_cp_us(int64_t ns)
{
	/* absolute times have more digits than a double */
	return (double)((long double)ns / 1000);
}

double ht_cp_time(const struct ht_cp_builder *b, uint32_t row, bool end)
{
	const struct ht_trace *t = b->trace;
	if (!b->g->options.hta)
		return (double)(t->ts_ns[row] + (end ? t->dur_ns[row] : 0) - b->g->start_ns);
	double start = ht_cp_us(t->ts_ns[row]) - b->zero;
	return end ? start + (double)t->dur_ns[row] / 1000 : start;
}

enum ht_status ht_cp_events_make(struct ht_cp_builder *b, const uint8_t *chosen)
{
	const struct ht_trace *t = b->trace;
	struct ht_cp_graph *g = b->g;
	size_t n = 0;
	for (size_t row = 0; row < t->n_kind; row++)
		n += chosen[row] != 0;
	g->events = ht_cp_alloc(b, n, sizeof *g->events);
	g->time = ht_cp_alloc(b, 2 * n, sizeof *g->time);
	g->event_of_row = ht_cp_alloc(b, t->n_kind, sizeof *g->event_of_row);
	b->waited = ht_cp_alloc(b, n, sizeof *b->waited);
	if (b->no_memory)
		return ht_fail_nomem(b->run->ctx);
	size_t k = 0;
	for (uint32_t row = 0; row < t->n_kind; row++) {
		g->event_of_row[row] = HT_NONE;
		if (!chosen[row])
			continue;
		while (k < t->n_gpu && t->gpu[k].row < row)
			k++;
		uint32_t event = (uint32_t)g->n_events++;
		g->event_of_row[row] = event;
		g->events[event].row = row;
		g->events[event].gpu = k < t->n_gpu && t->gpu[k].row == row ? (uint32_t)k : HT_NONE;
		g->time[ht_cp_start(event)] = ht_cp_time(b, row, false);
		g->time[ht_cp_end(event)] = ht_cp_time(b, row, true);
	}
	return HT_OK;
}

/* ---- the whole ---- */

static enum ht_status build(struct ht_cp_builder *b)
{
	bool hta = b->g->options.hta;
	if (hta) {
		HT_TRY(ht_cp_hta_select(b));
	} else {
		HT_TRY(find_window(b));
		if (!b->g->empty)
			HT_TRY(select_rows(b));
	}
	if (b->g->empty)
		return HT_OK;
	HT_TRY(hta ? ht_cp_hta_host_edges(b) : ht_cp_host_edges(b));
	HT_TRY(hta ? ht_cp_hta_gpu_edges(b) : ht_cp_gpu_edges(b));
	return ht_cp_graph_seal(b);
}

enum ht_status ht_cp_build(
        struct ht_run *run, const struct ht_cp_options *options, struct ht_cp_graph *ret_graph)
{
	struct ht_cp_graph g = {
		.trace = run->trace, .options = *options, .ns_per_unit = options->hta ? 1000 : 1
	};
	struct ht_cp_builder b = { .run = run, .g = &g, .trace = g.trace, .window_track = HT_NONE };
	g.name_bits = ht_cp_alloc(&b, g.trace->n_string_offsets, 1);
	if (!g.name_bits)
		return ht_fail_nomem(run->ctx);
	regex_t data_load;
	if (options->data_load) {
		if (regcomp(&data_load, options->data_load, REG_EXTENDED | REG_NOSUB))
			return ht_fail(run->ctx, HT_USAGE, NULL, -1,
			        "data-load-events is an extended regular expression",
			        "bad expression '%s'", options->data_load);
		b.data_load = &data_load;
	}
	enum ht_status status = build(&b);
	if (b.data_load)
		regfree(b.data_load);
	HT_TRY(status);
	*ret_graph = g;
	return HT_OK;
}
