/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_events.c - CUDA calls, GPU work and synchronisation in a timeline.
 *
 * CUPTI says which call launched what (its correlation number), on the recorder's clock. Which call or
 * annotation of the program made that CUDA call is found here, by time: it is the innermost one that was
 * open on the same thread when the CUDA call started. So nothing has to be pushed at run time, and what
 * began before CUPTI was loaded counts too. Annotations also appear on each stream, from the first to
 * the last piece of work launched under them.
 */
#include "base/mem.h"
#include "record/any_text.h"
#include "record/gpu.h"
#include "record/recorded_trace.h"
#include "base/checked.h"
#include "base/search.h"
#include "base/sort.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_VALUE 0xffffffffu /* CUPTI: does not apply */

/* A CUDA call and who made it; sorted by correlation. */
struct launch {
	uint32_t correlation;
	uint32_t thread;
	int64_t start_ns;
	uint64_t record_id;  /* innermost call, else annotation; 0: none */
	uint32_t annotation; /* index into spans plus one */
	uint32_t has_work;
};

/* An annotation on a stream. */
struct shadow {
	uint32_t annotation; /* index into spans */
	uint32_t device, stream;
	int64_t start_ns, end_ns;
};

struct side {
	struct ht_rec_timeline *timeline;
	struct ht_vec records;  /* struct ht_gpu_record */
	struct ht_vec devices;  /* struct ht_gpu_device */
	struct ht_vec launches; /* struct launch */
	struct ht_vec
	        events; /* struct ht_gpu_record of events, by context, event and correlation */
	struct ht_vec shadows; /* struct shadow */
	uint32_t *parents;     /* enclosing annotation of each span, plus one */
	size_t parents_bytes;
	void *demangler;
	char *(*demangle)(const char *, char *, size_t *, int *);
};

static struct ht_mem *mem_of(const struct side *side)
{
	return side->timeline->ctx->mem;
}

static void free_side(struct side *side)
{
	struct ht_mem *mem = mem_of(side);
	ht_mem_free(mem, side->parents, side->parents_bytes);
	ht_vec_free(mem, &side->records, sizeof(struct ht_gpu_record));
	ht_vec_free(mem, &side->devices, sizeof(struct ht_gpu_device));
	ht_vec_free(mem, &side->launches, sizeof(struct launch));
	ht_vec_free(mem, &side->events, sizeof(struct ht_gpu_record));
	ht_vec_free(mem, &side->shadows, sizeof(struct shadow));
}

/* ---- reading ----------------------------------------------------------------------------------- */

static bool take_record(struct side *side, const struct ht_bytes *bytes)
{
	size_t n = (size_t)(bytes->end - bytes->at);
	struct ht_gpu_record record;
	struct ht_gpu_device device;
	if (n == sizeof device && bytes->at[0] == HT_GPU_DEVICE) {
		memcpy(&device, bytes->at, sizeof device);
		device.name[sizeof device.name - 1] = 0;
		return HT_VEC_PUSH(mem_of(side), &side->devices, struct ht_gpu_device, device);
	}
	if (n != sizeof record)
		return true;
	memcpy(&record, bytes->at, sizeof record);
	struct ht_vec *to = record.kind == HT_GPU_EVENT ? &side->events : &side->records;
	return HT_VEC_PUSH(mem_of(side), to, struct ht_gpu_record, record);
}

static bool read_records(struct side *side)
{
	const struct ht_image *image = side->timeline->image;
	for (size_t i = 0; i < image->n_streams; i++) {
		struct ht_cursor cursor;
		struct ht_bytes record;
		if (image->streams[i].kind != HT_CHUNK_GPU)
			continue;
		ht_cursor_init(&cursor, &image->streams[i]);
		for (unsigned type; (type = ht_cursor_next(&cursor, &record)) != 0;)
			if (type == HT_TYPE_GPU && !take_record(side, &record))
				return false;
	}
	return true;
}

