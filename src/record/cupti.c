/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.c - see gpu.h.
 *
 * No header of CUDA is needed to build: functions are found by name, and of CUPTI's records only fields
 * are read whose places have been the same from CUDA 10 to 13 (kernel records of versions 4 to 10, copies
 * 1 to 6, sets 1 to 4, synchronisation 1 and 2, API calls, events, overhead 1 to 3; compared with offsetof
 * on the headers of 13.0). Newer records only ever grew at their end.
 */
#include "record/gpu.h"
#include "record/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

enum { /* CUPTI's numbers */
	ACTIVITY_MEMCPY = 1,
	ACTIVITY_MEMSET = 2,
	ACTIVITY_KERNEL = 3,
	ACTIVITY_DRIVER = 4,
	ACTIVITY_RUNTIME = 5,
	ACTIVITY_CONCURRENT_KERNEL = 10,
	ACTIVITY_OVERHEAD = 17,
	ACTIVITY_MEMCPY2 = 22,
	ACTIVITY_CUDA_EVENT = 36,
	ACTIVITY_SYNCHRONIZATION = 38,
	DOMAIN_DRIVER = 1,
	DOMAIN_RUNTIME = 2,
	FLUSH_FORCED = 1,
	SYSTEM_THREAD_IDS = 1,
	OBJECT_THREAD = 2,
	VERSION_WITH_GRAPHS = 13, /* CUDA 11.0: kernels know their graph */
};

#define BUFFER_BYTES    ((size_t)1 << 20)
#define FLUSH_PERIOD_MS 1000

typedef void (*request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*complete_fn)(
        void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

static struct {
	int (*get_version)(uint32_t *version);
	int (*register_callbacks)(request_fn request, complete_fn complete);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush_all)(uint32_t flag);
	int (*next_record)(uint8_t *buffer, size_t used, void **record);
	int (*dropped)(void *context, uint32_t stream, size_t *n);
	int (*callback_name)(int domain, uint32_t callback, const char **name);
	/* Those that older versions lack. */
	int (*thread_id_type)(int type);
	int (*timestamp_callback)(uint64_t (*now)(void));
	int (*flush_period)(uint32_t ms);
	int (*get_timestamp)(uint64_t *ns);
} cupti;

static struct {
	void *library;
	uint32_t version;
	int64_t shift_ns; /* CUPTI's clock to ours, when it cannot be told to use ours */
	pthread_mutex_t lock;
	struct ht_stream stream;
	bool attached;
	bool devices_known;
	uint64_t n_dropped;
} gpu = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- reading CUPTI's records ------------------------------------------------------------------- */

static uint32_t u32_at(const uint8_t *record, size_t offset)
{
	uint32_t value;
	memcpy(&value, record + offset, sizeof value);
	return value;
}

static int64_t ns_at(const uint8_t *record, size_t offset)
{
	int64_t value;
	memcpy(&value, record + offset, sizeof value);
	return value + gpu.shift_ns;
}

static uint32_t name_of(const char *text)
{
	return text ? ht_record_name(text, strlen(text)) : 0;
}

static void read_call(const uint8_t *a, struct ht_gpu_record *r)
{
	const char *name = NULL;
	int domain = r->kind == HT_GPU_RUNTIME ? DOMAIN_RUNTIME : DOMAIN_DRIVER;
	r->callback = u32_at(a, 4);
	r->start_ns = ns_at(a, 8);
	r->end_ns = ns_at(a, 16);
	r->thread = u32_at(a, 28);
	r->correlation = u32_at(a, 32);
	if (cupti.callback_name(domain, r->callback, &name) == 0)
		r->name = name_of(name);
}

static void read_kernel(const uint8_t *a, struct ht_gpu_record *r)
{
	const char *name;
	memcpy(&r->n_registers, a + 6, sizeof r->n_registers);
	r->start_ns = ns_at(a, 16);
	r->end_ns = ns_at(a, 24);
	r->device = u32_at(a, 40);
	r->context = u32_at(a, 44);
	r->stream = u32_at(a, 48);
	memcpy(r->grid, a + 52, sizeof r->grid);
	memcpy(r->block, a + 64, sizeof r->block);
	r->static_shared = u32_at(a, 76);
	r->dynamic_shared = u32_at(a, 80);
	r->correlation = u32_at(a, 92);
	memcpy(&name, a + 104, sizeof name);
	r->name = name_of(name);
	if (gpu.version >= VERSION_WITH_GRAPHS)
		r->graph = u32_at(a, 156);
}

