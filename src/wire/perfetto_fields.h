/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_fields.h - the messages of Perfetto traces: numbers of the fields that are read or written.
 *
 * A file is packets one behind the other, each field 1 of the whole. Names are those of Perfetto's own definitions. Fields
 * that begin with HT_PF_OWN are ours: no other program knows them, and all pass over them. They say what a row of the
 * trace was beyond what Perfetto draws of it, so that a file that we wrote reads back as the trace that it was made of:
 *
 *   TracePacket.own_file   once, first: version, what time 0 of the packets' clock is, documents
 *   TracePacket.own_row    the number of the row that a begin, an instant or own_event is, as the difference to the last one of the
 *                          sequence; 1 when absent
 *   TracePacket.own_event  a row that Perfetto draws nothing of, or in another way (arrows, counters, metadata), as a TrackEvent
 *   TracePacket.own_layout the keys of an event, in their order; own_keys names the one of this row; when absent, that of
 *                          the last row of the same type
 *   own_json of a text     an arg that was a list or dictionary: its JSON text
 *   TrackDescriptor.own_*  pid and tid as they are in the trace, texts and absent ones too
 */
#ifndef HT_WIRE_PERFETTO_FIELDS_H
#define HT_WIRE_PERFETTO_FIELDS_H

enum { HT_PF_PACKET = 1 };

enum ht_pf_packet {
	HT_PF_CLOCK_SNAPSHOT = 6,
	HT_PF_TIMESTAMP = 8,
	HT_PF_SEQUENCE = 10,
	HT_PF_TRACK_EVENT = 11,
	HT_PF_INTERNED = 12,
	HT_PF_FLAGS = 13,
	HT_PF_PROCESS_TREE = 2,
	HT_PF_MARKER = 36,
	HT_PF_STATE_CLEARED = 41,
	HT_PF_DROPPED = 42,
	HT_PF_PROCESS_PACKET = 43, /* of old producers: of the sequence, not of a track */
	HT_PF_THREAD_PACKET = 44,
	HT_PF_SYSTEM_INFO = 45,
	HT_PF_COMPRESSED = 50,
	HT_PF_GPU_COUNTERS = 52,
	HT_PF_GPU_STAGE = 53,
	HT_PF_CLOCK = 58,
	HT_PF_DEFAULTS = 59,
	HT_PF_TRACK = 60,
	HT_PF_ATTRIBUTES = 126,
	HT_PF_ZSTD_COMPRESSED = 133,
	HT_PF_OWN_ROW = 990,
	HT_PF_OWN_KEYS = 991,
	HT_PF_OWN_EVENT = 992,
	HT_PF_OWN_LAYOUT = 993,
	HT_PF_OWN_FILE = 994,
};

enum ht_pf_flag { HT_PF_CLEARS_STATE = 1, HT_PF_NEEDS_STATE = 2 };

enum ht_pf_clock_id {
	HT_PF_REALTIME = 1,
	HT_PF_MONOTONIC = 3,
	HT_PF_BOOTTIME = 6,
	HT_PF_OWN_CLOCK = 64, /* the first that belongs to one sequence */
	HT_PF_GLOBAL_CLOCK = 128,
};

enum ht_pf_track {
	HT_PF_TRACK_UUID = 1,
	HT_PF_TRACK_NAME = 2,
	HT_PF_TRACK_PROCESS = 3,
	HT_PF_TRACK_THREAD = 4,
	HT_PF_TRACK_PARENT = 5,
	HT_PF_TRACK_COUNTER = 8,
	HT_PF_TRACK_STATIC_NAME = 10,
	HT_PF_TRACK_CHILD_ORDER = 11,
	HT_PF_TRACK_RANK = 12,
	HT_PF_TRACK_PROCESS_ORDER = 19,
	HT_PF_TRACK_THREAD_ORDER = 20,
	HT_PF_TRACK_OWN_PID = 990, /* zigzag */
	HT_PF_TRACK_OWN_PID_TEXT = 991,
	HT_PF_TRACK_OWN_TID = 992, /* zigzag */
	HT_PF_TRACK_OWN_TID_TEXT = 993,
	HT_PF_TRACK_OWN_DOCUMENT = 994,
};
enum { HT_PF_EXPLICIT_ORDER = 3, HT_PF_ROOT_TRACK = 0 };

enum ht_pf_process { HT_PF_PROCESS_PID = 1, HT_PF_PROCESS_NAME = 6, HT_PF_PROCESS_LABELS = 8 };
enum ht_pf_thread {
	HT_PF_THREAD_PID = 1,
	HT_PF_THREAD_TID = 2,
	HT_PF_THREAD_NAME = 5,
	HT_PF_THREAD_REFERENCE_US = 6, /* where differences of the sequence's events begin */
};

