/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c - the reader of memory snapshots: what torch.cuda.memory._dump_snapshot and its like write.
 *
 * One dictionary in four wrappings, told apart by their first bytes:
 *
 *   80 02..05     a pickle, of Python or of torch's own writer         (pickle.c)
 *   {             JSON of the same dictionary, as mosaic writes it     (snapshot_json.c)
 *   < local_files a page of torch.cuda._memory_viz: the pickle as base64, which is decoded on the way
 *
 * each compressed or not. Records become columns while they are read (snapshot_fold.c). A file that ends early keeps
 * the events and segments that are whole: programs that run out of memory are killed while they write.
 */
#include "read/snapshot.h"

#include "base/emit.h"
#include "base/mem.h"
#include "read/reader.h"

#include <stdio.h>
#include <string.h>

#define MAX_SETTINGS       100000 /* values */
#define MAX_SETTINGS_BYTES ((uint64_t)64 << 20)

static const char *const key_names[HT_SNAP_N_KEYS] = {
	"",
#define KEY(name) #name,
#include "read/snapshot_keys.def"
#undef KEY
};

enum ht_status ht_snap_init(struct ht_snap *s, struct ht_builder *builder, const char *path)
{
	uint32_t ids[HT_SNAP_N_KEYS] = { 0 }, max = 0;
	*s = (struct ht_snap){
		.ctx = builder->ctx, .builder = builder, .draft = &builder->snapshot
	};
	s->draft->about.max_split_bytes = -1;
	ht_pickle_init(&s->pickle, s->ctx, path, &builder->strings, &ht_snap_folds, s);
	for (size_t i = 1; i < HT_SNAP_N_KEYS; i++) {
		if (!ht_intern(&s->pickle.strings, key_names[i], strlen(key_names[i]), &ids[i]))
			return ht_fail_nomem(s->ctx);
		max = ids[i] > max ? ids[i] : max;
	}
	s->n_key_of = (size_t)max + 1;
	s->key_of = ht_mem_zalloc(s->ctx->mem, s->n_key_of);
	if (!s->key_of)
		return ht_fail_nomem(s->ctx);
	for (size_t i = 1; i < HT_SNAP_N_KEYS; i++)
		s->key_of[ids[i]] = (uint8_t)i;
	return HT_OK;
}

void ht_snap_done(struct ht_snap *s)
{
	struct ht_mem *mem = s->ctx->mem;
	ht_pickle_done(&s->pickle);
	if (s->key_of)
		ht_mem_free(mem, s->key_of, s->n_key_of);
	if (s->frames.slots)
		ht_mem_free(mem, s->frames.slots, s->frames.cap * sizeof(uint32_t));
	if (s->stacks.slots)
		ht_mem_free(mem, s->stacks.slots, s->stacks.cap * sizeof(uint32_t));
	ht_vec_free(mem, &s->ranges, sizeof(struct ht_snap_range));
	ht_vec_free(mem, &s->scratch, sizeof(uint32_t));
	ht_vec_free(mem, &s->text, 1);
	ht_vec_free(mem, &s->known, sizeof(struct ht_snap_known));
}

/* ---- the dictionary ---- */

/* The records of a list; none when it is empty or of something else. */
static struct ht_snap_range range_of(const struct ht_snap *s, ht_pk value, unsigned type)
{
	struct ht_snap_range none = { type, 0, 0 };
	value = ht_pk_resolve(&s->pickle, value);
	if (ht_pk_kind(value) != HT_PK_RECORD || ht_pk_record_type(value) != HT_SNAP_RANGE)
		return none;
	struct ht_snap_range range =
	        ((const struct ht_snap_range *)s->ranges.data)[ht_pk_record_index(value)];
	return range.type == type ? range : none;
}

static void note_device(struct ht_snap *s, uint32_t device)
{
	if (device >= s->draft->about.n_devices)
		s->draft->about.n_devices = device + 1;
}

/* Events of each device, one device after the other. Those of no device, such as the host's, are left out. */
static void take_events(struct ht_snap *s, ht_pk traces)
{
	struct ht_mem_event *events = s->draft->events.data;
	size_t n, n_kept = 0;
	uint64_t next = 0;
	const ht_pk *items = ht_pk_items(&s->pickle, traces, &n);
	for (size_t i = 0; i < n && i < UINT16_MAX; i++) {
		struct ht_snap_range range = range_of(s, items[i], HT_SNAP_ENTRY);
		if (!range.n)
			continue;
		if (range.first < next) {
			/* the same list for two devices */
			ht_chunk_stat(&s->builder->all, HT_STAT_snapshot_record_lost, -1, range.n);
			s->draft->about.n_entries_lost += range.n;
			continue;
		}
		next = range.first + range.n;
		memmove(events + n_kept, events + range.first, range.n * sizeof *events);
		for (uint64_t k = 0; k < range.n; k++)
			events[n_kept + k].device = (uint16_t)i;
		n_kept += range.n;
		note_device(s, (uint32_t)i);
	}
	s->draft->events.n = n_kept;
}

/* Segments of the list, and their blocks; what was read of others is left out. */
static enum ht_status take_segments(struct ht_snap *s, ht_pk list)
{
	struct ht_mem_draft *d = s->draft;
	struct ht_snap_range range = range_of(s, list, HT_SNAP_SEGMENT);
	struct ht_mem_segment *segments = d->segments.data;
	struct ht_vec blocks = { 0 };
	size_t n_blocks = 0;
	if (range.n)
		memmove(segments, segments + range.first, range.n * sizeof *segments);
	d->segments.n = range.n;
	for (size_t i = 0; i < range.n; i++)
		n_blocks += segments[i].n_blocks;
	if (!ht_vec_reserve(s->ctx->mem, &blocks, sizeof(struct ht_mem_block), n_blocks + 1))
		return ht_fail_nomem(s->ctx);
	for (size_t i = 0; i < range.n; i++) {
		struct ht_mem_block *to = (struct ht_mem_block *)blocks.data + blocks.n;
		const struct ht_mem_block *from = d->blocks.data; /* NULL: the file has none */
		if (segments[i].n_blocks)
			memcpy(to, from + segments[i].first_block,
			        segments[i].n_blocks * sizeof *to);
		for (uint32_t k = 0; k < segments[i].n_blocks; k++)
			to[k].segment = (uint32_t)i;
		segments[i].first_block = (uint32_t)blocks.n;
		blocks.n += segments[i].n_blocks;
		note_device(s, segments[i].device);
	}
	ht_vec_free(s->ctx->mem, &d->blocks, sizeof(struct ht_mem_block));
	d->blocks = blocks;
	return HT_OK;
}

static void take_annotations(struct ht_snap *s, ht_pk list)
{
	struct ht_snap_range range = range_of(s, list, HT_SNAP_NOTE);
	struct ht_mem_annotation *notes = s->draft->annotations.data;
	if (range.n)
		memmove(notes, notes + range.first, range.n * sizeof *notes);
	s->draft->annotations.n = range.n;
}

static enum ht_status append_text(void *user, const void *bytes, size_t n)
{
	struct ht_snap *s = user;
	struct ht_vec *text = &s->text;
	if (!ht_vec_reserve(s->ctx->mem, text, 1, n))
		return ht_fail_nomem(s->ctx);
	memcpy((char *)text->data + text->n, bytes, n);
	text->n += n;
	return HT_OK;
}

/* The settings as a header of the trace, and those that decide on sizes of blocks. */
static enum ht_status take_settings(struct ht_snap *s, ht_pk settings)
{
	struct ht_mem_about *about = &s->draft->about;
	struct ht_emit emit;
	int64_t number;
	if (ht_pk_kind(settings) != HT_PK_DICT)
		return HT_OK;
	if (ht_pk_i64(&s->pickle, ht_pk_find(&s->pickle, settings, "max_split_size"), &number))
		about->max_split_bytes = number;
	about->is_expandable = ht_pk_find(&s->pickle, settings, "expandable_segments") ==
	                       ht_pk_make(HT_PK_BOOL, 1);
	ht_pk divisions = ht_pk_find(&s->pickle, settings, "roundup_power2_divisions");
	for (unsigned i = 0; i < HT_COUNT(about->roundup_divisions); i++) {
		char key[16];
		snprintf(key, sizeof key, "%u", 1u << i);
		if (ht_pk_i64(&s->pickle, ht_pk_find(&s->pickle, divisions, key), &number) &&
		        number > 0 && number <= 1 << 20)
			about->roundup_divisions[i] = (uint32_t)number;
	}
	HT_TRY(ht_emit_init(&emit, s->ctx, append_text, s));
	enum ht_status status =
	        ht_pk_print(&s->pickle, settings, &emit, MAX_SETTINGS, MAX_SETTINGS_BYTES);
	enum ht_status done = ht_emit_done(&emit);
	HT_TRY(status != HT_OK ? status : done);
	static const char key[] = "allocator_settings";
	return ht_builder_header(s->builder, key, sizeof key - 1, s->text.data, s->text.n)
	               ? HT_OK
	               : ht_fail_nomem(s->ctx);
}

static void count_unknown_keys(struct ht_snap *s, ht_pk root)
{
	size_t n, n_unknown = 0;
	const ht_pk *items = ht_pk_items(&s->pickle, root, &n);
	for (size_t i = 0; i + 1 < n; i += 2) {
		enum ht_snap_key key = ht_snap_key(s, items[i]);
		n_unknown += key < HT_SNAP_segments || key > HT_SNAP_categories;
	}
	if (n_unknown)
		ht_chunk_stat(&s->builder->all, HT_STAT_snapshot_key_unknown, -1, n_unknown);
}

enum ht_status ht_snap_finish(struct ht_snap *s, ht_pk root)
{
	ht_pk segments = ht_pk_find(&s->pickle, root, "segments");
	ht_pk traces = ht_pk_find(&s->pickle, root, "device_traces");
	if (ht_pk_kind(segments) == HT_PK_EMPTY && ht_pk_kind(traces) == HT_PK_EMPTY)
		return ht_fail(s->ctx, HT_FORMAT, s->pickle.path,
		        s->pickle.is_cut ? s->pickle.offset : 0,
		        "give a file that torch.cuda.memory._dump_snapshot wrote",
		        s->pickle.is_cut
		                ? "the file ends before its first segment or event"
		                : "plain data, but no memory snapshot: there are neither segments nor device_traces");
	if (s->pickle.is_cut)
		ht_chunk_stat(&s->builder->all, HT_STAT_truncated, s->pickle.offset, 1);
	take_events(s, traces);
	HT_TRY(take_segments(s, segments));
	take_annotations(s, ht_pk_find(&s->pickle, root, "external_annotations"));
	HT_TRY(take_settings(s, ht_pk_find(&s->pickle, root, "allocator_settings")));
	count_unknown_keys(s, root);
	s->draft->is_there = true;
	return HT_OK;
}

/* ---- wrappings ---- */

/* Bytes of the file, or of the base64 text in it. */
struct unwrap {
	ht_ctx *ctx;
	struct ht_source *source;
	struct ht_head head; /* read already, n_used of it delivered */
	size_t n_used;
	size_t n_matched; /* of the key before the text; all of it: inside */
	bool in_text, at_end;
	uint32_t bits;
	unsigned n_bits;
};

static enum ht_status read_plain(void *user, void *buf, size_t cap, size_t *ret_n)
{
	struct unwrap *u = user;
	size_t n = u->head.n - u->n_used < cap ? u->head.n - u->n_used : cap, n_more = 0;
	memcpy(buf, u->head.text + u->n_used, n);
	u->n_used += n;
	if (n < cap)
		HT_TRY(ht_source_read(u->ctx, u->source, (char *)buf + n, cap - n, &n_more));
	*ret_n = n + n_more;
	return HT_OK;
}

static int base64_value(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One byte of the page; true when it completes one of the pickle. */
static bool unwrap_byte(struct unwrap *u, unsigned char c, unsigned char *ret_byte)
{
	static const char key[] = "\"base64\"";
	if (u->n_matched < sizeof key - 1) {
		u->n_matched = c == (unsigned char)key[u->n_matched] ? u->n_matched + 1 : c == '"';
		return false;
	}
	if (!u->in_text) {
		u->in_text = c == '"';
		return false;
	}
	u->at_end = c == '"';
	int value = base64_value(c);
	if (value < 0)
		return false;
	u->bits = u->bits << 6 | (uint32_t)value;
	u->n_bits += 6;
	if (u->n_bits < 8)
		return false;
	u->n_bits -= 8;
	*ret_byte = (unsigned char)(u->bits >> u->n_bits);
	return true;
}

static enum ht_status read_page(void *user, void *buf, size_t cap, size_t *ret_n)
{
	struct unwrap *u = user;
	unsigned char *out = buf, page[4096];
	size_t n = 0, n_page = sizeof page;
	while (n + sizeof page <= cap && n_page == sizeof page && !u->at_end) {
		HT_TRY(read_plain(u, page, sizeof page, &n_page));
		for (size_t i = 0; i < n_page && !u->at_end; i++)
			n += unwrap_byte(u, page[i], out + n);
	}
	/* fewer than asked for means the end: what is left of the buffer is filled with what no pickle minds */
	bool is_end = u->at_end || n_page < sizeof page;
	while (!is_end && n < cap) {
		HT_TRY(read_plain(u, page, 1, &n_page));
		is_end = !n_page;
		n += n_page && unwrap_byte(u, page[0], out + n);
		is_end |= u->at_end;
	}
	*ret_n = n;
	return HT_OK;
}

static const char *find_text(const struct ht_head *head, const char *text)
{
	size_t n = strlen(text);
	for (size_t i = 0; i + n <= head->n; i++)
		if (!memcmp(head->text + i, text, n))
			return head->text + i;
	return NULL;
}

static char first_letter(const struct ht_head *head, size_t *ret_at)
{
	size_t i = head->n >= 3 && !memcmp(head->text, "\xef\xbb\xbf", 3) ? 3 : 0;
	while (i < head->n && memchr(" \t\r\n", head->text[i], 4))
		i++;
	*ret_at = i;
	return i < head->n ? head->text[i] : '\0';
}

static bool is_picture(const struct ht_head *head)
{
	return find_text(head, "<title>GPU Memory Timeline HTML</title>") != NULL;
}

static bool sniff(const struct ht_head *head)
{
	static const char *const firsts[] = { "\"segments\"", "\"device_traces\"",
		"\"allocator_settings\"", "\"external_annotations\"", "\"host_segments\"" };
	size_t at;
	char letter = first_letter(head, &at);
	if (ht_pickle_sniff(head->text, head->n))
		return true;
	if (letter == '<')
		return is_picture(head) ||
		       (find_text(head, "local_files") && find_text(head, "\"base64\""));
	if (letter != '{')
		return false;
	for (at++; at < head->n && memchr(" \t\r\n", head->text[at], 4);)
		at++;
	for (size_t i = 0; i < HT_COUNT(firsts); i++) {
		size_t n = strlen(firsts[i]);
		if (head->n - at > n && !memcmp(head->text + at, firsts[i], n))
			return true;
	}
	return false;
}

static enum ht_status read_values(
        struct ht_snap *s, const struct ht_reading *reading, struct unwrap *unwrap)
{
	struct ht_pk_bytes plain = { read_plain, unwrap }, page = { read_page, unwrap };
	size_t at;
	char letter = first_letter(&unwrap->head, &at);
	if (!letter)
		return ht_fail(s->ctx, HT_FORMAT, reading->path, 0,
		        "the program may have been killed before it wrote anything",
		        "the file is empty");
	if (is_picture(&unwrap->head))
		return ht_fail(s->ctx, HT_FORMAT, reading->path, 0,
		        "export the timeline with a name that ends in .json or .raw.json.gz",
		        "the page holds a picture of a memory timeline, no numbers");
	if (letter == '{')
		return ht_snap_json(&s->pickle, &plain);
	return ht_pickle_run(&s->pickle, letter == '<' ? &page : &plain);
}

static enum ht_status read_all(struct ht_snap *s, const struct ht_reading *reading)
{
	struct unwrap unwrap = { .ctx = s->ctx, .source = reading->source };
	char *head = ht_mem_alloc(s->ctx->mem, HT_SNIFF_BYTES);
	ht_pk root;
	if (!head)
		return ht_fail_nomem(s->ctx);
	unwrap.head.text = head;
	enum ht_status status =
	        ht_source_read(s->ctx, reading->source, head, HT_SNIFF_BYTES, &unwrap.head.n);
	if (status == HT_OK)
		status = read_values(s, reading, &unwrap);
	ht_mem_free(s->ctx->mem, head, HT_SNIFF_BYTES);
	HT_TRY(s->status);
	HT_TRY(status);
	HT_TRY(ht_pk_root(&s->pickle, &root));
	HT_TRY(s->status);
	HT_TRY(ht_snap_finish(s, root));
	return ht_snap_check(s);
}

static enum ht_status read_snapshot(struct ht_builder *builder, const struct ht_reading *reading)
{
	struct ht_snap snap;
	if (builder->snapshot.is_there)
		return ht_fail(builder->ctx, HT_FORMAT, reading->path, -1,
		        "give the snapshots of several ranks as files of their own",
		        "a rank has one memory snapshot, and this is its second");
	enum ht_status status = ht_snap_init(&snap, builder, reading->path);
	if (status == HT_OK)
		status = read_all(&snap, reading);
	ht_snap_done(&snap);
	if (status == HT_OK)
		builder->n_documents++;
	else
		ht_mem_draft_done(builder->mem, &builder->snapshot);
	return status;
}

const struct ht_reader ht_reader_snapshot = {
	.name = "memory-snapshot",
	.what = "a memory snapshot",
	.endings = ".pickle|.pkl",
	.by_name_only = true,
	.sniff = sniff,
	.read = read_snapshot,
};
