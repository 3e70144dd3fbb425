/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.c - multiply a trace to the size asked, into one coherent Kineto file.
 *
 *     bench_generate [--frames N] [--whole-us] TRACE BYTES OUTPUT [RANK WORLD_SIZE]
 *
 * The events of TRACE (plain or compressed) are written again and again, each copy later in time and
 * with ids of its own, until OUTPUT has BYTES bytes. In copy k
 *
 *     ts               + k * span          span: first start to last end, rounded up to 1 ms
 *     ids              + k * stride        correlation, External id, flow ids, Ev Idx, Python ids, ...
 *     ProfilerStep#N   + k * n_steps
 *
 * so that links, call trees and steps stay as true as in the original. Metadata events, the session's
 * span and its start are written with the first copy only, Record Window End with the last. With RANK
 * the header gets distributedInfo. The same arguments give the same bytes.
 *
 * --frames makes Python stacks deeper, as code in layers does (with_stack=True): every Python frame that has a
 * parent is called through N more of its name, time and thread, each the child of the one before.
 * --whole-us leaves out the decimals of times, as PyTorch before 2.4 did: then many starts are the same.
 *
 * The text is cut once into pieces: literal bytes, each followed by a number that shifts. A copy is then
 * a walk over the pieces.
 */
#include "base/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUT_BYTES ((size_t)1 << 30)
#define SPAN_ROUND_NS   1000000

enum shift { SHIFT_NONE, SHIFT_TIME, SHIFT_LENGTH, SHIFT_ID, SHIFT_STEP };
enum role { ROLE_NONE, ROLE_FRAME, ROLE_PARENT };
enum when { EVERY_COPY, FIRST_COPY, LAST_COPY };

/* Literal bytes, then a number. */
struct piece {
	uint32_t start, n;
	uint8_t shift, when, role;
	bool is_new;   /* value counts from the first id that the trace does not have */
	int64_t value; /* ns for times */
};

struct plan {
	const char *text;
	size_t events_start, events_end; /* just inside the brackets of traceEvents */
	struct piece *pieces;
	size_t n_pieces, cap;
	int64_t min_ns, max_ns, span_ns, stride, n_steps;
	int64_t ts_ns, dur_ns; /* of the event being read */
	int64_t min_step, max_step;
	int64_t n_frames, n_new_ids;
	bool whole_us;
};

static const char *const id_keys[] = { "correlation", "External id", "external id", "id", "Ev Idx",
	"Python id", "Python parent id", "Record function id", "Sequence number",
	"wait_on_cuda_event_record_corr_id" };

static void die(const char *what)
{
	fprintf(stderr, "bench_generate: %s\n", what);
	exit(1);
}

/* The byte after a string that starts at i. */
static size_t skip_string(const char *text, size_t i)
{
	for (i++; text[i] && text[i] != '"'; i++)
		if (text[i] == '\\')
			i++;
	return i + 1;
}

static void add_piece(struct plan *plan, size_t start, size_t end, enum shift shift, int64_t value)
{
	if (plan->n_pieces == plan->cap) {
		plan->cap = plan->cap ? plan->cap * 2 : 1024;
		plan->pieces = realloc(plan->pieces, plan->cap * sizeof *plan->pieces);
		if (!plan->pieces)
			die("out of memory");
	}
	plan->pieces[plan->n_pieces++] = (struct piece){ .start = (uint32_t)start,
		.n = (uint32_t)(end - start),
		.shift = (uint8_t)shift,
		.value = value };
}

/* Microseconds with up to three decimals as ns. */
static int64_t parse_ns(const char *text, size_t *ret_n)
{
	char *end;
	int64_t ns = strtoll(text, &end, 10) * 1000;
	if (*end == '.') {
		int64_t unit = 100;
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			ns += (*end - '0') * unit;
	}
	*ret_n = (size_t)(end - text);
	return ns;
}

static bool is_id(const char *key, size_t n)
{
	for (size_t i = 0; i < HT_COUNT(id_keys); i++)
		if (strlen(id_keys[i]) == n && !memcmp(id_keys[i], key, n))
			return true;
	return false;
}