enum ht_pf_counter {
	HT_PF_COUNTER_UNIT = 3,
	HT_PF_COUNTER_MULTIPLIER = 4,
	HT_PF_COUNTER_INCREMENTAL = 5,
	HT_PF_COUNTER_UNIT_NAME = 6,
};
enum { HT_PF_UNIT_COUNT = 2, HT_PF_UNIT_BYTES = 3 };

enum ht_pf_event {
	HT_PF_EVENT_DELTA_US = 1,
	HT_PF_EVENT_CATEGORY_IID = 3,
	HT_PF_EVENT_ANNOTATION = 4,
	HT_PF_EVENT_LEGACY = 6,
	HT_PF_EVENT_TYPE = 9,
	HT_PF_EVENT_NAME_IID = 10,
	HT_PF_EVENT_TRACK = 11,
	HT_PF_EVENT_EXTRA_COUNTER = 12,
	HT_PF_EVENT_ABSOLUTE_US = 16,
	HT_PF_EVENT_CATEGORY = 22,
	HT_PF_EVENT_NAME = 23,
	HT_PF_EVENT_COUNTER = 30,
	HT_PF_EVENT_EXTRA_TRACK = 31,
	HT_PF_EVENT_OLD_FLOW = 36,
	HT_PF_EVENT_OLD_FLOW_END = 42,
	HT_PF_EVENT_COUNTER_F64 = 44,
	HT_PF_EVENT_EXTRA_TRACK_F64 = 45,
	HT_PF_EVENT_EXTRA_COUNTER_F64 = 46,
	HT_PF_EVENT_FLOW = 47,
	HT_PF_EVENT_FLOW_END = 48,
	HT_PF_EVENT_CALLSTACK = 55,
	HT_PF_EVENT_CALLSTACK_IID = 56,
	HT_PF_EVENT_OWN_DURATION = 990,     /* of own_event */
	HT_PF_EVENT_GPU_CORRELATION = 3000, /* the GPU work that a call started */
};
/* Events as Chrome's JSON has them, in the fields of a TrackEvent. */
enum ht_pf_legacy {
	HT_PF_LEGACY_NAME_IID = 1,
	HT_PF_LEGACY_PHASE = 2,
	HT_PF_LEGACY_DURATION_US = 3,
	HT_PF_LEGACY_ID = 6,
	HT_PF_LEGACY_SCOPE = 7,
	HT_PF_LEGACY_BIND_ID = 8,
	HT_PF_LEGACY_LOCAL_ID = 10,
	HT_PF_LEGACY_GLOBAL_ID = 11,
	HT_PF_LEGACY_FLOW = 13, /* direction */
	HT_PF_LEGACY_PID = 18,
	HT_PF_LEGACY_TID = 19,
};
enum ht_pf_event_type { HT_PF_BEGIN = 1, HT_PF_END, HT_PF_INSTANT, HT_PF_COUNTER };

enum ht_pf_annotation {
	HT_PF_ARG_NAME_IID = 1,
	HT_PF_ARG_BOOL = 2,
	HT_PF_ARG_U64 = 3,
	HT_PF_ARG_I64 = 4,
	HT_PF_ARG_F64 = 5,
	HT_PF_ARG_TEXT = 6,
	HT_PF_ARG_POINTER = 7,
	HT_PF_ARG_OLD_NESTED = 8,
	HT_PF_ARG_JSON = 9,
	HT_PF_ARG_NAME = 10,
	HT_PF_ARG_ENTRY = 11,   /* of a dictionary */
	HT_PF_ARG_ELEMENT = 12, /* of a list */
	HT_PF_ARG_TEXT_IID = 17,
};

enum ht_pf_interned {
	HT_PF_CATEGORIES = 1,
	HT_PF_EVENT_NAMES = 2,
	HT_PF_ARG_NAMES = 3,
	HT_PF_FUNCTION_NAMES = 5,
	HT_PF_FRAMES = 6,
	HT_PF_CALLSTACKS = 7,
	HT_PF_GPU_SPECIFICATIONS = 24,
	HT_PF_ARG_TEXTS = 29,
	HT_PF_COUNTER_DESCRIPTORS = 47,
	HT_PF_COMPUTE_KERNELS = 1000,
	HT_PF_COMPUTE_ARG_NAMES = 1001,
};
enum {
	HT_PF_IID = 1,
	HT_PF_IID_TEXT = 2,
	HT_PF_FRAME_FUNCTION = 2,
	HT_PF_CALLSTACK_FRAME = 2, /* the outermost first */
	HT_PF_INLINE_FRAME = 1,    /* of a call stack in the event, likewise */
	HT_PF_INLINE_FUNCTION = 1,
	HT_PF_KERNEL_NAME = 2, /* of a compute kernel: mangled, and as people read it */
	HT_PF_KERNEL_DEMANGLED = 3,
	HT_PF_IID_DESCRIPTOR = 2, /* of GPU counters, and whose they are */
	HT_PF_IID_GPU = 3,
	HT_PF_IID_OWN_JSON = 990, /* 1: the text is a JSON value, not a string */
};

