/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c - the reader of Perfetto traces: TrackEvents of any producer, PyTorch's own monitor, GPU render stages, and
 * what `convert -o x.pftrace` writes.
 *
 * A file is packets one behind the other, `0A length bytes`; some hold compressed packets. What is damaged is passed over:
 * after a packet that ends behind the file nothing follows, after bytes that are no packet reading goes on at the next
 * synchronisation marker, or ends where there is none. docs/formats/pftrace.md says what is read.
 */
#include "read/perfetto.h"

#include "base/io_deflate.h"
#include "base/mem.h"
#include "base/unzstd.h"
#include "read/reader.h"
#include "store/draft.h"
#include "store/side_table.h"

#include <stdio.h>
#include <string.h>

#define READ_BYTES ((size_t)1 << 20)

/* Compressed packets may not expand to more, one or all of a file of so many bytes. */
#define MAX_INFLATED ((uint64_t)1 << 30)
#define MAX_RATIO    400

/* More fields than packets have: a packet behind a marker is one when these make sense, however long it says that it is. */
#define MAX_PACKET_FIELDS 64

static const unsigned char marker[16] = { 0x82, 0x47, 0x7a, 0x76, 0xb2, 0x8d, 0x42, 0xba, 0x81,
	0xdc, 0x33, 0x32, 0x6d, 0x57, 0xa0, 0x79 };

void ht_pf_count(struct ht_pf *pf, enum ht_stat_code code)
{
	ht_chunk_stat(&pf->builder->all, code, pf->offset, 1);
}

/* ---- numbers by numbers ---- */

void ht_map64_done(struct ht_mem *mem, struct ht_map64 *map)
{
	ht_mem_free(mem, map->keys, map->cap * sizeof *map->keys);
	ht_mem_free(mem, map->values, map->cap * sizeof *map->values);
	*map = (struct ht_map64){ 0 };
}

static size_t place_of(const struct ht_map64 *map, uint64_t key)
{
	return HT_PROBE(at, map->cap, key, !map->values[at] || map->keys[at] == key);
}

uint32_t ht_map64_find(const struct ht_map64 *map, uint64_t key)
{
	/* a free place has value 0, which is HT_NONE + 1 */
	return map->cap ? map->values[place_of(map, key)] - 1 : HT_NONE;
}

static bool grow(struct ht_mem *mem, struct ht_map64 *map)
{
	struct ht_map64 larger = { .cap = map->cap ? map->cap * 2 : 16, .n = map->n };
	larger.keys = ht_mem_alloc(mem, larger.cap * sizeof *larger.keys);
	larger.values = ht_mem_zalloc(mem, larger.cap * sizeof *larger.values);
	if (!larger.keys || !larger.values) {
		ht_map64_done(mem, &larger);
		return false;
	}
	for (size_t i = 0; i < map->cap; i++)
		if (map->values[i]) {
			size_t at = place_of(&larger, map->keys[i]);
			larger.keys[at] = map->keys[i];
			larger.values[at] = map->values[i];
		}
	ht_map64_done(mem, map);
	*map = larger;
	return true;
}

bool ht_map64_put(struct ht_mem *mem, struct ht_map64 *map, uint64_t key, uint32_t value)
{
	if (map->n * 2 >= map->cap && !grow(mem, map))
		return false;
	size_t at = place_of(map, key);
	map->n += !map->values[at];
	map->keys[at] = key;
	map->values[at] = value + 1;
	return true;
}

void ht_map64_clear(struct ht_map64 *map)
{
	if (map->n)
		memset(map->values, 0, map->cap * sizeof *map->values);
	map->n = 0;
}

/* ---- compressed packets ---- */