static uint8_t role_of(const char *key, size_t n)
{
	return n == 9 && !memcmp(key, "Python id", 9)            ? ROLE_FRAME
	       : n == 16 && !memcmp(key, "Python parent id", 16) ? ROLE_PARENT
	                                                         : ROLE_NONE;
}

/* Look at the number behind a key; cuts a piece when it shifts. Answers the byte after the number. */
static size_t take_number(struct plan *plan, const char *key, size_t n_key, size_t i, size_t *start)
{
	const char *text = plan->text;
	size_t n;
	if (n_key == 2 && !memcmp(key, "ts", 2)) {
		plan->ts_ns = parse_ns(text + i, &n);
		add_piece(plan, *start, i, SHIFT_TIME, plan->ts_ns);
		*start = i + n;
		return i + n;
	}
	if (n_key == 3 && !memcmp(key, "dur", 3)) {
		plan->dur_ns = parse_ns(text + i, &n);
		add_piece(plan, *start, i, SHIFT_LENGTH, plan->dur_ns);
		*start = i + n;
		return i + n;
	}
	char *end;
	int64_t value = strtoll(text + i, &end, 10);
	n = (size_t)(end - (text + i));
	if (value > 0 && is_id(key, n_key) &&
	        (*end == ',' || *end == '}' || (unsigned char)*end <= ' ')) {
		add_piece(plan, *start, i, SHIFT_ID, value);
		plan->pieces[plan->n_pieces - 1].role = role_of(key, n_key);
		*start = i + n;
		if (value >= plan->stride)
			plan->stride = value + 1;
	}
	return i + n;
}

static void take_step_name(struct plan *plan, size_t i, size_t *start)
{
	static const char prefix[] = "\"ProfilerStep#";
	if (strncmp(plan->text + i, prefix, sizeof prefix - 1))
		return;
	size_t digits = i + sizeof prefix - 1;
	char *end;
	int64_t step = strtoll(plan->text + digits, &end, 10);
	add_piece(plan, *start, digits, SHIFT_STEP, step);
	*start = (size_t)(end - plan->text);
	plan->min_step = step < plan->min_step ? step : plan->min_step;
	plan->max_step = step > plan->max_step ? step : plan->max_step;
}

static bool has(const char *text, size_t n, const char *needle)
{
	return memmem(text, n, needle, strlen(needle));
}

static enum when event_when(const char *text, size_t n)
{
	if (has(text, n, "\"Record Window End\""))
		return LAST_COPY;
	if (has(text, n, "\"ph\": \"M\"") || has(text, n, "\"cat\": \"Trace\"") ||
	        has(text, n, "\"Iteration Start"))
		return FIRST_COPY;
	return EVERY_COPY;
}

/* More frames below the one whose pieces start at first. */
static void add_frames(struct plan *plan, size_t first)
{
	size_t n = plan->n_pieces - first, i_frame = SIZE_MAX, i_parent = SIZE_MAX;
	for (size_t i = 0; i < n; i++) {
		if (plan->pieces[first + i].role == ROLE_FRAME)
			i_frame = i;
		if (plan->pieces[first + i].role == ROLE_PARENT)
			i_parent = i;
	}
	for (int64_t k = 0; i_frame < n && i_parent < n && k < plan->n_frames; k++) {
		size_t last = plan->n_pieces - n;
		for (size_t i = 0; i < n; i++) {
			struct piece piece = plan->pieces[last + i];
			add_piece(plan, piece.start, piece.start + piece.n, piece.shift, 0);
			plan->pieces[plan->n_pieces - 1] = piece;
		}
		struct piece *before = plan->pieces + last, *now = before + n;
		now[i_parent].value = before[i_frame].value;
		now[i_parent].is_new = before[i_frame].is_new;
		now[i_frame].value = plan->n_new_ids++;
		now[i_frame].is_new = true;
	}
}