/* By thread, then time; what encloses comes first. */
static int compare_spans(const void *a, const void *b)
{
	const struct ht_rec_span *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	int order = ht_order_i64(x->begin_ns, y->begin_ns);
	order = order ? order : ht_order_i64(y->end_ns, x->end_ns);
	return order ? order : ht_order_i64((int64_t)x->record_id, (int64_t)y->record_id);
}

static int compare_records(const void *a, const void *b)
{
	const struct ht_gpu_record *x = a, *y = b;
	int order = ht_order_i64(x->start_ns, y->start_ns);
	order = order ? order : ht_order_i64(y->end_ns, x->end_ns);
	order = order ? order : ht_order_i64(x->correlation, y->correlation);
	return order ? order : ht_order_i64(x->kind, y->kind);
}

static int compare_events(const void *a, const void *b)
{
	const struct ht_gpu_record *x = a, *y = b;
	int order = ht_order_i64(x->context, y->context);
	order = order ? order : ht_order_i64(x->event, y->event);
	return order ? order : ht_order_i64(x->correlation, y->correlation);
}

static int compare_launches(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;
	int order = ht_order_i64(x->correlation, y->correlation);
	return order ? order : ht_order_i64(x->start_ns, y->start_ns);
}

static int compare_by_thread(const void *a, const void *b)
{
	const struct launch *x = a, *y = b;
	int order = ht_order_i64(x->thread, y->thread);
	order = order ? order : ht_order_i64(x->start_ns, y->start_ns);
	return order ? order : ht_order_i64(x->correlation, y->correlation);
}

static int compare_shadows(const void *a, const void *b)
{
	const struct shadow *x = a, *y = b;
	int order = ht_order_i64(x->annotation, y->annotation);
	order = order ? order : ht_order_i64(x->device, y->device);
	order = order ? order : ht_order_i64(x->stream, y->stream);
	return order ? order : ht_order_i64(x->start_ns, y->start_ns);
}

static void sort(struct ht_vec *vec, size_t n_bytes, int (*compare)(const void *, const void *))
{
	if (vec->n > 1)
		qsort(vec->data, vec->n, n_bytes, compare);
}

/* ---- who launched what ------------------------------------------------------------------------- */

static bool is_call(const struct ht_gpu_record *record)
{
	return record->kind == HT_GPU_RUNTIME || record->kind == HT_GPU_DRIVER;
}

static bool is_work(const struct ht_gpu_record *record)
{
	return record->kind == HT_GPU_KERNEL || record->kind == HT_GPU_MEMCPY ||
	       record->kind == HT_GPU_MEMSET;
}

static bool list_launches(struct side *side)
{
	const struct ht_gpu_record *records = side->records.data;
	for (size_t i = 0; i < side->records.n; i++) {
		struct launch launch = { .correlation = records[i].correlation,
			.thread = records[i].thread,
			.start_ns = records[i].start_ns };
		if (is_call(&records[i]) &&
		        !HT_VEC_PUSH(mem_of(side), &side->launches, struct launch, launch))
			return false;
	}
	return true;
}

/* The calls open on a thread while its CUDA calls are walked in order of time. */
struct walk {
	struct side *side;
	const struct ht_rec_span *spans;
	size_t n_spans, i_span;
	struct ht_vec open; /* uint32_t, indexes of spans */
};

/* Put the next span on the stack, and note the annotation around it. */
static bool open_span(struct walk *walk)
{
	const struct ht_rec_span *spans = walk->spans, *next = &spans[walk->i_span];
	const uint32_t *open = walk->open.data;
	while (walk->open.n) {
		const struct ht_rec_span *top = &spans[open[walk->open.n - 1]];
		if (top->thread == next->thread && top->end_ns >= next->begin_ns)
			break;
		walk->open.n--;
	}
	for (size_t j = walk->open.n; j-- > 0 && !walk->side->parents[walk->i_span];)
		if (spans[open[j]].is_annotation)
			walk->side->parents[walk->i_span] = open[j] + 1;
	return HT_VEC_PUSH(mem_of(walk->side), &walk->open, uint32_t, (uint32_t)walk->i_span++);
}

