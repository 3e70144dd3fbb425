/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_ops.c - a program that calls operators which do nothing, to be recorded: fake_ops SCENARIO PATH.
 *
 * The operators have the arguments, nesting and threads of PyTorch's, so that what the recorder writes can
 * be checked node by node. tests/record/test_recorder.py says what each scenario must give. "bench" measures
 * the cost of recording and prints it.
 */
#include "holotrace-record.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *path, *trace_path;

static uint32_t name(const char *text)
{
	return ht_record_name(text, strlen(text));
}

static void need(bool truth, const char *what)
{
	if (truth)
		return;
	fprintf(stderr, "fake_ops: %s: %s\n", what, ht_record_error());
	exit(1);
}

static struct ht_record_options options(void)
{
	return (struct ht_record_options){ .struct_size = sizeof(struct ht_record_options),
		.trace_path = trace_path };
}

static void enlist(void)
{
	struct ht_record_options o = options();
	need(ht_record_register(path, &o) == 0, "register");
}

/* A 4 x 4 tensor of floats at an address of one's own. */
static struct ht_record_tensor tensor(char *object, char *storage)
{
	static const int64_t dims[] = { 4, 4 }, strides[] = { 4, 1 };
	return (struct ht_record_tensor){ .object = object,
		.storage = storage,
		.n_elements = 16,
		.item_bytes = 4,
		.type = name("float"),
		.device = name("cpu"),
		.n_dims = 2,
		.dims = dims,
		.strides = strides };
}

static char objects[64], storages[64];