enum { HT_PF_DEFAULT_CLOCK = 58, HT_PF_DEFAULT_EVENT = 11 };
enum { HT_PF_SNAPSHOT_CLOCK = 1 };
enum ht_pf_snapshot_clock {
	HT_PF_CLOCK_ID = 1,
	HT_PF_CLOCK_TIME = 2,
	HT_PF_CLOCK_INCREMENTAL = 3,
	HT_PF_CLOCK_MULTIPLIER = 4,
};

enum { HT_PF_SERVICE_VERSION = 4 };
enum { HT_PF_ATTRIBUTE = 1 };
enum ht_pf_attribute {
	HT_PF_ATTRIBUTE_KEY = 1,
	HT_PF_ATTRIBUTE_NUMBER = 2,
	HT_PF_ATTRIBUTE_TEXT = 3,
	HT_PF_ATTRIBUTE_OWN_PLACE = 990, /* document * 2 + 1 when behind the events */
};

enum ht_pf_own_file {
	HT_PF_FILE_VERSION = 1,
	HT_PF_FILE_ZERO =
	        2, /* zigzag: what of the trace's clock time 0 of the packets' is, in ns */
	HT_PF_FILE_DOCUMENTS = 3,
};
enum ht_pf_own_layout { HT_PF_LAYOUT_IID = 1, HT_PF_LAYOUT_PHASE = 2, HT_PF_LAYOUT_KEY = 3 };

enum ht_pf_gpu_counters {
	HT_PF_GPU_DESCRIPTOR = 1,
	HT_PF_GPU_VALUE = 2,
	HT_PF_GPU_ID = 3,
	HT_PF_GPU_DESCRIPTOR_IID = 4,
};
enum { HT_PF_GPU_SPEC = 1 };
enum ht_pf_gpu_spec { HT_PF_SPEC_ID = 1, HT_PF_SPEC_NAME = 2 };
enum ht_pf_gpu_value { HT_PF_VALUE_ID = 1, HT_PF_VALUE_I64 = 2, HT_PF_VALUE_F64 = 3 };

enum ht_pf_stage {
	HT_PF_STAGE_ID = 1,
	HT_PF_STAGE_DURATION = 2,
	HT_PF_STAGE_CONTEXT = 5,
	HT_PF_STAGE_EXTRA = 6,
	HT_PF_STAGE_SUBMISSION = 10,
	HT_PF_STAGE_GPU = 11,
	HT_PF_STAGE_QUEUE_IID = 13,
	HT_PF_STAGE_IID = 14,
	HT_PF_STAGE_NAME = 17,
	HT_PF_STAGE_WAITS = 18,
	HT_PF_STAGE_KERNEL_IID = 19,
	HT_PF_STAGE_NAME_IID = 20,
	HT_PF_STAGE_LAUNCH = 21,
};
/* How a kernel was launched: sizes of three numbers each, further values by name. */
enum { HT_PF_LAUNCH_GRID = 1, HT_PF_LAUNCH_BLOCK = 2, HT_PF_LAUNCH_ARG = 3 };
enum ht_pf_launch_arg {
	HT_PF_LAUNCH_NAME_IID = 1,
	HT_PF_LAUNCH_NAME = 2,
	HT_PF_LAUNCH_I64 = 3,
	HT_PF_LAUNCH_U64 = 4,
	HT_PF_LAUNCH_F64 = 5,
	HT_PF_LAUNCH_TEXT = 6,
	HT_PF_LAUNCH_TEXT_IID = 7,
};

/* Processes and threads of the machine. */
enum { HT_PF_TREE_PROCESS = 1, HT_PF_TREE_THREAD = 2 };
enum { HT_PF_TREE_PID = 1, HT_PF_TREE_COMMAND = 3 };
enum { HT_PF_TREE_TID = 1, HT_PF_TREE_THREAD_NAME = 2, HT_PF_TREE_TGID = 3 };

#endif
