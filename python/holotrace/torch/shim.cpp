/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.cpp - PyTorch's calls to the recorder: one callback at the begin of a RecordFunction, one at its end.
 *
 *   RecordFunction ─► begin: name, ids, arguments ─► ht_record_begin ─┐ token, in the context
 *                  ─► end: results, collectives ───► ht_record_end ◄──┘
 *
 * RecordFunction has no stable binary interface, so this is compiled on the user's machine against the
 * torch that is there; everything else is in the recorder. Arguments are gathered in memory of the thread
 * before the recorder is called, without any lock: reading a tensor may run Python, and Python may wait
 * for whoever stops the recording. What is called meanwhile on this thread is not recorded.
 */
#include "holotrace-record.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#if __has_include(<torch/csrc/distributed/c10d/ParamCommsUtils.hpp>)
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#define HAVE_COMMS 1
#endif

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace
{

constexpr size_t max_elements = 4097; // of a list: the recorder's limit and one more

std::atomic<bool> want_ranges{ false };
std::mutex kernels_lock;
std::set<std::string> kernels;     // where the sources of recorded Triton kernels are
std::string dump_folder, dump_ops; // written while nothing is recorded; ",op,op,"

uint32_t name_of(const char *text)
{
	return ht_record_name(text, strlen(text));
}

uint32_t name_of(const std::string &text)
{
	return ht_record_name(text.data(), text.size());
}

// Memory for the arguments of one call, given back at its end.
class Arena
{
      public:
	template <typename T> T *take(size_t n)
	{
		size_t bytes = (n * sizeof(T) + 15) & ~size_t(15);
		if (size_t(end_ - at_) < bytes)
			next(bytes);
		T *taken = reinterpret_cast<T *>(at_);
		at_ += bytes;
		return taken;
	}

	void reset()
	{
		if (!blocks_.empty())
			use(0);
	}

      private:
	void use(size_t i)
	{
		i_block_ = i;
		at_ = blocks_[i].bytes.get();
		end_ = at_ + blocks_[i].size;
	}

	void next(size_t bytes)
	{
		size_t i = blocks_.empty() ? 0 : i_block_ + 1;
		while (i < blocks_.size() && blocks_[i].size < bytes)
			i++;
		if (i == blocks_.size()) {
			size_t size = std::max(bytes, size_t(64) << 10);
			blocks_.push_back({ std::make_unique<char[]>(size), size });
		}
		use(i);
	}

	struct Block {
		std::unique_ptr<char[]> bytes;
		size_t size;
	};
	std::vector<Block> blocks_;
	size_t i_block_ = 0;
	char *at_ = nullptr, *end_ = nullptr; // what is left of that block
};

// Names of an operator, found again by the addresses of its texts, which belong to its schema.
struct KnownOp {
	const char *name_at, *overload_at;
	std::string name, overload;
	uint32_t name_id, schema_id;
};

struct Thread {
	bool busy = false;
	Arena arena;
	std::array<KnownOp, 1024> ops{};
	void *free_contexts = nullptr; // each points to the next

	~Thread()
	{
		for (void *next; free_contexts; free_contexts = next) {
			next = *static_cast<void **>(free_contexts);
			::operator delete(free_contexts);
		}
	}
};

// A plain pointer, for that is what a thread finds fastest.
thread_local Thread *mine __attribute__((tls_model("initial-exec")));

Thread &make_thread()
{
	struct Owner {
		std::unique_ptr<Thread> thread{ std::make_unique<Thread>() };
		~Owner()
		{
			mine = nullptr;
		}
	};
	static thread_local Owner owner;
	mine = owner.thread.get();
	return *mine;
}

class Busy
{
      public:
	explicit Busy(Thread &thread) : thread_(thread)
	{
		thread_.busy = true;
		thread_.arena.reset();
	}
	~Busy()
	{
		thread_.busy = false;
	}

      private:
	Thread &thread_;
};

// What a call carries from its begin to its end. Made and dropped so often that each thread keeps some.
struct Context : at::ObserverContext {
	explicit Context(uint64_t t) : token(t) {}
	uint64_t token;

	static void *operator new(size_t size)
	{
		void *kept = mine ? mine->free_contexts : nullptr;
		if (!kept)
			return ::operator new(size);
		mine->free_contexts = *static_cast<void **>(kept);
		return kept;
	}

	static void operator delete(void *context)
	{
		if (!mine)
			return ::operator delete(context);
		*static_cast<void **>(context) = mine->free_contexts;
		mine->free_contexts = context;
	}
};

// Versions of torch differ in what a RecordFunction tells.
template <typename F> auto overload_of(const F &fn, int) -> decltype(fn.overload_name())
{
	return fn.overload_name();
}

template <typename F> const char *overload_of(const F &, long)
{
	return nullptr;
}

const KnownOp &find_op(Thread &thread, const at::RecordFunction &fn)
{
	const char *name = fn.name(), *overload = overload_of(fn, 0);
	KnownOp &op = thread.ops[(reinterpret_cast<uintptr_t>(name) >> 4) % thread.ops.size()];
	// Annotations live at passing addresses, so texts are compared too.
	if (overload && op.name_at == name && op.overload_at == overload &&
	        strcmp(op.name.c_str(), name) == 0 && strcmp(op.overload.c_str(), overload) == 0)
		return op;
	auto schema = fn.operator_schema();
	op = { name, overload, name, overload ? overload : "", name_of(name), 0 };
	if (schema.has_value())
		op.schema_id = name_of(c10::toString(*schema));
	return op;
}

// Name and size of a type: the name's number in the low half, the bytes of an element in the high one.
uint64_t type_of(const c10::TensorImpl *t)
{
	static std::array<std::atomic<uint64_t>, 64> known;
	auto type = t->dtype();
	size_t index = type.isScalarType() ? size_t(type.toScalarType()) : known.size();
	uint64_t both = index < known.size() ? known[index].load(std::memory_order_relaxed) : 0;
	if (!both) {
		both = ht_record_name(type.name().data(), type.name().size()) |
		       uint64_t(type.itemsize()) << 32;
		if (index < known.size())
			known[index].store(both, std::memory_order_relaxed);
	}
	return both;
}

uint32_t device_name(c10::Device device)
{
	static std::array<std::array<std::atomic<uint32_t>, 65>, 32> known;
	size_t type = size_t(device.type()), index = size_t(device.index() + 1);
	if (type >= known.size() || index >= known[type].size())
		return name_of(device.str());
	uint32_t id = known[type][index].load(std::memory_order_relaxed);
	if (!id) {
		id = name_of(device.str());
		known[type][index].store(id, std::memory_order_relaxed);
	}
	return id;
}

// Sizes that only Python or a symbol knows are left out, as PyTorch's own observer does.
bool has_plain_sizes(c10::TensorImpl *t)
{
	return !t->has_symbolic_sizes_strides() &&
	       !t->key_set().has(c10::DispatchKey::NestedTensor);
}

void read_sizes(c10::TensorImpl *t, uint64_t type, ht_record_tensor *out)
{
	auto sizes = t->sizes();
	out->n_dims = uint32_t(sizes.size());
	out->dims = sizes.data();
	if (t->layout() == c10::kStrided)
		out->strides = t->strides().data();
	if (!t->has_storage())
		return;
	// All memory without an address is one; 0 would be none.
	const void *data = t->storage().data();
	out->storage = data ? data : reinterpret_cast<const void *>(1);
	out->offset = t->storage_offset();
	out->n_elements = t->numel();
	out->item_bytes = uint32_t(type >> 32);
	out->device = device_name(t->device());
}

void take_tensor(Arena &arena, const c10::IValue &value, ht_record_value *out)
{
	c10::TensorImpl *t = value.unsafeToTensorImpl();
	auto *tensor = arena.take<ht_record_tensor>(1);
	*tensor = {};
	tensor->object = t;
	out->tensor = tensor;
	out->kind = HT_RECORD_UNDEFINED;
	if (t == c10::UndefinedTensorImpl::singleton())
		return;
	out->kind = HT_RECORD_TENSOR;
	uint64_t type = type_of(t);
	tensor->type = uint32_t(type);
	if (!has_plain_sizes(t))
		return;
	try {
		read_sizes(t, type, tensor);
	} catch (const std::exception &) {
		*tensor = {};
		tensor->object = t;
		tensor->type = uint32_t(type);
	}
}

ht_record_value *take_values(Arena &arena, const c10::IValue *values, size_t n);

void take_value(Arena &arena, const c10::IValue &value, ht_record_value *out)
{
	*out = {};
	if (value.isTensor()) {
		take_tensor(arena, value, out);
	} else if (value.isInt()) {
		out->kind = HT_RECORD_INT;
		out->integer = value.toInt();
	} else if (value.isBool()) {
		out->kind = HT_RECORD_BOOL;
		out->integer = value.toBool();
	} else if (value.isDouble()) {
		out->kind = HT_RECORD_DOUBLE;
		out->real = value.toDouble();
	} else if (value.isString()) {
		const std::string &text = value.toStringRef();
		out->kind = HT_RECORD_STRING;
		out->text = { text.data(), text.size() };
	} else if (value.isDevice()) {
		out->kind = HT_RECORD_DEVICE;
		out->name = device_name(value.toDevice());
	} else if (value.isList()) {
		auto items = value.toListRef();
		size_t n = std::min(items.size(), max_elements);
		out->kind = HT_RECORD_LIST;
		out->list = { take_values(arena, items.data(), n), n };
	} else if (value.isTuple()) {
		const auto &items = value.toTupleRef().elements();
		auto *list = arena.take<ht_record_value>(items.size());
		for (size_t i = 0; i < items.size(); i++)
			take_value(arena, items[i], &list[i]);
		out->kind = HT_RECORD_TUPLE;
		out->list = { list, items.size() };
	} else if (!value.isNone()) {
		out->kind = HT_RECORD_OTHER;
		out->name = name_of(value.tagKind());
	}
}

ht_record_value *take_values(Arena &arena, const c10::IValue *values, size_t n)
{
	auto *list = arena.take<ht_record_value>(n);
	for (size_t i = 0; i < n; i++)
		take_value(arena, values[i], &list[i]);
	return list;
}

// ---- what integral arguments hold, when asked ------------------------------------------------------

void dump(const at::Tensor &t, uint64_t record_id, size_t index)
{
	at::Tensor bytes = t.cpu().contiguous();
	std::string path = dump_folder + "/rf_" + std::to_string(record_id) + "_tid_" +
	                   std::to_string(index) + ".dat";
	FILE *file = fopen(path.c_str(), "wb");
	if (!file)
		return;
	fwrite(bytes.const_data_ptr(), 1, size_t(bytes.nbytes()), file);
	fclose(file);
}

void walk_integral(const c10::IValue &value, size_t *index, uint64_t dump_id, std::string *text)
{
	if (value.isList()) {
		for (const auto &item : value.toListRef())
			walk_integral(item, index, dump_id, text);
		return;
	}
	if (!value.isTensor())
		return;
	size_t i = (*index)++;
	const at::Tensor &t = value.toTensor();
	if (!t.defined() || !has_plain_sizes(t.unsafeGetTensorImpl()) ||
	        t.layout() != at::kStrided || !at::isIntegralType(t.scalar_type(), false) ||
	        t.is_meta() || !t.numel())
		return;
	if (want_ranges) {
		auto [low, high] = at::aminmax(t);
		*text += (text->empty() ? "" : ",") + ("\"" + std::to_string(i) + "\":[") +
		         std::to_string(low.item<int64_t>()) + "," +
		         std::to_string(high.item<int64_t>()) + "]";
	}
	if (dump_id)
		dump(t, dump_id, i);
}

uint32_t range_of(const at::RecordFunction &fn, const c10::IValue *inputs, size_t n)
{
	bool dumped = dump_ops.find("," + std::string(fn.name()) + ",") != std::string::npos;
	if (!want_ranges && !dumped)
		return 0;
	at::RecordFunctionGuard unseen(false);
	at::NoGradGuard no_grad;
	std::string text;
	size_t index = 0;
	for (size_t i = 0; i < n; i++)
		walk_integral(inputs[i], &index, dumped ? fn.handle() : 0, &text);
	return text.empty() ? 0 : name_of("{" + text + "}");
}

// ---- the callbacks --------------------------------------------------------------------------------

// A Triton kernel says where it comes from by keyword; its stream becomes its last argument.
void take_kernel(Arena &arena, const at::RecordFunction &fn, ht_record_call *call)
{
	auto words = fn.kwinputs();
	auto backend = words.find("kernel_backend");
	if (backend == words.end() || !backend->second.isString())
		return;
	call->kernel_backend = name_of(backend->second.toStringRef());
	auto file = words.find("kernel_file"), stream = words.find("stream");
	if (file != words.end() && file->second.isString()) {
		const std::string &path = file->second.toStringRef();
		call->kernel_file = name_of(path.substr(path.find_last_of('/') + 1));
		std::lock_guard<std::mutex> guard(kernels_lock);
		kernels.insert(path);
	}
	if (stream == words.end() || !stream->second.isInt())
		return;
	auto *inputs = arena.take<ht_record_value>(call->n_inputs + 1);
	std::copy(call->inputs, call->inputs + call->n_inputs, inputs);
	take_value(arena, stream->second, &inputs[call->n_inputs]);
	call->inputs = inputs;
	call->n_inputs++;
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction &fn)
{
	Thread &thread = mine ? *mine : make_thread();
	if (thread.busy)
		return nullptr;
	Busy busy(thread);
	ht_record_call call = {};
	try {
		const KnownOp &op = find_op(thread, fn);
		call.name = op.name_id;
		call.schema = op.schema_id;
		auto inputs = fn.inputs();
		// Calls from the interpreter show its whole stack; theirs are the last.
		size_t n = std::min(inputs.size(), fn.num_inputs());
		const c10::IValue *first = inputs.data() + (inputs.size() - n);
		call.inputs = take_values(thread.arena, first, n);
		call.n_inputs = n;
		if (!call.schema && fn.scope() == at::RecordScope::FUNCTION)
			take_kernel(thread.arena, fn, &call);
		if (want_ranges || !dump_ops.empty())
			call.tensor_range = range_of(fn, first, n);
	} catch (const std::exception &) {
		call.n_inputs = 0; // the call itself is still known
	}
	call.scope = uint32_t(fn.scope());
	call.record_id = fn.handle();
	call.sequence = fn.seqNr();
	call.thread = fn.threadId();
	call.forward_thread = fn.forwardThreadId();
	uint64_t token = ht_record_begin(&call);
	return token ? std::make_unique<Context>(token) : nullptr;
}

#ifdef HAVE_COMMS
std::string list_text(const std::vector<int64_t> &list)
{
	std::string text = "[";
	for (size_t i = 0; i < list.size(); i++)
		text += (i ? ", " : "") + std::to_string(list[i]);
	return text + "]";
}

// The attributes of a collective, while the thread still knows it.
struct Comms {
	std::vector<ht_record_attribute> attributes;
	std::array<std::string, 6> texts;
	size_t n_texts = 0;

	void add(const char *name, int64_t value)
	{
		attributes.push_back({ name_of(name), 0, value, nullptr, 0 });
	}

	void add(const char *name, std::string value)
	{
		std::string &text = texts[n_texts++] = std::move(value);
		attributes.push_back({ name_of(name), 1, 0, text.data(), text.size() });
	}

	void read()
	{
		auto *info = dynamic_cast<torch::ParamCommsDebugInfo *>(
		        c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PARAM_COMMS_INFO));
		if (!info)
			return add("debug", "missing comms info");
		add("collective_name", info->getCollectiveName());
		add("dtype", c10::toString(info->getDType()));
		add("in_msg_nelems", info->getInMessageNelems());
		add("out_msg_nelems", info->getOutMessageNelems());
		add("in_split_size", list_text(info->getInputSplitSizes()));
		add("out_split_size", list_text(info->getOutputSplitSizes()));
		if (info->getGlobalRankStart() >= 0)
			add("global_rank_start", info->getGlobalRankStart());
		if (info->getGlobalRankStride() > 0)
			add("global_rank_stride", info->getGlobalRankStride());
		if (!info->getProcessGroupName().empty())
			add("pg_name", info->getProcessGroupName());
		if (!info->getProcessGroupDesc().empty())
			add("pg_desc", info->getProcessGroupDesc());
		add("pg_size", info->getWorldSize());
	}
};
#endif