/* One event from its brace on: pieces for what shifts, one literal for the rest. Ends after it. */
static size_t take_event(struct plan *plan, size_t begin)
{
	const char *text = plan->text;
	size_t i = begin, start = begin, first_piece = plan->n_pieces, key = 0, n_key = 0;
	int depth = 0;
	plan->ts_ns = INT64_MIN;
	plan->dur_ns = 0;
	do {
		char c = text[i];
		if (c == '"') {
			size_t end = skip_string(text, i), after = end;
			while ((unsigned char)text[after] <= ' ' && text[after])
				after++;
			if (text[after] == ':') {
				key = i + 1;
				n_key = end - i - 2;
				end = after + 1;
			} else if (n_key == 4 && !memcmp(text + key, "name", 4)) {
				take_step_name(plan, i, &start);
			}
			i = end;
		} else if ((c >= '0' && c <= '9') || c == '-') {
			i = take_number(plan, text + key, n_key, i, &start);
			n_key = 0;
		} else {
			depth += (c == '{' || c == '[') - (c == '}' || c == ']');
			i++;
		}
	} while (depth && text[i]);
	if (depth)
		die("the trace ends inside an event");
	add_piece(plan, start, i, SHIFT_NONE, 0);
	enum when when = event_when(text + begin, i - begin);
	for (size_t p = first_piece; p < plan->n_pieces; p++)
		plan->pieces[p].when = (uint8_t)when;
	add_frames(plan, first_piece);
	if (when == EVERY_COPY && plan->ts_ns != INT64_MIN) {
		if (plan->ts_ns < plan->min_ns)
			plan->min_ns = plan->ts_ns;
		if (plan->ts_ns + plan->dur_ns > plan->max_ns)
			plan->max_ns = plan->ts_ns + plan->dur_ns;
	}
	return i;
}

static void make_plan(struct plan *plan, const char *text)
{
	const char *events = strstr(text, "\"traceEvents\"");
	const char *open = events ? strchr(events, '[') : NULL;
	if (!open)
		die("no traceEvents");
	*plan = (struct plan){ .text = text,
		.n_frames = plan->n_frames,
		.whole_us = plan->whole_us,
		.events_start = (size_t)(open - text) + 1,
		.min_ns = INT64_MAX,
		.max_ns = INT64_MIN,
		.min_step = INT64_MAX,
		.max_step = INT64_MIN };
	size_t i = plan->events_start;
	while (text[i] && text[i] != ']') {
		if (text[i] == '{')
			i = take_event(plan, i);
		else
			i++;
	}
	plan->events_end = i;
	for (size_t p = 0; p < plan->n_pieces; p++)
		if (plan->pieces[p].is_new)
			plan->pieces[p].value += plan->stride;
	plan->stride += plan->n_new_ids;
	plan->span_ns =
	        (plan->max_ns - plan->min_ns) / SPAN_ROUND_NS * SPAN_ROUND_NS + 2 * SPAN_ROUND_NS;
	plan->n_steps = plan->max_step >= plan->min_step ? plan->max_step - plan->min_step + 1 : 0;
}

struct out {
	FILE *file;
	uint64_t n;
	char buf[1 << 20];
	size_t used;
};

static void flush(struct out *out)
{
	if (fwrite(out->buf, 1, out->used, out->file) != out->used)
		die("cannot write");
	out->used = 0;
}

static void put(struct out *out, const char *bytes, size_t n)
{
	out->n += n;
	while (n) {
		if (out->used == sizeof out->buf)
			flush(out);
		size_t room = sizeof out->buf - out->used, some = n < room ? n : room;
		memcpy(out->buf + out->used, bytes, some);
		out->used += some;
		bytes += some;
		n -= some;
	}
}

static void put_number(
        struct out *out, const struct plan *plan, const struct piece *piece, int64_t copy)
{
	char text[64];
	int n = 0;
	if (piece->shift == SHIFT_TIME || piece->shift == SHIFT_LENGTH) {
		int64_t ns = piece->value + (piece->shift == SHIFT_TIME) * copy * plan->span_ns;
		n = snprintf(text, sizeof text, "%" PRId64, ns / 1000);
		if (!plan->whole_us)
			n += snprintf(text + n, sizeof text - (size_t)n, ".%03d", (int)(ns % 1000));
	} else {
		int64_t step = piece->shift == SHIFT_ID ? plan->stride : plan->n_steps;
		n = snprintf(text, sizeof text, "%" PRId64, piece->value + copy * step);
	}
	put(out, text, (size_t)n);
}