static void read_any_copy(const uint8_t *a, struct ht_gpu_record *r)
{
	r->copy_kind = a[4];
	r->from_kind = a[5];
	r->to_kind = a[6];
	memcpy(&r->n_bytes, a + 8, sizeof r->n_bytes);
	r->start_ns = ns_at(a, 16);
	r->end_ns = ns_at(a, 24);
	r->device = u32_at(a, 32);
	r->context = u32_at(a, 36);
	r->stream = u32_at(a, 40);
}

static void read_copy(const uint8_t *a, struct ht_gpu_record *r)
{
	read_any_copy(a, r);
	r->correlation = u32_at(a, 44);
}

static void read_copy_between_devices(const uint8_t *a, struct ht_gpu_record *r)
{
	read_any_copy(a, r);
	r->correlation = u32_at(a, 60);
	r->peer = u32_at(a, 52) + 1;
}

static void read_set(const uint8_t *a, struct ht_gpu_record *r)
{
	uint16_t memory;
	memcpy(&r->n_bytes, a + 8, sizeof r->n_bytes);
	r->start_ns = ns_at(a, 16);
	r->end_ns = ns_at(a, 24);
	r->device = u32_at(a, 32);
	r->context = u32_at(a, 36);
	r->stream = u32_at(a, 40);
	r->correlation = u32_at(a, 44);
	memcpy(&memory, a + 50, sizeof memory);
	r->to_kind = (uint8_t)memory;
}

static void read_sync(const uint8_t *a, struct ht_gpu_record *r)
{
	r->sync_kind = (uint8_t)u32_at(a, 4);
	r->start_ns = ns_at(a, 8);
	r->end_ns = ns_at(a, 16);
	r->correlation = u32_at(a, 24);
	r->context = u32_at(a, 28);
	r->stream = u32_at(a, 32);
	r->event = u32_at(a, 36);
}

static void read_overhead(const uint8_t *a, struct ht_gpu_record *r)
{
	static const char *const what[] = { "Unknown", "Activity Buffer Flush", "Instrumentation",
		"Resource", "Runtime Triggered Module Loading", "Lazy Function Loading",
		"Command Buffer Full", "Activity Buffer Request", "UVM Activity Init" };
	uint32_t kind = u32_at(a, 4);
	const char *name = kind == 1                     ? "Driver Compiler"
	                   : kind >> 16 < HT_COUNT(what) ? what[kind >> 16]
	                                                 : what[0];
	r->thread = u32_at(a, 8) == OBJECT_THREAD ? u32_at(a, 16) : 0;
	r->start_ns = ns_at(a, 24);
	r->end_ns = ns_at(a, 32);
	r->name = name_of(name);
}

static void read_event(const uint8_t *a, struct ht_gpu_record *r)
{
	r->correlation = u32_at(a, 4);
	r->context = u32_at(a, 8);
	r->stream = u32_at(a, 12);
	r->event = u32_at(a, 16);
}

/* What CUPTI is asked for, and what its records become; the frequent ones first. */
static const struct activity {
	uint32_t number; /* CUPTI's */
	enum ht_gpu_kind kind;
	void (*read)(const uint8_t *a, struct ht_gpu_record *r); /* all but the kind */
	bool unasked; /* enabled, kernels would run one after the other; some versions report it */
} activities[] = {
	{ ACTIVITY_RUNTIME, HT_GPU_RUNTIME, read_call, false },
	{ ACTIVITY_DRIVER, HT_GPU_DRIVER, read_call, false },
	{ ACTIVITY_CONCURRENT_KERNEL, HT_GPU_KERNEL, read_kernel, false },
	{ ACTIVITY_KERNEL, HT_GPU_KERNEL, read_kernel, true },
	{ ACTIVITY_MEMCPY, HT_GPU_MEMCPY, read_copy, false },
	{ ACTIVITY_MEMCPY2, HT_GPU_MEMCPY, read_copy_between_devices, false },
	{ ACTIVITY_MEMSET, HT_GPU_MEMSET, read_set, false },
	{ ACTIVITY_SYNCHRONIZATION, HT_GPU_SYNC, read_sync, false },
	{ ACTIVITY_CUDA_EVENT, HT_GPU_EVENT, read_event, false },
	{ ACTIVITY_OVERHEAD, HT_GPU_OVERHEAD, read_overhead, false },
};