static bool starts_by(const struct ht_rec_span *span, const struct launch *launch)
{
	return span->thread < launch->thread ||
	       (span->thread == launch->thread && span->begin_ns <= launch->start_ns);
}

static void match_launch(const struct walk *walk, struct launch *launch)
{
	const uint32_t *open = walk->open.data;
	for (size_t j = walk->open.n; j-- > 0 && !launch->annotation;) {
		const struct ht_rec_span *span = &walk->spans[open[j]];
		if (span->thread != launch->thread || span->end_ns < launch->start_ns)
			continue;
		if (!launch->record_id)
			launch->record_id = span->record_id;
		if (span->is_annotation)
			launch->annotation = open[j] + 1;
	}
}

static bool match_launches(struct side *side)
{
	struct walk walk = { .side = side,
		.spans = side->timeline->spans.data,
		.n_spans = side->timeline->spans.n };
	struct launch *launches = side->launches.data;
	bool done = true;
	for (size_t i = 0; done && i < side->launches.n; i++) {
		while (done && walk.i_span < walk.n_spans &&
		        starts_by(&walk.spans[walk.i_span], &launches[i]))
			done = open_span(&walk);
		match_launch(&walk, &launches[i]);
	}
	ht_vec_free(mem_of(side), &walk.open, sizeof(uint32_t));
	return done;
}

static struct launch *find_launch(const struct side *side, uint32_t correlation)
{
	struct launch *launches = side->launches.data;
	size_t low = HT_LOWER_BOUND(at, side->launches.n, launches[at].correlation < correlation);
	return low < side->launches.n && launches[low].correlation == correlation ? &launches[low]
	                                                                          : NULL;
}

static bool add_shadows(struct side *side, const struct ht_gpu_record *record, uint32_t annotation)
{
	for (; annotation; annotation = side->parents[annotation - 1]) {
		struct shadow shadow = { annotation - 1, record->device, record->stream,
			record->start_ns, record->end_ns };
		if (!HT_VEC_PUSH(mem_of(side), &side->shadows, struct shadow, shadow))
			return false;
	}
	return true;
}

static bool link_work(struct side *side)
{
	const struct ht_gpu_record *records = side->records.data;
	for (size_t i = 0; i < side->records.n; i++) {
		struct launch *launch =
		        is_work(&records[i]) ? find_launch(side, records[i].correlation) : NULL;
		if (!launch)
			continue;
		launch->has_work = 1;
		if (!add_shadows(side, &records[i], launch->annotation))
			return false;
	}
	return true;
}

