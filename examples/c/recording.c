/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.c - record what a program does, as an execution trace and as a timeline: recording FOLDER
 */
#include <holotrace-record.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(enum ht_status status)
{
	if (status == HT_OK)
		return;
	fprintf(stderr, "recording: %s\n", ht_record_error());
	exit(1);
}

/* An operator with a tensor that goes in and a number that comes out. */
static void call_operator(const float *data)
{
	static const int64_t dims[] = { 4 };
	struct ht_record_tensor tensor = { .object = data,
		.storage = data,
		.n_elements = 4,
		.item_bytes = sizeof(*data),
		.type = ht_record_name("float", 5),
		.device = ht_record_name("cpu", 3),
		.n_dims = 1,
		.dims = dims };
	struct ht_record_value in = { .kind = HT_RECORD_TENSOR, .tensor = &tensor };
	struct ht_record_value out = { .kind = HT_RECORD_DOUBLE, .real = 10 };
	struct ht_record_call call = { .struct_size = sizeof(call),
		.name = ht_record_name("sum", 3),
		.sequence = -1,
		.inputs = &in,
		.n_inputs = 1 };
	struct ht_record_result result = {
		.struct_size = sizeof(result), .outputs = &out, .n_outputs = 1
	};
	uint64_t token = ht_record_begin(&call);
	ht_record_end(token, &result);
	ht_record_freed(data);
}

/* Three steps, of which the last two are recorded. */
static void run_steps(void)
{
	static const float data[] = { 1, 2, 3, 4 };
	for (int step = 0; step < 3; step++) {
		uint64_t token = ht_record_push("work");
		call_operator(data);
		ht_record_end(token, NULL);
		need(ht_record_step());
	}
}

/* What a process that was killed leaves behind becomes the same files. */
static void recover(const char *part)
{
	if (ht_record_recover(part, "", "") != HT_OK)
		printf("nothing is left over: %s\n", ht_record_error());
}

int main(int argc, char **argv)
{
	char path[4096], timeline[4096], part[4200];
	if (argc < 2)
		return 2;
	snprintf(path, sizeof(path), "%s/run.et.json", argv[1]);
	snprintf(timeline, sizeof(timeline), "%s/run.json", argv[1]);
	struct ht_record_options options = { .struct_size = sizeof(options),
		.trace_path = timeline,
		.schedule = { .skip_first = 1, .active = 2, .repeat = 1 } };
	need(ht_record_register(path, &options));
	ht_record_name_thread("main");
	need(ht_record_start());
	printf("%s, %s\n", ht_record_is_registered() ? "registered" : "not registered",
	        ht_record_is_running() ? "running" : "waiting for its first step");
	run_steps();
	need(ht_record_stop());
	struct ht_record_stats stats = { .struct_size = sizeof(stats) };
	ht_record_get_stats(&stats);
	printf("%llu calls to %s\n", (unsigned long long)stats.n_calls, ht_record_output_path());
	need(ht_record_unregister());
	snprintf(part, sizeof(part), "%s.part", path);
	recover(part);
	return 0;
}