static bool read_activity(const uint8_t *a, struct ht_gpu_record *r)
{
	uint32_t number = u32_at(a, 0);
	for (size_t i = 0; i < HT_COUNT(activities); i++) {
		if (activities[i].number != number)
			continue;
		r->kind = (uint8_t)activities[i].kind;
		activities[i].read(a, r);
		return true;
	}
	return false;
}

static void write_record(const void *record, size_t n)
{
	struct ht_stream *s = &gpu.stream;
	ht_stream_open_record(s);
	if (ht_stream_room(s, n)) {
		memcpy(s->at, record, n);
		s->at += n;
	}
	(void)ht_stream_commit(s, HT_TYPE_GPU);
}

static void request_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(64, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void complete_buffer(
        void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	void *activity = NULL;
	size_t n_dropped = 0;
	(void)size;
	pthread_mutex_lock(&gpu.lock);
	while (gpu.attached && used && cupti.next_record(buffer, used, &activity) == 0) {
		struct ht_gpu_record record = { 0 };
		if (read_activity(activity, &record))
			write_record(&record, sizeof record);
	}
	if (cupti.dropped(context, stream, &n_dropped) == 0)
		gpu.n_dropped += n_dropped;
	pthread_mutex_unlock(&gpu.lock);
	free(buffer);
}

static uint64_t now_for_cupti(void)
{
	return (uint64_t)ht_record_now();
}

/* ---- devices ----------------------------------------------------------------------------------- */

/* The driver is there when CUPTI is used; ask it as the program could. */
static void write_devices(void)
{
	int (*get_count)(int *), (*get_device)(int *, int), (*get_name)(char *, int, int);
	int (*get_attribute)(int *, int, int), (*get_memory)(size_t *, int);
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!driver)
		return;
	*(void **)&get_count = dlsym(driver, "cuDeviceGetCount");
	*(void **)&get_device = dlsym(driver, "cuDeviceGet");
	*(void **)&get_name = dlsym(driver, "cuDeviceGetName");
	*(void **)&get_attribute = dlsym(driver, "cuDeviceGetAttribute");
	*(void **)&get_memory = dlsym(driver, "cuDeviceTotalMem_v2");
	int n = 0, handle;
	if (!get_count || !get_device || !get_name || !get_attribute || !get_memory ||
	        get_count(&n) != 0)
		n = 0;
	for (int i = 0; i < n && get_device(&handle, i) == 0; i++) {
		struct ht_gpu_device d = { .kind = HT_GPU_DEVICE, .device = (uint32_t)i };
		const struct {
			int attribute; /* the driver's number */
			int32_t *value;
		} wanted[] = { { 1, &d.max_threads_per_block }, { 8, &d.shared_per_block },
			{ 10, &d.warp_size }, { 12, &d.regs_per_block }, { 16, &d.n_sms },
			{ 39, &d.max_threads_per_sm }, { 75, &d.major }, { 76, &d.minor },
			{ 81, &d.shared_per_sm }, { 82, &d.regs_per_sm },
			{ 97, &d.shared_per_block_optin } };
		size_t memory = 0;
		for (size_t j = 0; j < HT_COUNT(wanted); j++)
			(void)get_attribute(wanted[j].value, wanted[j].attribute, handle);
		(void)get_name(d.name, (int)sizeof d.name, handle);
		(void)get_memory(&memory, handle);
		d.memory_bytes = memory;
		pthread_mutex_lock(&gpu.lock);
		write_record(&d, sizeof d);
		pthread_mutex_unlock(&gpu.lock);
	}
	gpu.devices_known = n > 0;
	dlclose(driver);
}

/* ---- life -------------------------------------------------------------------------------------- */

