/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_cupti.c - a CUPTI that reports what a test asks for, where there is no GPU.
 *
 * The recorder loads it instead of libcupti. fake_launch() and the others, called by fake_ops, stand for CUDA
 * calls: they note the time and make the activities of a call and of the work it launches, in the layout of
 * CUPTI's header (Kernel9, Memcpy5, Memset4, API, Synchronization2, CudaEvent2). The activities are handed
 * over at a flush, in one buffer, work first: real ones come in no order either. As with the real one, an
 * activity that was not enabled is never reported.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_RECORDS 256

struct api {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct kernel {
	uint32_t kind;
	uint8_t cache;
	uint8_t shared_config;
	uint16_t registers;
	uint32_t partitioned, partitioned_done;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t more[72];
};

struct copy {
	uint32_t kind;
	uint8_t copy_kind, from, to, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint8_t more[40];
};

struct set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint8_t more[36];
};

struct sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t sync_id;
	uint32_t result, pad;
};

struct event {
	uint32_t kind, correlation, context, stream, event, pad;
	uint8_t more[32];
};

_Static_assert(offsetof(struct kernel, correlation) == 92 && offsetof(struct kernel, name) == 104,
        "kernel");
_Static_assert(
        offsetof(struct copy, correlation) == 44 && offsetof(struct set, memory) == 50, "copies");

union record {
	uint32_t kind;
	struct api api;
	struct kernel kernel;
	struct copy copy;
	struct set set;
	struct sync sync;
	struct event event;
};

typedef void (*request_fn)(uint8_t **, size_t *, size_t *);
typedef void (*complete_fn)(void *, uint32_t, uint8_t *, size_t, size_t);

static request_fn request;
static complete_fn complete;
static uint64_t (*now)(void);
static union record records[N_RECORDS];
static size_t n_records;
static uint32_t next_correlation = 100;
static bool enabled[64];

/* ---- what the recorder calls -------------------------------------------------------------------- */

int cuptiGetVersion(uint32_t *version);
int cuptiSetThreadIdType(int type);
int cuptiActivityRegisterCallbacks(request_fn r, complete_fn c);
int cuptiActivityRegisterTimestampCallback(uint64_t (*fn)(void));
int cuptiGetTimestamp(uint64_t *ns);
int cuptiActivityEnable(int kind);
int cuptiActivityDisable(int kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
int cuptiGetCallbackName(int domain, uint32_t id, const char **name);

int cuptiGetVersion(uint32_t *version)
{
	*version = 22;
	return 0;
}

int cuptiSetThreadIdType(int type)
{
	return type == 1 ? 0 : 1;
}

int cuptiActivityRegisterCallbacks(request_fn r, complete_fn c)
{
	request = r;
	complete = c;
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*fn)(void))
{
	now = fn;
	return 0;
}

int cuptiGetTimestamp(uint64_t *ns)
{
	*ns = now();
	return 0;
}

int cuptiActivityEnable(int kind)
{
	enabled[kind] = true;
	return 0;
}

int cuptiActivityDisable(int kind)
{
	enabled[kind] = false;
	return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	uint8_t *buffer = NULL;
	size_t size = 0, max = 0, used = 0;
	(void)flag;
	if (!n_records)
		return 0;
	request(&buffer, &size, &max);
	for (size_t i = n_records; i-- > 0; used += sizeof(union record))
		memcpy(buffer + used, &records[i], sizeof(union record));
	n_records = 0;
	complete(NULL, 0, buffer, size, used);
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t used, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(union record) : buffer;
	if (next >= buffer + used)
		return 21; /* the limit is reached */
	*record = next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context;
	(void)stream;
	*n = 0;
	return 0;
}

int cuptiGetCallbackName(int domain, uint32_t id, const char **name)
{
	static const char *const names[] = { "?", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020",
		"cudaMemsetAsync_v3020", "cudaEventRecord_v3020", "cudaStreamWaitEvent_v3020",
		"cudaStreamSynchronize_v3020" };
	if (domain != 2 || id >= sizeof names / sizeof names[0])
		return 1;
	*name = names[id];
	return 0;
}

/* ---- what the program calls --------------------------------------------------------------------- */

static union record *add(uint32_t kind)
{
	static union record unwanted;
	union record *record = enabled[kind] ? &records[n_records++ % N_RECORDS] : &unwanted;
	memset(record, 0, sizeof *record);
	record->kind = kind;
	return record;
}

/* A call of the runtime; its correlation. */
static uint32_t call(uint32_t id)
{
	struct api *api = &add(5)->api;
	api->cbid = id;
	api->start = now();
	api->end = api->start + 2000;
	api->thread = (uint32_t)syscall(SYS_gettid);
	return api->correlation = next_correlation++;
}

void fake_launch(uint32_t stream, const char *name);
void fake_copy(uint32_t stream, uint64_t bytes);
void fake_set(uint32_t stream, uint64_t bytes);
void fake_record_event(uint32_t stream, uint32_t event);
void fake_wait(uint32_t stream, uint32_t event);
void fake_synchronize(uint32_t stream);

void fake_launch(uint32_t stream, const char *name)
{
	uint32_t correlation = call(1);
	struct kernel *k = &add(10)->kernel;
	k->registers = 32;
	k->start = now() + 5000;
	k->end = k->start + 7000;
	k->device = 1;
	k->context = 3;
	k->stream = stream;
	k->grid[0] = 4;
	k->grid[1] = k->grid[2] = k->block[1] = k->block[2] = 1;
	k->block[0] = 128;
	k->static_shared = 16;
	k->dynamic_shared = 1024;
	k->correlation = correlation;
	k->name = name;
}

void fake_copy(uint32_t stream, uint64_t bytes)
{
	uint32_t correlation = call(2);
	struct copy *c = &add(1)->copy;
	c->copy_kind = 1;
	c->from = 2;
	c->to = 3;
	c->bytes = bytes;
	c->start = now() + 1000;
	c->end = c->start + 500;
	c->device = 1;
	c->context = 3;
	c->stream = stream;
	c->correlation = correlation;
}

void fake_set(uint32_t stream, uint64_t bytes)
{
	uint32_t correlation = call(3);
	struct set *s = &add(2)->set;
	s->bytes = bytes;
	s->start = now() + 1000;
	s->end = s->start + 500;
	s->device = 1;
	s->context = 3;
	s->stream = stream;
	s->correlation = correlation;
	s->memory = 3;
}

void fake_record_event(uint32_t stream, uint32_t event)
{
	uint32_t correlation = call(4);
	struct event *e = &add(36)->event;
	e->correlation = correlation;
	e->context = 3;
	e->stream = stream;
	e->event = event;
}

static void synchronize(uint32_t id, uint32_t type, uint32_t stream, uint32_t event)
{
	uint32_t correlation = call(id);
	struct sync *s = &add(38)->sync;
	s->type = type;
	s->start = now();
	s->end = s->start + 300;
	s->correlation = correlation;
	s->context = 3;
	s->stream = stream;
	s->event = event;
}

void fake_wait(uint32_t stream, uint32_t event)
{
	synchronize(5, 2, stream, event);
}

void fake_synchronize(uint32_t stream)
{
	synchronize(6, 3, stream, 0xffffffffu);
}