void end(const at::RecordFunction &fn, at::ObserverContext *context)
{
	if (!context)
		return;
	Thread &thread = mine ? *mine : make_thread();
	if (thread.busy)
		return;
	Busy busy(thread);
	ht_record_result result = {};
#ifdef HAVE_COMMS
	std::optional<Comms> comms;
#endif
	try {
		const auto &outputs = fn.outputs();
		size_t n = std::min(outputs.size(), fn.num_outputs());
		result.outputs =
		        take_values(thread.arena, outputs.data() + (outputs.size() - n), n);
		result.n_outputs = n;
#ifdef HAVE_COMMS
		if (fn.isNcclMeta()) {
			comms.emplace().read();
			result.attributes = comms->attributes.data();
			result.n_attributes = comms->attributes.size();
		}
#endif
	} catch (const std::exception &) {
		result = {};
	}
	ht_record_end(static_cast<Context *>(context)->token, &result);
}

at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;

} // namespace

extern "C" {

// Called through ctypes, one at a time. The callback is there but asleep until start.
void ht_torch_add(void)
{
	if (handle != at::INVALID_CALLBACK_HANDLE)
		return;
	handle = at::addGlobalCallback(at::RecordFunctionCallback(&begin, &end)
	                                       .needsInputs(true)
	                                       .needsOutputs(true)
	                                       .needsIds(true));
	at::disableCallback(handle);
}

void ht_torch_start(void)
{
	at::reenableCallback(handle);
}

void ht_torch_stop(void)
{
	at::disableCallback(handle);
}

void ht_torch_remove(void)
{
	if (handle != at::INVALID_CALLBACK_HANDLE)
		at::removeCallback(handle);
	handle = at::INVALID_CALLBACK_HANDLE;
}

// The sources of the Triton kernels that were recorded since the last call, one a line; lives until then.
const char *ht_torch_kernels(void)
{
	static std::string lines;
	std::lock_guard<std::mutex> guard(kernels_lock);
	lines.clear();
	for (const std::string &path : kernels)
		lines += path + "\n";
	kernels.clear();
	return lines.c_str();
}

// ranges: tensor_range of integral arguments. ops: "op,op", whose integral arguments go to the folder.
void ht_torch_extras(int ranges, const char *folder, const char *ops)
{
	want_ranges = ranges != 0;
	dump_folder = folder;
	dump_ops = *ops ? "," + std::string(ops) + "," : "";
}
}