static uint32_t adler32(const unsigned char *bytes, size_t n)
{
	uint32_t a = 1, b = 0;
	for (size_t i = 0; i < n; i++) {
		a = (a + bytes[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

/* Deflate data as the body of a gzip member without its end, which the inflater then waits for. */
static enum ht_status inflate_body(struct ht_pf *pf, struct ht_inflater *inflater,
        const unsigned char *bytes, size_t n, struct ht_vec *out)
{
	static const unsigned char head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	struct ht_deflate_step step = { .in = head, .n_in = sizeof head };
	const char *damage = NULL;
	unsigned char none[1];
	step.out = none;
	HT_TRY(ht_inflater_run(inflater, &step, &damage));
	step = (struct ht_deflate_step){ .in = bytes, .n_in = n };
	do {
		step.in += step.used;
		step.n_in -= step.used;
		if (!ht_vec_reserve(pf->ctx->mem, out, 1, READ_BYTES))
			return ht_fail_nomem(pf->ctx);
		step.out = (unsigned char *)out->data + out->n;
		step.n_out = out->cap - out->n;
		step.used = step.made = 0;
		enum ht_status status = ht_inflater_run(inflater, &step, &damage);
		out->n += step.made;
		if (status != HT_OK)
			return status;
		if (out->n > MAX_INFLATED)
			return HT_FORMAT;
		/* what has an end of gzip's takes nothing that follows */
	} while (!step.is_done && (step.used || step.made) &&
	         (step.n_in > step.used || step.made == step.n_out));
	return step.n_in > step.used ? HT_FORMAT : HT_OK;
}

/* zlib's wrapping: two bytes before, the checksum behind. False: damaged. */
static enum ht_status inflate(
        struct ht_pf *pf, const unsigned char *bytes, size_t n, struct ht_vec *out)
{
	struct ht_inflater *inflater;
	if (n < 7 || (bytes[0] & 15) != 8 || (bytes[0] * 256 + bytes[1]) % 31 || bytes[1] & 32)
		return HT_FORMAT;
	HT_TRY(ht_inflater_open(pf->ctx, &inflater));
	ht_inflater_reset(inflater);
	enum ht_status status = inflate_body(pf, inflater, bytes + 2, n - 6, out);
	ht_inflater_close(pf->ctx->mem, inflater);
	const unsigned char *sum = bytes + n - 4;
	if (status == HT_OK &&
	        adler32(out->data, out->n) !=
	                ((uint32_t)sum[0] << 24 | sum[1] << 16 | sum[2] << 8 | sum[3]))
		status = HT_FORMAT;
	return status;
}

enum ht_status ht_pf_inflate(struct ht_pf *pf, const unsigned char *bytes, size_t n, bool is_zstd)
{
	struct ht_vec out = { 0 };
	size_t used = 0;
	enum ht_status status = is_zstd ? ht_unzstd(pf->ctx, bytes, n, MAX_INFLATED, &out)
	                                : inflate(pf, bytes, n, &out);
	pf->n_inflated += out.n;
	if (pf->n_inflated > MAX_INFLATED && pf->n_inflated / MAX_RATIO > pf->n_file)
		status = ht_fail(pf->ctx, HT_LIMIT, pf->builder->path, pf->offset,
		        "it may be made to exhaust memory; unpack it first if it is not",
		        "compressed packets expand to more than %d times the file", MAX_RATIO);
	if (status == HT_FORMAT) {
		ht_pf_count(pf, HT_STAT_packet_lost);
		status = HT_OK;
	} else if (status == HT_OK) {
		status = ht_pf_packets(pf, out.data, out.n, true, &used);
		if (status == HT_OK && used < out.n)
			ht_pf_count(pf, HT_STAT_packet_lost);
	}
	ht_vec_free(pf->ctx->mem, &out, 1);
	return status;
}

/* ---- the file ---- */

/* Is a whole packet at p, or one that the bytes end in? */
static bool is_packet(const unsigned char *p, size_t n, size_t *ret_head, uint64_t *ret_length)
{
	if (!n || p[0] != (HT_PF_PACKET << 3 | HT_WIRE_BYTES))
		return false;
	size_t used = ht_wire_varint(p + 1, n - 1, ret_length);
	*ret_head = 1 + used;
	return used != 0;
}

enum ht_status ht_pf_packets(
        struct ht_pf *pf, const unsigned char *bytes, size_t n, bool is_inner, size_t *ret_used)
{
	size_t at = 0, n_head;
	uint64_t length;
	while (is_packet(bytes + at, n - at, &n_head, &length) && length <= n - at - n_head) {
		if (!is_inner)
			pf->offset = pf->base + (int64_t)at;
		HT_TRY(ht_pf_packet(pf, bytes + at + n_head, (size_t)length, is_inner));
		at += n_head + (size_t)length;
	}
	*ret_used = at;
	return HT_OK;
}

/* Where packets go on behind the next marker; n when nowhere. */
static size_t find_marker(const unsigned char *bytes, size_t n, size_t at)
{
	const unsigned char *found = memmem(bytes + at, n - at, marker, sizeof marker);
	if (!found)
		return n;
	at = (size_t)(found - bytes) + sizeof marker;
	/* the marker's packet may have a few more fields */
	for (size_t end = n - at < 64 ? n : at + 64; at < end; at++) {
		size_t n_head;
		uint64_t length;
		if (is_packet(bytes + at, n - at, &n_head, &length) && length <= n - at - n_head) {
			struct ht_wire wire = { .p = bytes + at + n_head,
				.end = bytes + at + n_head + length };
			struct ht_wire_field field;
			for (unsigned k = 0; k < MAX_PACKET_FIELDS && ht_wire_next(&wire, &field);
			        k++)
				;
			if (!wire.bad)
				return at;
		}
	}
	return n;
}

static enum ht_status read_file(struct ht_pf *pf, const unsigned char *bytes, size_t n)
{
	size_t at = 0;
	while (at < n) {
		size_t used, n_head;
		uint64_t length;
		size_t start = at;
		pf->base = (int64_t)at;
		HT_TRY(ht_pf_packets(pf, bytes + at, n - at, false, &used));
		at += used;
		pf->offset = (int64_t)at;
		if (at == n)
			break;
		bool ends = is_packet(bytes + at, n - at, &n_head, &length);
		size_t next = find_marker(bytes, n, at);
		if (ends && next == n) {
			ht_pf_count(pf, HT_STAT_truncated);
			break;
		}
		if (!start && !used && next == n)
			return ht_fail(pf->ctx, HT_FORMAT, pf->builder->path, 0,
			        "give a file that Perfetto, PyTorch or `holotrace convert` wrote",
			        "no packet of a Perfetto trace in the file");
		ht_chunk_stat(&pf->builder->all, HT_STAT_bytes_skipped, (int64_t)at, next - at);
		at = next;
	}
	return HT_OK;
}

/* ---- the reader ---- */

static void done(struct ht_pf *pf)
{
	struct ht_mem *mem = pf->ctx->mem;
	struct ht_pf_writer *writers = pf->writers.data;
	struct ht_map64 *maps[] = { &pf->writer_of, &pf->track_of, &pf->clock_of, &pf->column_of,
		&pf->layout_of, &pf->tree_names, &pf->started_by };
	for (size_t i = 0; i < pf->writers.n; i++) {
		for (int kind = 0; kind < HT_PF_N_KINDS; kind++)
			ht_map64_done(mem, &writers[i].texts[kind]);
		ht_map64_done(mem, &writers[i].jsons);
		ht_map64_done(mem, &writers[i].gpus);
		ht_map64_done(mem, &writers[i].clocks);
	}
	for (size_t i = 0; i < HT_COUNT(maps); i++)
		ht_map64_done(mem, maps[i]);
	ht_vec_free(mem, &pf->writers, sizeof(struct ht_pf_writer));
	ht_vec_free(mem, &pf->tracks, sizeof(struct ht_pf_line));
	ht_vec_free(mem, &pf->clocks, sizeof(struct ht_pf_clock_ref));
	ht_vec_free(mem, &pf->moments, sizeof(struct ht_pf_moment));
	ht_vec_free(mem, &pf->links, sizeof(struct ht_pf_link));
	ht_vec_free(mem, &pf->increments, sizeof(struct ht_pf_increment));
	ht_vec_free(mem, &pf->records, sizeof(struct ht_pf_record));
	ht_vec_free(mem, &pf->args, sizeof(struct ht_pf_arg));
	ht_vec_free(mem, &pf->flows, sizeof(uint64_t));
	ht_vec_free(mem, &pf->layouts, sizeof(struct ht_pf_layout));
	ht_vec_free(mem, &pf->keys, sizeof(uint32_t));
	ht_vec_free(mem, &pf->text, 1);
	ht_rows_done(&pf->rows);
}

/* The rows are those of whatever was recorded; that the file is Perfetto's, and ours, is beside them. */
static enum ht_status put_about(struct ht_pf *pf)
{
	struct ht_builder *b = pf->builder;
	char text[sizeof pf->version + sizeof "holotrace "];
	int n = snprintf(text, sizeof text, "holotrace %s", pf->version);
	uint32_t table = ht_draft_table(b, HT_PERFETTO_TABLE);
	uint32_t column = table == UINT32_MAX ? table : ht_draft_column(b, table, "producer", 8);
	if (column == UINT32_MAX)
		return ht_fail_nomem(pf->ctx);
	ht_draft_row(b, table);
	if (!pf->is_own)
		return HT_OK;
	return ht_draft_put_str(b, table, column, text, (size_t)n) ? HT_OK : ht_fail_nomem(pf->ctx);
}

static enum ht_status read_perfetto(struct ht_builder *builder, const struct ht_reading *reading)
{
	struct ht_vec file = { 0 };
	struct ht_pf pf = { .ctx = builder->ctx,
		.builder = builder,
		.n_documents = 1,
		.first_header = builder->all.headers.n };
	ht_rows_init(&pf.rows, builder);
	enum ht_status status = ht_source_read_all(pf.ctx, reading->source, SIZE_MAX / 2, &file);
	pf.n_file = file.n;
	if (status == HT_OK)
		status = read_file(&pf, file.data, file.n);
	ht_vec_free(pf.ctx->mem, &file, 1);
	ht_pf_place_headers(&pf);
	if (status == HT_OK)
		status = put_about(&pf);
	if (status == HT_OK)
		status = pf.failed ? ht_fail_nomem(pf.ctx) : ht_pf_make_rows(&pf);
	done(&pf);
	if (status == HT_OK)
		builder->n_documents = (uint16_t)(builder->n_documents + pf.n_documents);
	return status;
}

/* Next to no bytes that are no text: JSON that is damaged at its start may look like one packet, but no packet follows. */
static bool is_text(const unsigned char *p, size_t n)
{
	size_t n_odd = 0;
	for (size_t i = 0; i < n; i++)
		n_odd += p[i] >= 0x7f || (p[i] < ' ' && !memchr("\t\r\n", p[i], 3));
	return n_odd < n / 64 + 1;
}

/* A first packet whose fields make sense: a length that fits, and fields that packets have. */
static bool sniff(const struct ht_head *head)
{
	const unsigned char *p = (const unsigned char *)head->text;
	size_t n_head, n_blank = 0;
	uint64_t length;
	/* JSON after a line feed; no field of a packet begins like that */
	while (n_blank < head->n && memchr(" \t\r\n", p[n_blank], 4))
		n_blank++;
	if (n_blank < head->n && (p[n_blank] == '{' || p[n_blank] == '['))
		return false;
	if (!is_packet(p, head->n, &n_head, &length) || !length || length > (1u << 30))
		return false;
	size_t left = head->n - n_head;
	if (head->is_all && length > left && left < 2)
		return false;
	if (length < left && p[n_head + length] != p[0] && is_text(p, head->n))
		return false;
	struct ht_wire wire = { .p = p + n_head,
		.end = p + n_head + (length < left ? length : left) };
	struct ht_wire_field field;
	size_t n = 0;
	while (ht_wire_next(&wire, &field)) {
		/* a text that happens to begin with a line feed has no such fields */
		if (field.number > 999)
			return false;
		n++;
	}
	return n && (!wire.bad || length > left);
}

const struct ht_reader ht_reader_perfetto = {
	.name = "perfetto",
	.what = "a Perfetto trace",
	.endings = ".pftrace|.perfetto-trace",
	.sniff = sniff,
	.read = read_perfetto,
};