static void *open_library(const char *path)
{
	static const char *const places[] = { "libcupti.so", "libcupti.so.13", "libcupti.so.12",
		"libcupti.so.11.0", "/usr/local/cuda/lib64/libcupti.so",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so" };
	if (path)
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *library = NULL;
	/* One that the program has loaded is the right one. */
	for (size_t i = 0; !library && i < HT_COUNT(places); i++)
		library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	for (size_t i = 0; !library && i < HT_COUNT(places); i++)
		library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

static bool find_functions(void *library)
{
	const struct {
		const char *name;
		void *to;
		bool needed;
	} functions[] = {
		{ "cuptiGetVersion", &cupti.get_version, true },
		{ "cuptiActivityRegisterCallbacks", &cupti.register_callbacks, true },
		{ "cuptiActivityEnable", &cupti.enable, true },
		{ "cuptiActivityDisable", &cupti.disable, true },
		{ "cuptiActivityFlushAll", &cupti.flush_all, true },
		{ "cuptiActivityGetNextRecord", &cupti.next_record, true },
		{ "cuptiActivityGetNumDroppedRecords", &cupti.dropped, true },
		{ "cuptiGetCallbackName", &cupti.callback_name, true },
		{ "cuptiSetThreadIdType", &cupti.thread_id_type, true },
		{ "cuptiActivityRegisterTimestampCallback", &cupti.timestamp_callback, false },
		{ "cuptiActivityFlushPeriod", &cupti.flush_period, false },
		{ "cuptiGetTimestamp", &cupti.get_timestamp, true },
	};
	for (size_t i = 0; i < HT_COUNT(functions); i++) {
		void *symbol = dlsym(library, functions[i].name);
		if (!symbol && functions[i].needed)
			return false;
		memcpy(functions[i].to, &symbol, sizeof symbol);
	}
	return true;
}

static void set_clock(void)
{
	uint64_t theirs;
	if (cupti.timestamp_callback && cupti.timestamp_callback(now_for_cupti) == 0)
		return;
	if (cupti.get_timestamp(&theirs) == 0)
		gpu.shift_ns = ht_record_now() - (int64_t)theirs;
}

int ht_gpu_load(const char *path, const char **ret_reason)
{
	if (gpu.library)
		return 0;
	void *library = open_library(path);
	if (!library) {
		*ret_reason = "libcupti cannot be loaded";
		return ENOENT;
	}
	if (!find_functions(library)) {
		*ret_reason = "this libcupti lacks functions";
		dlclose(library);
		return ENOSYS;
	}
	if (cupti.get_version(&gpu.version) != 0 || cupti.thread_id_type(SYSTEM_THREAD_IDS) != 0 ||
	        cupti.register_callbacks(request_buffer, complete_buffer) != 0) {
		*ret_reason = "CUPTI is in use by another tool, or the driver does not allow it";
		return EBUSY;
	}
	set_clock();
	if (cupti.flush_period)
		(void)cupti.flush_period(FLUSH_PERIOD_MS);
	gpu.library = library;
	return 0;
}

void ht_gpu_attach(struct ht_part_file *part)
{
	pthread_mutex_lock(&gpu.lock);
	ht_stream_init(&gpu.stream, part, HT_CHUNK_GPU, 0);
	gpu.attached = true;
	gpu.devices_known = false;
	gpu.n_dropped = 0;
	pthread_mutex_unlock(&gpu.lock);
}

void ht_gpu_detach(void)
{
	pthread_mutex_lock(&gpu.lock);
	gpu.attached = false;
	pthread_mutex_unlock(&gpu.lock);
}

void ht_gpu_run(void)
{
	for (size_t i = 0; i < HT_COUNT(activities); i++)
		if (!activities[i].unasked)
			(void)cupti.enable((int)activities[i].number);
}

void ht_gpu_pause(void)
{
	(void)cupti.flush_all(FLUSH_FORCED);
	for (size_t i = 0; i < HT_COUNT(activities); i++)
		if (!activities[i].unasked)
			(void)cupti.disable((int)activities[i].number);
	(void)cupti.flush_all(FLUSH_FORCED);
	if (gpu.attached && !gpu.devices_known)
		write_devices();
}

void ht_gpu_forget(void)
{
	pthread_mutex_init(&gpu.lock, NULL);
	gpu.attached = false;
}

uint64_t ht_gpu_lost(void)
{
	return gpu.attached || gpu.n_dropped ? gpu.n_dropped + ht_counter_get(&gpu.stream.n_lost)
	                                     : 0;
}
