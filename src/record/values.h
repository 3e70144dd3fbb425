/*
 * values.h - arguments and results of a call, from their bytes to the spelling of execution traces.
 *
 * They are decoded once into a flat list (a list's children follow it) and then written four times, as
 * values, shapes, types and strides. See docs/formats/execution-trace.md for the spelling.
 */
#ifndef HT_RECORD_VALUES_H
#define HT_RECORD_VALUES_H

#include "record/image.h"
#include "store/emit.h"

#include "holotrace-record.h"

struct ht_value {
	uint8_t kind; /* enum ht_record_kind */
	bool truth;
	uint32_t n; /* children, bytes of a text, sizes of a tensor */
	union {
		int64_t integer;
		double real;
		const char *bytes;
		uint64_t name;
		uint64_t object; /* of a tensor */
	};
	uint64_t storage; /* the rest: of a tensor */
	int64_t offset, n_elements;
	uint64_t item_bytes, type, device;
	size_t i_dims;                   /* into ht_values.dims: sizes, then strides */
	uint64_t object_id, storage_id;  /* for who gives ids */
};

struct ht_values {
	struct ht_mem *mem;
	struct ht_vec list; /* struct ht_value */
	struct ht_vec dims; /* int64_t */
	size_t n_top;       /* values that are not inside another */
};

/* Read a count and as many values. What is damaged ends the list. False when out of memory. */
bool ht_values_read(struct ht_values *values, struct ht_bytes *bytes);
void ht_values_done(struct ht_values *values);

struct ht_value_style {
	const struct ht_image *image;
	bool exact_doubles;
};

/* A JSON array of the values, shapes, types ("with quotes") and strides. */
void ht_values_emit(struct ht_emit *emit, const struct ht_values *values,
        const struct ht_value_style *style);
void ht_values_emit_shapes(struct ht_emit *emit, const struct ht_values *values);
void ht_values_emit_types(struct ht_emit *emit, const struct ht_values *values,
        const struct ht_value_style *style);
void ht_values_emit_strides(struct ht_emit *emit, const struct ht_values *values);

/* The same as arguments of a timeline: `,"Input Dims":[...],...`, as the profiler's record_shapes. */
void ht_values_emit_kineto(struct ht_emit *emit, const struct ht_values *values,
        const struct ht_value_style *style);

/* A JSON string of bytes that may be anything; what is not UTF-8 becomes U+FFFD. */
void ht_emit_any(struct ht_emit *emit, const char *bytes, size_t n);
/* A double with six decimals, or exact; "inf", "-inf" and "nan" in quotes. */
void ht_emit_fixed(struct ht_emit *emit, double value, bool exact);

#endif
