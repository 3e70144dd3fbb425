/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_recover.c - any records in the file that a killed program left of its recording: both of its files are written, or not.
 *
 * The input is a list of chunks: kind and stream in one byte, number in the next, two bytes of length, then the records. Heads
 * of the file and of the chunks are made right. The first byte says whether times are ticks, and how the header lies.
 */
#include "fuzz.h"

#include "holotrace-record.h"
#include "record/part_file.h"

static void recover_header(uint8_t how, struct ht_part_header *header)
{
	*header = (struct ht_part_header){ .version = HT_PART_VERSION,
		.pid = 77,
		.start_ns = how & 4 ? INT64_MIN : 1000,
		.wall_ns = how & 8 ? INT64_MAX : 1700000000000000000,
		.in_ticks = how & 1,
		.max_elements = how & 16 ? UINT32_MAX : 20,
		.rank = how & 32 ? -1 : 0,
		.n_ranks = 1 };
	memcpy(header->magic, HT_PART_MAGIC, sizeof header->magic);
	strcpy(header->time, "2026-01-02 03:04:05");
	strcpy(header->path, "x.json");
	strcpy(header->program, how & 64 ? "a\"\xff\\b" : "program");
}

/* Pages of one chunk; how many bytes of the input it took. */
static size_t recover_chunk(const uint8_t *data, size_t size, uint8_t how, struct fuzz_text *file)
{
	static const char zeros[HT_PART_PAGE];
	size_t n = (size_t)(data[2] | data[3] << 8);
	n = n < size - 4 ? n : size - 4;
	struct ht_part_chunk head = { .magic = HT_CHUNK_MAGIC,
		.kind = data[0] % 4u,
		.stream = data[0] / 4u % 4u,
		.number = data[1],
		.start_ns = how & 2 ? INT64_MAX - 5 : 1000,
		.start_id = 1,
		.used = n };
	head.n_bytes = (sizeof head + n + HT_PART_PAGE - 1) / HT_PART_PAGE * HT_PART_PAGE;
	fuzz_append(file, &head, sizeof head);
	fuzz_append(file, data + 4, n);
	fuzz_append(file, zeros, (size_t)head.n_bytes - sizeof head - n);
	return n + 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char page[HT_PART_PAGE];
	struct fuzz_text file = { 0 };
	struct ht_part_header header;
	if (!size)
		return 0;
	recover_header(data[0], &header);
	memcpy(page, &header, sizeof header);
	fuzz_append(&file, page, sizeof page);
	for (size_t at = 1; at + 4 <= size;)
		at += recover_chunk(data + at, size - at, data[0], &file);
	const char *part = fuzz_file(file.bytes, file.n, NULL, 0);
	free(file.bytes);
	if (ht_record_recover(part, "/dev/null", data[0] & 1 ? "" : "/dev/null") != 0)
		FUZZ_REQUIRE(*ht_record_error());
	return 0;
}