static enum ht_status link_all(struct side *side)
{
	struct ht_vec *spans = &side->timeline->spans;
	sort(spans, sizeof(struct ht_rec_span), compare_spans);
	side->parents_bytes = (spans->n + 1) * sizeof *side->parents;
	side->parents = ht_mem_zalloc(mem_of(side), side->parents_bytes);
	if (!side->parents || !read_records(side) || !list_launches(side))
		return ht_fail_nomem(side->timeline->ctx);
	sort(&side->launches, sizeof(struct launch), compare_by_thread);
	if (!match_launches(side))
		return ht_fail_nomem(side->timeline->ctx);
	sort(&side->launches, sizeof(struct launch), compare_launches);
	sort(&side->records, sizeof(struct ht_gpu_record), compare_records);
	sort(&side->events, sizeof(struct ht_gpu_record), compare_events);
	if (!link_work(side))
		return ht_fail_nomem(side->timeline->ctx);
	sort(&side->shadows, sizeof(struct shadow), compare_shadows);
	return HT_OK;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static void emit_field(struct ht_emit *out, const char *key, int64_t value)
{
	HT_EMIT(out, ",\"");
	ht_emit_text(out, key, strlen(key));
	HT_EMIT(out, "\":");
	ht_emit_i64(out, value);
}

static void emit_external(const struct side *side, const struct launch *launch)
{
	HT_EMIT(side->timeline->out, "\"External id\":");
	ht_emit_u64(side->timeline->out, launch ? launch->record_id : 0);
}

/* "void f<int>(...)" for a mangled name, when the C++ library is at hand. */
static void emit_kernel_name(struct side *side, uint64_t number)
{
	struct ht_emit *out = side->timeline->out;
	struct ht_name name = ht_image_name(side->timeline->image, number);
	char mangled[4096];
	int failed = 1;
	char *text = NULL;
	if (side->demangle && name.n > 2 && name.n < sizeof mangled &&
	        !memcmp(name.bytes, "_Z", 2)) {
		memcpy(mangled, name.bytes, name.n);
		mangled[name.n] = 0;
		text = side->demangle(mangled, NULL, NULL, &failed);
	}
	if (text && !failed)
		ht_emit_escaped(out, text, strlen(text));
	else
		ht_emit_text(out, name.bytes, name.n);
	free(text);
}

static void emit_flow(
        struct side *side, char phase, uint32_t id, int64_t pid, int64_t tid, int64_t ns)
{
	struct ht_emit *out = side->timeline->out;
	HT_EMIT(out, ",\n{\"ph\":\"");
	ht_emit_char(out, phase);
	HT_EMIT(out, "\",\"id\":");
	ht_emit_u64(out, id);
	HT_EMIT(out, ",\"pid\":");
	ht_emit_i64(out, pid);
	HT_EMIT(out, ",\"tid\":");
	ht_emit_i64(out, tid);
	HT_EMIT(out, ",\"ts\":");
	ht_rec_timeline_ts(side->timeline, ns);
	HT_EMIT(out, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
	if (phase == 'f')
		HT_EMIT(out, ",\"bp\":\"e\"");
	ht_emit_char(out, '}');
	side->timeline->n_events++;
}

static void emit_call(struct side *side, const struct ht_gpu_record *r)
{
	struct ht_rec_timeline *t = side->timeline;
	const struct launch *launch = find_launch(side, r->correlation);
	struct ht_name name = ht_image_name(t->image, r->name);
	ht_rec_timeline_open(t, r->kind == HT_GPU_RUNTIME ? "cuda_runtime" : "cuda_driver");
	/* "cudaMemcpy_v3020": the version is the header's business. */
	size_t n = name.n;
	while (n && name.bytes[n - 1] >= '0' && name.bytes[n - 1] <= '9')
		n--;
	bool versioned = n > 2 && n < name.n && !memcmp(name.bytes + n - 2, "_v", 2);
	ht_emit_text(t->out, name.bytes, versioned ? n - 2 : name.n);
	ht_rec_timeline_at(t, t->image->header->pid, r->thread, r->start_ns, r->end_ns);
	emit_external(side, launch);
	emit_field(t->out, "cbid", r->callback);
	emit_field(t->out, "correlation", r->correlation);
	HT_EMIT(t->out, "}}");
	if (launch && launch->has_work && launch->start_ns == r->start_ns)
		emit_flow(side, 's', r->correlation, t->image->header->pid, r->thread, r->start_ns);
}

static const struct ht_gpu_device *find_device(const struct side *side, uint32_t device)
{
	const struct ht_gpu_device *devices = side->devices.data;
	for (size_t i = 0; i < side->devices.n; i++)
		if (devices[i].device == device)
			return &devices[i];
	return NULL;
}

static void emit_three(struct ht_emit *out, const char *key, const uint32_t *three)
{
	HT_EMIT(out, ",\"");
	ht_emit_text(out, key, strlen(key));
	HT_EMIT(out, "\":[");
	for (int i = 0; i < 3; i++) {
		if (i)
			ht_emit_char(out, ',');
		ht_emit_u64(out, three[i]);
	}
	ht_emit_char(out, ']');
}

static void emit_kernel_args(const struct side *side, const struct ht_gpu_record *r)
{
	struct ht_emit *out = side->timeline->out;
	const struct ht_gpu_device *device = find_device(side, r->device);
	emit_field(out, "registers per thread", r->n_registers);
	emit_field(out, "shared memory", (int64_t)r->static_shared + r->dynamic_shared);
	if (device && device->n_sms > 0 && device->warp_size > 0) {
		double blocks = (double)r->grid[0] * r->grid[1] * r->grid[2] / device->n_sms;
		double threads = (double)r->block[0] * r->block[1] * r->block[2];
		HT_EMIT(out, ",\"blocks per SM\":");
		ht_emit_f64(out, blocks);
		HT_EMIT(out, ",\"warps per SM\":");
		ht_emit_f64(out, blocks * threads / device->warp_size);
	}
	emit_three(out, "grid", r->grid);
	emit_three(out, "block", r->block);
	if (r->graph)
		emit_field(out, "graph id", r->graph);
}

static void emit_copy_name(struct ht_emit *out, const struct ht_gpu_record *r)
{
	static const char *const kinds[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
		"AtoD", "DtoA", "DtoD", "HtoH", "PtoP" };
	static const char *const memories[] = { "Unknown", "Pageable", "Pinned", "Device", "Array",
		"Managed", "Device Static", "Managed Static" };
	char name[96];
	const char *from = r->from_kind < HT_COUNT(memories) ? memories[r->from_kind] : "Unknown";
	const char *to = r->to_kind < HT_COUNT(memories) ? memories[r->to_kind] : "Unknown";
	int n = r->kind == HT_GPU_MEMSET
	                ? snprintf(name, sizeof name, "Memset (%s)", to)
	                : snprintf(name, sizeof name, "Memcpy %s (%s -> %s)",
	                          r->copy_kind < HT_COUNT(kinds) ? kinds[r->copy_kind] : "Unknown",
	                          from, to);
	ht_emit_text(out, name, (size_t)n);
}

static void emit_work(struct side *side, const struct ht_gpu_record *r)
{
	struct ht_rec_timeline *t = side->timeline;
	const struct launch *launch = find_launch(side, r->correlation);
	bool kernel = r->kind == HT_GPU_KERNEL;
	ht_rec_timeline_open(t, kernel                     ? "kernel"
	                        : r->kind == HT_GPU_MEMCPY ? "gpu_memcpy"
	                                                   : "gpu_memset");
	if (kernel)
		emit_kernel_name(side, r->name);
	else
		emit_copy_name(t->out, r);
	ht_rec_timeline_at(t, r->device, r->stream, r->start_ns, r->end_ns);
	emit_external(side, launch);
	if (r->peer)
		emit_field(t->out, "toDevice", (int64_t)r->peer - 1);
	emit_field(t->out, "device", r->device);
	emit_field(t->out, "context", r->context);
	emit_field(t->out, "stream", r->stream);
	emit_field(t->out, "correlation", r->correlation);
	if (kernel) {
		emit_kernel_args(side, r);
	} else {
		emit_field(t->out, "bytes", (int64_t)r->n_bytes);
		if (r->end_ns > r->start_ns) {
			HT_EMIT(t->out, ",\"memory bandwidth (GB/s)\":");
			ht_emit_f64(t->out,
			        (double)r->n_bytes / (double)ht_sub_sat(r->end_ns, r->start_ns));
		}
	}
	HT_EMIT(t->out, "}}");
	if (launch)
		emit_flow(side, 'f', r->correlation, r->device, r->stream, r->start_ns);
}

/* The last time that the event was recorded before the call that waits for it. */
static const struct ht_gpu_record *find_event(
        const struct side *side, const struct ht_gpu_record *sync)
{
	const struct ht_gpu_record *events = side->events.data, *found = NULL;
	size_t low = HT_LOWER_BOUND(at, side->events.n, compare_events(&events[at], sync) < 0);
	if (low && events[low - 1].context == sync->context && events[low - 1].event == sync->event)
		found = &events[low - 1];
	return found;
}

/* CUPTI names the context only; its device is that of other work in it. */
static uint32_t device_of_context(const struct side *side, uint32_t context)
{
	const struct ht_gpu_record *records = side->records.data;
	for (size_t i = 0; i < side->records.n; i++)
		if (is_work(&records[i]) && records[i].context == context)
			return records[i].device;
	return 0;
}

static void emit_sync(struct side *side, const struct ht_gpu_record *r, uint32_t device)
{
	static const char *const kinds[] = { "Unknown Sync", "Event Sync", "Stream Wait Event",
		"Stream Sync", "Context Sync" };
	struct ht_rec_timeline *t = side->timeline;
	const char *kind = r->sync_kind < HT_COUNT(kinds) ? kinds[r->sync_kind] : kinds[0];
	int64_t stream = r->stream == NO_VALUE ? -1 : (int64_t)r->stream;
	ht_rec_timeline_open(t, "cuda_sync");
	ht_emit_text(t->out, kind, strlen(kind));
	ht_rec_timeline_at(t, device, stream, r->start_ns, r->end_ns);
	emit_external(side, find_launch(side, r->correlation));
	HT_EMIT(t->out, ",\"cuda_sync_kind\":\"");
	ht_emit_text(t->out, kind, strlen(kind));
	ht_emit_char(t->out, '"');
	if (r->sync_kind == 1 || r->sync_kind == 2) {
		const struct ht_gpu_record *event = find_event(side, r);
		emit_field(t->out, "wait_on_stream", event ? (int64_t)event->stream : -1);
		emit_field(t->out, "wait_on_cuda_event_record_corr_id",
		        event ? (int64_t)event->correlation : -1);
		emit_field(t->out, "wait_on_cuda_event_id",
		        r->event == NO_VALUE ? -1 : (int64_t)r->event);
	}
	emit_field(t->out, "stream", stream);
	emit_field(t->out, "correlation", r->correlation);
	emit_field(t->out, "device", device);
	emit_field(t->out, "context", r->context);
	HT_EMIT(t->out, "}}");
}

static void emit_overhead(struct side *side, const struct ht_gpu_record *r)
{
	struct ht_rec_timeline *t = side->timeline;
	struct ht_name name = ht_image_name(t->image, r->name);
	ht_rec_timeline_open(t, "overhead");
	ht_emit_text(t->out, name.bytes, name.n);
	ht_rec_timeline_at(t, -1, r->thread, r->start_ns, r->end_ns);
	HT_EMIT(t->out, "}}");
}

static void emit_records(struct side *side)
{
	const struct ht_gpu_record *records = side->records.data;
	uint32_t context = NO_VALUE, device = 0;
	for (size_t i = 0; i < side->records.n; i++) {
		const struct ht_gpu_record *r = &records[i];
		if (is_call(r)) {
			emit_call(side, r);
		} else if (is_work(r)) {
			emit_work(side, r);
		} else if (r->kind == HT_GPU_SYNC) {
			if (r->context != context)
				device = device_of_context(side, context = r->context);
			emit_sync(side, r, device);
		} else if (r->kind == HT_GPU_OVERHEAD) {
			emit_overhead(side, r);
		}
	}
}

/* Sorted pieces of one annotation on one stream become one event. */
static void emit_shadows(struct side *side)
{
	struct ht_rec_timeline *t = side->timeline;
	const struct shadow *shadows = side->shadows.data;
	const struct ht_rec_span *spans = t->spans.data;
	for (size_t i = 0, next; i < side->shadows.n; i = next) {
		int64_t end_ns = shadows[i].end_ns;
		for (next = i + 1; next < side->shadows.n &&
		                   shadows[next].annotation == shadows[i].annotation &&
		                   shadows[next].device == shadows[i].device &&
		                   shadows[next].stream == shadows[i].stream;
		        next++)
			end_ns = shadows[next].end_ns > end_ns ? shadows[next].end_ns : end_ns;
		const struct ht_rec_span *span = &spans[shadows[i].annotation];
		struct ht_name name = ht_image_name(t->image, span->name);
		ht_rec_timeline_open(t, "gpu_user_annotation");
		ht_emit_text(t->out, name.bytes, name.n);
		ht_rec_timeline_at(
		        t, shadows[i].device, shadows[i].stream, shadows[i].start_ns, end_ns);
		HT_EMIT(t->out, "\"External id\":");
		ht_emit_u64(t->out, span->record_id);
		HT_EMIT(t->out, "}}");
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Every stream that had work, and its device before it. */
static bool name_devices(struct side *side)
{
	struct ht_rec_timeline *t = side->timeline;
	const struct ht_gpu_record *records = side->records.data;
	struct ht_vec places = { 0 };
	for (size_t i = 0; i < side->records.n; i++) {
		uint64_t place = (uint64_t)records[i].device << 32 | records[i].stream;
		if (is_work(&records[i]) && !HT_VEC_PUSH(mem_of(side), &places, uint64_t, place)) {
			ht_vec_free(mem_of(side), &places, sizeof place);
			return false;
		}
	}
	sort(&places, sizeof(uint64_t), compare_u64);
	const uint64_t *place = places.data;
	for (size_t i = 0; i < places.n; i++) {
		uint32_t device = (uint32_t)(place[i] >> 32), stream = (uint32_t)place[i];
		char text[40];
		if (!i || place[i - 1] >> 32 != device) {
			snprintf(text, sizeof text, "GPU %u", device);
			ht_rec_timeline_meta(
			        t, "process_name", device, 0, "name", t->image->header->program);
			ht_rec_timeline_meta(t, "process_labels", device, 0, "labels", text);
		}
		if (i && place[i - 1] == place[i])
			continue;
		snprintf(text, sizeof text, "stream %u ", stream);
		ht_rec_timeline_meta(t, "thread_name", device, stream, "name", text);
	}
	ht_vec_free(mem_of(side), &places, sizeof *place);
	return true;
}

static void emit_device(struct ht_emit *out, const struct ht_gpu_device *d)
{
	HT_EMIT(out, "{\"id\":");
	ht_emit_u64(out, d->device);
	HT_EMIT(out, ",\"name\":");
	ht_emit_any(out, d->name, strlen(d->name));
	emit_field(out, "totalGlobalMem", (int64_t)d->memory_bytes);
	emit_field(out, "computeMajor", d->major);
	emit_field(out, "computeMinor", d->minor);
	emit_field(out, "maxThreadsPerBlock", d->max_threads_per_block);
	emit_field(out, "maxThreadsPerMultiprocessor", d->max_threads_per_sm);
	emit_field(out, "regsPerBlock", d->regs_per_block);
	emit_field(out, "warpSize", d->warp_size);
	emit_field(out, "sharedMemPerBlock", d->shared_per_block);
	emit_field(out, "numSms", d->n_sms);
	emit_field(out, "regsPerMultiprocessor", d->regs_per_sm);
	emit_field(out, "sharedMemPerBlockOptin", d->shared_per_block_optin);
	emit_field(out, "sharedMemPerMultiprocessor", d->shared_per_sm);
	ht_emit_char(out, '}');
}

enum ht_status ht_rec_timeline_devices(struct ht_rec_timeline *timeline)
{
	struct side side = { .timeline = timeline };
	bool done = read_records(&side);
	const struct ht_gpu_device *devices = side.devices.data;
	for (size_t i = 0; i < side.devices.n; i++) {
		if (i)
			HT_EMIT(timeline->out, ", ");
		emit_device(timeline->out, &devices[i]);
	}
	free_side(&side);
	return done ? HT_OK : ht_fail_nomem(timeline->ctx);
}

static void open_demangler(struct side *side)
{
	side->demangler = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (side->demangler)
		*(void **)&side->demangle = dlsym(side->demangler, "__cxa_demangle");
}

enum ht_status ht_rec_timeline_gpu(struct ht_rec_timeline *timeline)
{
	struct side side = { .timeline = timeline };
	enum ht_status status = link_all(&side);
	if (status == HT_OK) {
		open_demangler(&side);
		emit_records(&side);
		emit_shadows(&side);
		if (!name_devices(&side))
			status = ht_fail_nomem(timeline->ctx);
	}
	if (side.demangler)
		dlclose(side.demangler);
	free_side(&side);
	return status;
}