/* aten::add(a, a, alpha=1) -> b, with an inner aten::empty when asked. */
static void add(int a, int b, bool inner)
{
	struct ht_record_tensor in = tensor(&objects[a], &storages[a]);
	struct ht_record_tensor out = tensor(&objects[b], &storages[b]);
	struct ht_record_value inputs[] = { { .kind = HT_RECORD_TENSOR, .tensor = &in },
		{ .kind = HT_RECORD_TENSOR, .tensor = &in },
		{ .kind = HT_RECORD_INT, .integer = 1 } };
	struct ht_record_value outputs[] = { { .kind = HT_RECORD_TENSOR, .tensor = &out } };
	struct ht_record_call call = { .name = name("aten::add"),
		.sequence = -1,
		.schema = name(
		        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
		.inputs = inputs,
		.n_inputs = COUNT(inputs) };
	struct ht_record_result result = { .outputs = outputs, .n_outputs = COUNT(outputs) };
	uint64_t token = ht_record_begin(&call);
	if (inner) {
		struct ht_record_call empty = { .name = name("aten::empty"), .sequence = -1 };
		ht_record_end(ht_record_begin(&empty), &result);
	}
	ht_record_end(token, &result);
}

static void loop(int i)
{
	char text[32];
	snprintf(text, sizeof text, "## LOOP %d ##", i);
	uint64_t token = ht_record_push(text);
	add(1, 2, true);
	add(2, 3, false);
	ht_record_end(token, NULL);
}

/* "## TEST 2 ##" with four arguments, the last a list of a tensor, as PyTorch's test gives it. */
static void test_2(void)
{
	struct ht_record_tensor t = tensor(&objects[9], &storages[9]);
	struct ht_record_value item = { .kind = HT_RECORD_TENSOR, .tensor = &t };
	struct ht_record_value inputs[] = {
		{ .kind = HT_RECORD_BOOL, .integer = 1 },
		{ .kind = HT_RECORD_DOUBLE, .real = 2.5 },
		{ .kind = HT_RECORD_STRING,
		        .text = { "quote \" back \\ line \n \xc3\xa9 \xff", 26 } },
		{ .kind = HT_RECORD_LIST, .list = { &item, 1 } },
	};
	struct ht_record_call call = { .name = name("## TEST 2 ##"),
		.scope = HT_RECORD_ANNOTATION,
		.sequence = -1,
		.inputs = inputs,
		.n_inputs = COUNT(inputs) };
	ht_record_end(ht_record_begin(&call), NULL);
}

static void alone(void)
{
	enlist();
	need(ht_record_start() == 0, "start");
	for (int i = 0; i < 5; i++)
		loop(i);
	test_2();
	need(ht_record_stop() == 0, "stop");
	loop(5);
	need(ht_record_unregister() == 0, "unregister");
	need(strcmp(ht_record_output_path(), path) == 0, "path after the end");
	need(ht_record_unregister() == 0, "a second unregister");
}

static void count_cycle(void *user)
{
	++*(int *)user;
}

/* skip_first 3, wait 1, warm-up 1, active 2, repeat 1 over 10 steps. */
static void schedule(void)
{
	int n_cycles = 0;
	struct ht_record_options o = options();
	o.schedule = (struct ht_record_schedule){ 3, 1, 1, 2, 1 };
	o.on_cycle = count_cycle;
	o.user = &n_cycles;
	need(ht_record_step() == HT_USAGE, "a step before the start");
	need(ht_record_register(path, &o) == 0, "register");
	need(ht_record_start() == 0, "start");
	for (int i = 0; i < 10; i++) {
		loop(i);
		need(ht_record_step() == 0, "step");
	}
	need(ht_record_stop() == 0, "stop");
	need(n_cycles == 1, "one cycle");
	need(ht_record_unregister() == 0, "unregister");
}

/* Two cycles of one active step each; the second is cut short by the stop. */
static void schedule_repeat(void)
{
	int n_cycles = 0;
	struct ht_record_options o = options();
	o.schedule = (struct ht_record_schedule){ 0, 1, 0, 2, 2 };
	o.on_cycle = count_cycle;
	o.user = &n_cycles;
	need(ht_record_register(path, &o) == 0, "register");
	need(ht_record_start() == 0, "start");
	for (int i = 0; i < 5; i++) {
		loop(i);
		if (i < 4)
			need(ht_record_step() == 0, "step");
	}
	need(ht_record_unregister() == 0, "unregister");
	need(n_cycles == 2, "two cycles");
}

/* Starts before 3 and 8, stops before 5 and 9: loops 3, 4 and 8. */
static void start_stop(void)
{
	enlist();
	for (int i = 0; i < 10; i++) {
		if (i == 3 || i == 8)
			need(ht_record_start() == 0, "start");
		if (i == 5 || i == 9)
			need(ht_record_stop() == 0, "stop");
		loop(i);
	}
	need(ht_record_unregister() == 0, "unregister");
}

/* A file per iteration: PATH with its number. */
static void repeat(void)
{
	for (int i = 0; i < 4; i++) {
		char file[4096];
		snprintf(file, sizeof file, "%s.%d.json", path, i);
		need(ht_record_register(file, NULL) == 0, "register");
		need(ht_record_start() == 0, "start");
		loop(i);
		need(ht_record_stop() == 0, "stop");
		need(ht_record_unregister() == 0, "unregister");
	}
}

static void no_capture(void)
{
	need(ht_record_output_path() == NULL, "no path before the first registration");
	need(ht_record_start() == HT_USAGE, "start without a registration");
	enlist();
	struct ht_record_options o = options();
	need(ht_record_register("/nowhere/x.json", &o) == HT_USAGE, "a second registration");
	need(strcmp(ht_record_output_path(), path) == 0, "the first path stays");
	loop(0);
	need(ht_record_is_registered() && !ht_record_is_running(), "state");
	need(ht_record_unregister() == 0, "unregister");
	need(ht_record_register("/nowhere/x.json", NULL) == HT_IO, "no such folder");
	need(!ht_record_is_registered(), "state after a failure");
}

/* Structs of older and newer callers: by the rules of base/options.h, as everywhere. */
static void sizes(void)
{
	struct {
		struct ht_record_options known;
		uint64_t added;
	} o = { .known = options() };
	struct {
		struct ht_record_call known;
		uint64_t added;
	} call = { .known = { .struct_size = sizeof call, .name = name("newer"), .sequence = -1 } };
	struct {
		struct ht_record_result known;
		uint64_t added;
	} result = { .known = { .struct_size = sizeof result } };
	o.known.struct_size = 1;
	need(ht_record_register(path, &o.known) == HT_USAGE, "a size that cannot be");
	o.known.struct_size = sizeof o;
	o.added = 1;
	need(ht_record_register(path, &o.known) == HT_USAGE, "an option that is not known");
	need(strstr(ht_record_error(), "ht_record_options") != NULL, "the error names it");
	o.added = 0;
	need(ht_record_register(path, &o.known) == 0, "options that are not used");
	need(ht_record_unregister() == 0, "unregister");
	o.known.struct_size = 0;
	need(ht_record_register(path, &o.known) == 0, "options as first published");
	need(ht_record_start() == 0, "start");
	ht_record_end(ht_record_begin(&call.known), &result.known);
	call.known.name = name("unknown");
	call.added = 1;
	need(ht_record_begin(&call.known) == 0, "a call with more");
	need(strstr(ht_record_error(), "ht_record_call") != NULL, "the error names it, too");
	need(ht_record_unregister() == 0, "unregister");
}

/* start and stop nest no deeper than one: the second of each does nothing. */
static void nested(void)
{
	enlist();
	need(ht_record_start() == 0 && ht_record_start() == 0, "start twice");
	loop(0);
	need(ht_record_stop() == 0 && ht_record_stop() == 0, "stop twice");
	loop(1);
	need(ht_record_start() == 0, "start again");
	loop(2);
	need(ht_record_unregister() == 0, "unregister while running");
}

/* Calls cut by the window: one open at the start, one at the stop, one across two windows. */
static void edges(void)
{
	enlist();
	uint64_t before = ht_record_push("before");
	need(ht_record_start() == 0, "start");
	loop(0);
	ht_record_end(before, NULL);
	uint64_t cut = ht_record_push("cut");
	loop(1);
	need(ht_record_stop() == 0, "stop");
	need(ht_record_start() == 0, "start");
	ht_record_end(cut, NULL);
	loop(2);
	uint64_t outer = ht_record_push("outer"), inner = ht_record_push("inner");
	ht_record_end(outer, NULL); /* out of order */
	loop(3);
	ht_record_end(inner, NULL);
	ht_record_end(inner, NULL); /* twice */
	need(ht_record_unregister() == 0, "unregister");
	ht_record_end(inner, NULL);
}

static uint64_t handed_over;

static void *thread_body(void *user)
{
	int i = *(int *)user;
	ht_record_name_thread(i ? "worker" : "finisher");
	if (i == 0)
		ht_record_end(handed_over, NULL);
	for (int j = 0; j < 100; j++)
		loop(100 * i + j);
	return NULL;
}

/* Eight threads; the first of them ends a call of the main thread. */
static void threads(void)
{
	pthread_t ids[8];
	int numbers[8];
	enlist();
	need(ht_record_start() == 0, "start");
	handed_over = ht_record_push("handed over");
	for (int i = 0; i < 8; i++) {
		numbers[i] = i;
		need(pthread_create(&ids[i], NULL, thread_body, &numbers[i]) == 0, "thread");
		if (i == 0)
			pthread_join(ids[0], NULL);
	}
	for (int i = 1; i < 8; i++)
		pthread_join(ids[i], NULL);
	loop(0);
	need(ht_record_unregister() == 0, "unregister");
}

static pthread_barrier_t turns;

static void *late_body(void *user)
{
	ht_record_end(ht_record_push("early"), NULL);
	pthread_barrier_wait(&turns);
	pthread_barrier_wait(&turns);
	ht_record_end(handed_over, NULL);
	return user;
}

/* A call ends on a thread whose own last call was before it began. */
static void hand_over(void)
{
	pthread_t id;
	enlist();
	need(ht_record_start() == 0, "start");
	pthread_barrier_init(&turns, NULL, 2);
	need(pthread_create(&id, NULL, late_body, NULL) == 0, "thread");
	pthread_barrier_wait(&turns);
	handed_over = ht_record_push("handed over");
	loop(0);
	pthread_barrier_wait(&turns);
	pthread_join(id, NULL);
	loop(1);
	need(ht_record_unregister() == 0, "unregister");
	pthread_barrier_destroy(&turns);
}

static void *backward_body(void *user)
{
	for (int i = 0; i < 3; i++) {
		struct ht_record_call node = { .name = ht_record_name("MmBackward0", 11),
			.scope = HT_RECORD_BACKWARD,
			.sequence = i,
			.forward_thread = 1 };
		ht_record_end(ht_record_begin(&node), NULL);
	}
	return user;
}

/* The forward thread waits in a call, with nothing below it, while another one runs the backward pass. */
static void backward(void)
{
	pthread_t id;
	enlist();
	need(ht_record_start() == 0, "start");
	ht_record_end(ht_record_push("before"), NULL);
	uint64_t token = ht_record_push("loss.backward");
	need(pthread_create(&id, NULL, backward_body, NULL) == 0, "thread");
	pthread_join(id, NULL);
	ht_record_end(token, NULL);
	loop(0);
	need(ht_record_unregister() == 0, "unregister");
}

/* Threads that record while another starts and stops all the time. */
static void *storm_body(void *user)
{
	for (int i = 0; i < 20000; i++)
		add(*(int *)user, 30, i % 2 != 0);
	return NULL;
}

static void storm(void)
{
	pthread_t ids[4];
	int numbers[4];
	enlist();
	for (int i = 0; i < 4; i++) {
		numbers[i] = i;
		need(pthread_create(&ids[i], NULL, storm_body, &numbers[i]) == 0, "thread");
	}
	for (int i = 0; i < 50; i++) {
		need(ht_record_start() == 0, "start");
		usleep(200);
		need(ht_record_stop() == 0, "stop");
	}
	need(ht_record_start() == 0, "start");
	loop(0);
	need(ht_record_stop() == 0, "stop");
	need(ht_record_unregister() == 0, "unregister");
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
}

/* The child must leave the parent's recording alone, and may have one of its own. */
static void fork_child(void)
{
	enlist();
	need(ht_record_start() == 0, "start");
	uint64_t token = ht_record_push("around the fork");
	pid_t pid = fork();
	if (pid == 0) {
		loop(7);
		ht_record_end(token, NULL);
		need(!ht_record_is_registered(), "the child has no recording");
		char file[4096];
		snprintf(file, sizeof file, "%s.child.json", path);
		need(ht_record_register(file, NULL) == 0, "register in the child");
		need(ht_record_start() == 0, "start");
		loop(8);
		exit(0);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	need(status == 0, "the child");
	loop(0);
	ht_record_end(token, NULL);
	need(ht_record_unregister() == 0, "unregister");
}

static void exit_running(void)
{
	enlist();
	need(ht_record_start() == 0, "start");
	loop(0);
	exit(0);
}

static void killed(void)
{
	enlist();
	need(ht_record_start() == 0, "start");
	for (int i = 0; i < 1000; i++)
		loop(i);
	(void)ht_record_push("open when killed");
	loop(1000);
	kill(getpid(), SIGKILL);
}

static void recover(void)
{
	char part[4096];
	snprintf(part, sizeof part, "%s.part", path);
	int error = ht_record_recover(part, NULL, NULL);
	if (error)
		printf("%s\n", ht_record_error());
	exit(error ? 1 : 0);
}

/* Values of every kind. */
static void kinds(void)
{
	struct ht_record_tensor t = tensor(&objects[0], NULL),
	                        undefined = { .object = &objects[5] };
	static const int64_t dims[] = { 2, 3 }, strides[] = { 1, 2 };
	struct ht_record_tensor transposed = { .object = &objects[6],
		.storage = &storages[6],
		.offset = 3,
		.n_elements = 6,
		.item_bytes = 8,
		.type = name("c10::complex<float>"),
		.device = name("cuda:1"),
		.n_dims = 2,
		.dims = dims,
		.strides = strides };
	struct ht_record_value numbers[] = { { .kind = HT_RECORD_INT, .integer = INT64_MIN },
		{ .kind = HT_RECORD_INT, .integer = INT64_MAX },
		{ .kind = HT_RECORD_DOUBLE, .real = 1e300 },
		{ .kind = HT_RECORD_DOUBLE, .real = 1e-8 },
		{ .kind = HT_RECORD_DOUBLE, .real = 1.0 / 0.0 },
		{ .kind = HT_RECORD_DOUBLE, .real = -1.0 / 0.0 },
		{ .kind = HT_RECORD_DOUBLE, .real = __builtin_nan("") } };
	struct ht_record_value many[5000];
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = (struct ht_record_value){ .kind = HT_RECORD_INT, .integer = (int64_t)i };
	struct ht_record_value tensors[] = { { .kind = HT_RECORD_TENSOR, .tensor = &t },
		{ .kind = HT_RECORD_UNDEFINED, .tensor = &undefined } };
	struct ht_record_value inputs[] = { { .kind = HT_RECORD_NONE },
		{ .kind = HT_RECORD_TUPLE, .list = { numbers, COUNT(numbers) } },
		{ .kind = HT_RECORD_LIST, .list = { many, COUNT(many) } },
		{ .kind = HT_RECORD_LIST, .list = { tensors, COUNT(tensors) } },
		{ .kind = HT_RECORD_LIST }, { .kind = HT_RECORD_DEVICE, .name = name("cuda:1") },
		{ .kind = HT_RECORD_OTHER, .name = name("Generator") },
		{ .kind = HT_RECORD_TENSOR, .tensor = &transposed } };
	struct ht_record_attribute attributes[] = {
		{ .name = name("collective_name"), .is_text = 1, .bytes = "allreduce", .n = 9 },
		{ .name = name("in_msg_nelems"), .integer = 42 }
	};
	struct ht_record_call call = { .name = name("a \"name\"\n"),
		.scope = HT_RECORD_BACKWARD,
		.sequence = 7,
		.record_id = 123456789,
		.thread = 5,
		.forward_thread = 5,
		.schema = name("x::y(int a) -> ()"),
		.kernel_backend = name("triton"),
		.kernel_file = name("k.py"),
		.tensor_range = name("{\"0\":[1,4]}"),
		.inputs = inputs,
		.n_inputs = COUNT(inputs) };
	struct ht_record_result result = { .attributes = attributes,
		.n_attributes = COUNT(attributes) };
	enlist();
	need(ht_record_start() == 0, "start");
	ht_record_end(ht_record_begin(&call), &result);
	need(ht_record_unregister() == 0, "unregister");
}

/* An address that is freed and comes again: PyTorch gives the same id, HT_RECORD_NEW_IDS another. */
static void freed(void)
{
	struct ht_record_options o = options();
	o.flags = HT_RECORD_NEW_IDS;
	need(ht_record_register(path, &o) == 0, "register");
	need(ht_record_start() == 0, "start");
	add(1, 2, false);
	ht_record_freed(&objects[1]);
	add(1, 2, false);
	need(ht_record_unregister() == 0, "unregister");
}

/* A limit is reached: what fits is kept and the rest counted. */
static void limit(void)
{
	struct ht_record_options o = options();
	struct ht_record_stats stats = { .struct_size = sizeof stats };
	o.max_bytes = 1 << 20;
	need(ht_record_register(path, &o) == 0, "register");
	need(ht_record_start() == 0, "start");
	for (int i = 0; i < 20000; i++)
		loop(i);
	need(ht_record_unregister() == 0, "unregister");
	ht_record_get_stats(&stats);
	need(stats.n_lost > 0 && stats.n_calls > 1000, "losses are counted");
	printf("%llu %llu\n", (unsigned long long)stats.n_calls, (unsigned long long)stats.n_lost);
}

/* As long as there is room on the disk, and as long again without; says what a loop cost at the end, in ns of the processor. */
static void full(void)
{
	enum { LOOPS = 15000, LAST = 5000 };
	struct ht_record_options o = options();
	struct ht_record_stats stats = { .struct_size = sizeof stats };
	struct timespec from, to;
	need(ht_record_register(path, &o) == 0, "register");
	need(ht_record_start() == 0, "start");
	for (int i = 0; i < LOOPS - LAST; i++)
		loop(i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (int i = 0; i < LAST; i++)
		loop(i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	int failed = ht_record_unregister();
	ht_record_get_stats(&stats);
	int64_t ns = (int64_t)(to.tv_sec - from.tv_sec) * 1000000000 + (to.tv_nsec - from.tv_nsec);
	printf("%lld %llu %d\n", (long long)ns / LAST, (unsigned long long)stats.n_lost, failed);
}

/* Nothing where something is expected: the calls do nothing. */
static void nothing(void)
{
	struct ht_record_options o = options();
	need(ht_record_register(NULL, &o) != 0, "no path");
	need(ht_record_recover(NULL, NULL, NULL) != 0, "no part");
	for (int i = 0; i < 2; i++) {
		if (i == 1) {
			need(ht_record_register(path, &o) == 0, "register");
			need(ht_record_start() == 0, "start");
		}
		ht_record_end(ht_record_push(NULL), NULL);
		ht_record_end(ht_record_begin(NULL), NULL);
		need(ht_record_name(NULL, 5) == 0, "no name");
		ht_record_name_thread(NULL);
		ht_record_freed(NULL);
		ht_record_get_stats(NULL);
	}
	loop(0);
	need(ht_record_unregister() == 0, "unregister");
}

static volatile sig_atomic_t n_signals, n_running;

static void on_timer(int number)
{
	(void)number;
	n_signals = n_signals + 1;
	if (ht_record_is_registered() && ht_record_is_running())
		n_running = n_running + 1;
}

/* A handler asks what it may ask, in the middle of records. */
static void signals(void)
{
	struct ht_record_options o = options();
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	need(sigaction(SIGALRM, &action, NULL) == 0, "sigaction");
	need(ht_record_register(path, &o) == 0, "register");
	need(ht_record_start() == 0, "start");
	need(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");
	int i = 0;
	while (n_running < 20 || i < 500)
		loop(i++);
	need(setitimer(ITIMER_REAL, &never, NULL) == 0, "setitimer");
	need(ht_record_unregister() == 0, "unregister");
	printf("%d\n", i);
}

/* One record that is larger than any chunk. */
static void large(void)
{
	size_t n = (size_t)3 << 20;
	char *text = malloc(n);
	need(text != NULL, "memory");
	memset(text, 'x', n);
	struct ht_record_value value = { .kind = HT_RECORD_STRING, .text = { text, n } };
	struct ht_record_call call = {
		.name = name("large"), .sequence = -1, .inputs = &value, .n_inputs = 1
	};
	enlist();
	need(ht_record_start() == 0, "start");
	loop(0);
	ht_record_end(ht_record_begin(&call), NULL);
	loop(1);
	need(ht_record_unregister() == 0, "unregister");
	free(text);
}

/* ---- a GPU that is none ------------------------------------------------------------------------- */

/* Two steps that launch work from inside an operator, from an annotation, and from outside of both; with
 * the library of fake_cupti.c, which lies beside this program. */
static void cuda(void)
{
	char library[4096];
	ssize_t n = readlink("/proc/self/exe", library, sizeof library - 20);
	need(n > 0, "own name");
	library[n] = 0;
	memcpy(strrchr(library, '/') + 1, "libfake_cupti.so", sizeof "libfake_cupti.so");
	void *cupti = dlopen(library, RTLD_NOW);
	need(cupti != NULL, "fake CUPTI");
	void (*launch)(uint32_t, const char *), (*copy)(uint32_t, uint64_t),
	        (*set)(uint32_t, uint64_t);
	void (*record)(uint32_t, uint32_t), (*wait)(uint32_t, uint32_t), (*synchronize)(uint32_t);
	*(void **)&launch = dlsym(cupti, "fake_launch");
	*(void **)&copy = dlsym(cupti, "fake_copy");
	*(void **)&set = dlsym(cupti, "fake_set");
	*(void **)&record = dlsym(cupti, "fake_record_event");
	*(void **)&wait = dlsym(cupti, "fake_wait");
	*(void **)&synchronize = dlsym(cupti, "fake_synchronize");
	struct ht_record_options o = options();
	o.flags = HT_RECORD_CUDA;
	o.cupti_path = library;
	o.rank = 2;
	o.n_ranks = 4;
	need(ht_record_register(path, &o) == 0, "register");
	need(ht_record_start() == 0, "start");
	for (int i = 0; i < 2; i++) {
		uint64_t step = ht_record_push("step");
		struct ht_record_call call = { .name = name("op"), .sequence = -1 };
		uint64_t op = ht_record_begin(&call);
		launch(7, "_Z5scalePff");
		ht_record_end(op, NULL);
		copy(7, 4096);
		record(7, 11);
		wait(20, 11);
		launch(20, "plain_name");
		ht_record_end(step, NULL);
		set(20, 64);
		synchronize(20);
	}
	need(ht_record_unregister() == 0, "unregister");
}

/* ---- cost --------------------------------------------------------------------------------------- */

/* Seconds of processor time of all threads: others may be using the machine. */
static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *bench_body(void *user)
{
	int n = *(int *)user;
	for (int i = 0; i < n; i++)
		add(1, 2, false);
	return NULL;
}

static void bench(void)
{
	int n_ops = trace_path ? (int)strtol(trace_path, NULL, 10) : 1000000;
	trace_path = NULL;
	for (int n_threads = 1; n_threads <= 8; n_threads *= 8) {
		pthread_t ids[8];
		int n = n_ops / n_threads;
		struct ht_record_stats stats = { .struct_size = sizeof stats };
		enlist();
		need(ht_record_start() == 0, "start");
		double start = now_s();
		for (int i = 0; i < n_threads; i++)
			need(pthread_create(&ids[i], NULL, bench_body, &n) == 0, "thread");
		for (int i = 0; i < n_threads; i++)
			pthread_join(ids[i], NULL);
		double recorded = now_s();
		need(ht_record_stop() == 0, "stop");
		double stopped = now_s();
		need(ht_record_unregister() == 0, "unregister");
		double finished = now_s();
		ht_record_get_stats(&stats);
		printf("%d threads: %.1f ns/op, %.1f bytes/op, finish %.2f million nodes/s (processor time)\n",
		        n_threads, (recorded - start) * 1e9 / n / n_threads,
		        (double)stats.n_bytes / (double)stats.n_calls,
		        (double)stats.n_calls / (finished - stopped) * 1e-6);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenarios[] = { { "alone", alone }, { "schedule", schedule },
		{ "schedule-repeat", schedule_repeat }, { "start-stop", start_stop },
		{ "repeat", repeat }, { "no-capture", no_capture }, { "sizes", sizes },
		{ "nested", nested }, { "edges", edges }, { "threads", threads },
		{ "hand_over", hand_over }, { "backward", backward }, { "storm", storm },
		{ "fork", fork_child }, { "exit", exit_running }, { "killed", killed },
		{ "recover", recover }, { "kinds", kinds }, { "freed", freed }, { "limit", limit },
		{ "full", full }, { "nothing", nothing }, { "signals", signals },
		{ "large", large }, { "cuda", cuda }, { "bench", bench } };
	if (argc < 3) {
		fprintf(stderr,
		        "usage: fake_ops SCENARIO PATH [TIMELINE], fake_ops bench PATH [COUNT]\n");
		return 2;
	}
	path = argv[2];
	trace_path = argc > 3 ? argv[3] : NULL;
	for (size_t i = 0; i < COUNT(scenarios); i++) {
		if (strcmp(argv[1], scenarios[i].name) == 0) {
			scenarios[i].run();
			return 0;
		}
	}
	fprintf(stderr, "fake_ops: no scenario %s\n", argv[1]);
	return 2;
}
