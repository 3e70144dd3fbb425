/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peaks.c - see peaks.h.
 */
#include "model/efficiency/peaks.h"

#include "base/glob.h"
#include "base/literal.h"
#include "base/text_compare.h"
#include "json/json_text.h"
#include "store/trace.h"
#include "store/trace_meta.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define TERA 1e12
#define GIGA 1e9
/* Published bandwidths are rounded, and clocks of one model vary a little. */
#define MEMORY_DIFFERS 0.15

struct device {
	const char *pattern;
	int64_t n_sms;
	double fp64, fp64_matrix, fp32, tf32, bf16, fp8, fp4, int8, achieved, memory, fabric;
	const char *source;
};

static const struct device devices[] = {
#define DEVICE(...) { __VA_ARGS__ },
#include "model/efficiency/devices.def"
#undef DEVICE
};

static void fill(const struct device *device, struct ht_peaks *peaks)
{
	peaks->flops[HT_DTYPE_F64] = device->fp64_matrix * TERA;
	peaks->flops[HT_DTYPE_F32] = device->fp32 * TERA;
	peaks->flops[HT_DTYPE_TF32] = device->tf32 * TERA;
	peaks->flops[HT_DTYPE_BF16] = peaks->flops[HT_DTYPE_F16] = device->bf16 * TERA;
	peaks->flops[HT_DTYPE_F8] = device->fp8 * TERA;
	peaks->flops[HT_DTYPE_F4] = device->fp4 * TERA;
	peaks->flops[HT_DTYPE_I8] = device->int8 * TERA;
	peaks->vector_flops = device->fp32 * TERA;
	peaks->achieved = device->achieved * TERA;
	peaks->bytes = device->memory * GIGA;
	peaks->fabric_bytes = device->fabric * GIGA;
	peaks->source = device->source;
	peaks->is_known = true;
}

/* Without the vendor's name in front. */
static const char *bare_name(const char *name)
{
	static const char *const vendors[] = { "NVIDIA ", "AMD " };
	for (size_t i = 0; i < HT_COUNT(vendors); i++)
		if (!strncasecmp(name, vendors[i], strlen(vendors[i])))
			return name + strlen(vendors[i]);
	return name;
}

/* Bytes per second by the clock of the memory and the width of its bus, 0 when the trace does not have them; two transfers
 * in a clock. */
static double recorded_bandwidth(const struct ht_trace *t, const struct ht_device *device)
{
	const char *text = ht_str(t, device->properties);
	int64_t khz, bits;
	if (!ht_json_valid(text, strlen(text)))
		return 0;
	struct ht_json reader = { text };
	struct ht_json_value object = ht_json_next(&reader);
	if (object.type != HT_JSON_OBJECT)
		return 0;
	struct ht_json_value clock = ht_json_get(&object, "memoryClockRate"),
	                     width = ht_json_get(&object, "memoryBusWidth");
	if (!ht_json_i64(&clock, &khz) || !ht_json_i64(&width, &bits) || khz <= 0 || bits <= 0)
		return 0;
	return 2.0 * 1000 * (double)khz * (double)bits / 8;
}

/* By name and number of SMs; a part of a device has a part of its peaks. */
static void find_listed(struct ht_peaks *peaks, double bandwidth)
{
	const char *name = bare_name(peaks->name);
	for (size_t i = 0; i < HT_COUNT(devices); i++) {
		if (!ht_glob_matches(devices[i].pattern, name))
			continue;
		if (peaks->n_sms != HT_NO_I64 &&
		        (peaks->n_sms > devices[i].n_sms || peaks->n_sms <= 0))
			return;
		/* another memory is another device */
		if (bandwidth > 0 &&
		        fabs(bandwidth / (devices[i].memory * GIGA) - 1) > MEMORY_DIFFERS)
			return;
		fill(&devices[i], peaks);
		if (peaks->n_sms == HT_NO_I64)
			return;
		peaks->part = (double)peaks->n_sms / (double)devices[i].n_sms;
		for (size_t k = 0; k < HT_N_DTYPES; k++)
			peaks->flops[k] *= peaks->part;
		peaks->vector_flops *= peaks->part;
		peaks->achieved *= peaks->part;
		peaks->bytes *= peaks->part;
		return;
	}
}

/* ---- what the user says ---- */