/* Write one copy; comma says whether an event came before. */
static void write_copy(
        struct out *out, const struct plan *plan, int64_t copy, bool last, bool *comma)
{
	for (size_t i = 0; i < plan->n_pieces; i++) {
		const struct piece *piece = &plan->pieces[i];
		if ((piece->when == FIRST_COPY && copy) || (piece->when == LAST_COPY && !last))
			continue;
		if (plan->text[piece->start] == '{' &&
		        (!i || plan->pieces[i - 1].shift == SHIFT_NONE)) {
			put(out, ",\n  ", *comma ? 4 : 0);
			*comma = true;
		}
		put(out, plan->text + piece->start, piece->n);
		if (piece->shift != SHIFT_NONE)
			put_number(out, plan, piece, copy);
	}
}

/* The header up to the bracket, with distributedInfo when a rank is asked for and none is there; one
 * that is there gets the rank. */
static void write_header(
        struct out *out, const struct plan *plan, const char *rank, const char *world)
{
	const char *text = plan->text, *end = text + plan->events_start;
	const char *info = memmem(text, plan->events_start, "\"distributedInfo\"", 17);
	const char *field = info ? strstr(info, "\"rank\":") : NULL;
	if (!rank) {
		put(out, text, plan->events_start);
	} else if (field && field < end) {
		const char *value = field + 7;
		put(out, text, (size_t)(value - text));
		put(out, " ", 1);
		put(out, rank, strlen(rank));
		value += strspn(value, " 0123456789");
		put(out, value, (size_t)(end - value));
	} else {
		char line[256];
		int n = snprintf(line, sizeof line,
		        "{\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %s, \"world_size\": %s},",
		        rank, world);
		const char *brace = strchr(text, '{');
		put(out, line, (size_t)n);
		put(out, brace + 1, (size_t)(end - brace - 1));
	}
	put(out, "\n  ", 3);
}

static void write_all(const struct plan *plan, uint64_t n_bytes, char **args, int n_args)
{
	static struct out out;
	out.file = fopen(args[3], "wb");
	if (!out.file)
		die("cannot open the output");
	write_header(&out, plan, n_args > 4 ? args[4] : NULL, n_args > 5 ? args[5] : "1");
	bool comma = false, last = false;
	size_t n_tail = strlen(plan->text + plan->events_end);
	uint64_t largest = 0;
	for (int64_t copy = 0; !last; copy++) {
		uint64_t before = out.n;
		last = before + largest + n_tail >= n_bytes;
		write_copy(&out, plan, copy, last, &comma);
		largest = out.n - before > largest ? out.n - before : largest;
	}
	put(&out, "\n  ", 3);
	put(&out, plan->text + plan->events_end, n_tail);
	flush(&out);
	if (fclose(out.file))
		die("cannot write");
}

int main(int n_args, char **args)
{
	struct plan plan = { 0 };
	for (; n_args > 1 && args[1][0] == '-'; n_args--, args++) {
		if (!strcmp(args[1], "--whole-us")) {
			plan.whole_us = true;
		} else if (!strcmp(args[1], "--frames") && n_args > 2) {
			plan.n_frames = strtoll(args[2], NULL, 10);
			n_args--;
			args++;
		} else {
			die("there is no such option");
		}
	}
	if (n_args < 4) {
		fputs("usage: bench_generate [--frames N] [--whole-us] TRACE BYTES OUTPUT "
		      "[RANK WORLD_SIZE]\n",
		        stderr);
		return 2;
	}
	ht_ctx *ctx;
	if (ht_ctx_new(&ctx) != HT_OK)
		die("out of memory");
	struct ht_vec text = { 0 };
	if (ht_read_all(ctx, args[1], MAX_INPUT_BYTES, &text) != HT_OK)
		die(ht_error(ctx)->message);
	make_plan(&plan, text.data);
	write_all(&plan, strtoull(args[2], NULL, 10), args, n_args);
	free(plan.pieces);
	ht_vec_free(ctx->mem, &text, 1);
	ht_ctx_free(ctx);
	return 0;
}