static double *field(struct ht_peaks *peaks, const char *key, size_t n, double *ret_unit)
{
	static const struct {
		const char *key;
		int dtype;
	} types[] = { { "fp64", HT_DTYPE_F64 }, { "fp32", HT_DTYPE_F32 }, { "tf32", HT_DTYPE_TF32 },
		{ "bf16", HT_DTYPE_BF16 }, { "fp16", HT_DTYPE_F16 }, { "fp8", HT_DTYPE_F8 },
		{ "fp4", HT_DTYPE_F4 }, { "int8", HT_DTYPE_I8 }, { "cube", HT_DTYPE_BF16 } };
	*ret_unit = TERA;
	for (size_t i = 0; i < HT_COUNT(types); i++)
		if (strlen(types[i].key) == n && !memcmp(types[i].key, key, n))
			return &peaks->flops[types[i].dtype];
	if (n == 6 && !memcmp(key, "vector", n))
		return &peaks->vector_flops;
	*ret_unit = GIGA;
	if (n == 3 && !memcmp(key, "hbm", n))
		return &peaks->bytes;
	return n == 6 && !memcmp(key, "fabric", n) ? &peaks->fabric_bytes : NULL;
}

static enum ht_status refuse(struct ht_run *run, const char *item, size_t n)
{
	return ht_fail(run->ctx, HT_USAGE, NULL, -1,
	        "--device-spec takes name=X,bf16=TFLOP/s,hbm=GB/s and also fp64, fp32, tf32, fp16, fp8, fp4, int8, "
	        "cube, vector, fabric",
	        "--device-spec: \"%.*s\" is no such item", (int)n, item);
}

/* One item: "bf16=989.4". */
static enum ht_status read_item(
        struct ht_run *run, const char *item, size_t n, struct ht_peaks *peaks, bool *ret_other)
{
	const char *equals = memchr(item, '=', n);
	if (!equals)
		return refuse(run, item, n);
	size_t n_key = (size_t)(equals - item);
	const char *value = ht_arena_printf(run->scratch, "%.*s", (int)(n - n_key - 1), equals + 1);
	if (!value)
		return ht_fail_nomem(run->ctx);
	if (n_key == 4 && !memcmp(item, "name", 4)) {
		*ret_other =
		        strcasecmp(value, peaks->name) && strcasecmp(value, bare_name(peaks->name));
		return HT_OK;
	}
	struct ht_literal number;
	double unit, *at = field(peaks, item, n_key, &unit);
	if (!at || !ht_literal_parse(value, &number) || number.kind != HT_UNIT_NONE ||
	        number.num < 0)
		return refuse(run, item, n);
	*at = ht_literal_f64(&number) * unit;
	return HT_OK;
}

/* What is said replaces what is listed: all of it, so that numbers of two devices do not mix. */
static enum ht_status read_spec(
        struct ht_run *run, const char *spec, struct ht_peaks *peaks, bool *ret_other)
{
	*ret_other = false;
	peaks->is_known = true;
	peaks->source = "--device-spec";
	peaks->part = 1;
	for (const char *item = spec; *item;) {
		size_t n = strcspn(item, ",");
		HT_TRY(read_item(run, item, n, peaks, ret_other));
		item += n + (item[n] == ',');
	}
	if (!peaks->vector_flops)
		peaks->vector_flops = peaks->flops[HT_DTYPE_F32];
	if (!peaks->flops[HT_DTYPE_F16])
		peaks->flops[HT_DTYPE_F16] = peaks->flops[HT_DTYPE_BF16];
	return HT_OK;
}

enum ht_status ht_peaks_check(struct ht_run *run, const char *spec)
{
	struct ht_peaks peaks = { .name = "" };
	bool other;
	return spec ? read_spec(run, spec, &peaks, &other) : HT_OK;
}

enum ht_status ht_peaks_find(
        struct ht_run *run, int64_t device, const char *spec, struct ht_peaks *ret)
{
	const struct ht_trace *t = run->trace;
	struct ht_peaks listed = { .name = "", .source = "", .n_sms = HT_NO_I64, .part = 1 };
	double bandwidth = 0;
	for (size_t i = 0; i < t->more->n_devices; i++)
		if (t->more->devices[i].id == device) {
			listed.name = ht_str(t, t->more->devices[i].name);
			listed.n_sms = t->more->devices[i].n_sms;
			bandwidth = recorded_bandwidth(t, &t->more->devices[i]);
		}
	struct ht_peaks said = listed;
	bool other = true;
	find_listed(&listed, bandwidth);
	if (spec)
		HT_TRY(read_spec(run, spec, &said, &other));
	*ret = other ? listed : said;
	return HT_OK;
}
