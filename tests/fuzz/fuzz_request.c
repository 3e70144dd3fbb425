/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_request.c - any text as a request to `holotrace serve`: its first line, its headers, its body.
 *
 * The server is a real one, with one run. In place of libmicrohttpd stands a small reader of requests, so that an input is one from the line
 * that begins it to the answer: what is asked, who may ask, the route and what it computes. Answers that are computed are so
 * at once, on this thread. Requests from names or pages that are not ours are never answered, and no header of an answer holds a
 * line of its own.
 */
#include "fuzz.h"

#define pool_submit request_submit
#include "../../serve/http.c"
#undef pool_submit

#include <sys/stat.h>

static const char request_trace[] =
        "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0}, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#4\", \"pid\": 9, \"tid\": 9, \"ts\": 1, \"dur\": 20},\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 9, \"tid\": 9, \"ts\": 2, \"dur\": 9, \"args\": {\"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 9, \"tid\": 9, \"ts\": 3, \"dur\": 2,"
        " \"args\": {\"correlation\": 7, \"External id\": 3}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": 6, \"dur\": 6,"
        " \"args\": {\"correlation\": 7, \"stream\": 7, \"device\": 0}}]}\n";

#define REQUEST_MAX_HEADERS 32
#define REQUEST_MS          200
#define REQUEST_BYTES       ((uint64_t)256 << 20)

static struct server *request_server;
static char request_folder[FUZZ_PATH], request_file[FUZZ_PATH];

/* ---- in place of the web server ---- */

struct asking {
	char *names[REQUEST_MAX_HEADERS], *values[REQUEST_MAX_HEADERS];
	size_t n_headers;
	union MHD_ConnectionInfo size;
	bool is_answered;
	unsigned status;
};

struct reply {
	MHD_ContentReaderFreeCallback free_bytes;
	MHD_ContentReaderCallback read;
	void *user;
};

static struct asking *asking_of(struct MHD_Connection *connection)
{
	return (struct asking *)(void *)connection;
}

static int fake_values(struct MHD_Connection *connection, enum MHD_ValueKind kind,
        MHD_KeyValueIterator each, void *user)
{
	struct asking *asking = asking_of(connection);
	for (size_t i = 0; i < asking->n_headers; i++)
		if (each(user, kind, asking->names[i], asking->values[i]) != MHD_YES)
			break;
	return (int)asking->n_headers;
}

static const char *fake_lookup(
        struct MHD_Connection *connection, enum MHD_ValueKind kind, const char *name)
{
	struct asking *asking = asking_of(connection);
	(void)kind;
	for (size_t i = 0; i < asking->n_headers; i++)
		if (!strcasecmp(asking->names[i], name))
			return asking->values[i];
	return NULL;
}

static const union MHD_ConnectionInfo *fake_info(
        struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...)
{
	return type == MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE ? &asking_of(connection)->size
	                                                       : NULL;
}

static void fake_pause(struct MHD_Connection *connection)
{
	(void)connection;
}

static struct MHD_Response *fake_reply(
        MHD_ContentReaderCallback read, void *user, MHD_ContentReaderFreeCallback free_bytes)
{
	struct reply *reply = calloc(1, sizeof *reply);
	FUZZ_REQUIRE(reply);
	*reply = (struct reply){ free_bytes, read, user };
	return (struct MHD_Response *)(void *)reply;
}

static struct MHD_Response *fake_from_buffer(
        size_t n, void *bytes, enum MHD_ResponseMemoryMode mode)
{
	(void)n, (void)bytes, (void)mode;
	return fake_reply(NULL, NULL, NULL);
}

static struct MHD_Response *fake_from_held(
        size_t n, void *bytes, MHD_ContentReaderFreeCallback free_bytes, void *user)
{
	FUZZ_REQUIRE(!n || bytes);
	return fake_reply(NULL, user, free_bytes);
}

static struct MHD_Response *fake_from_callback(uint64_t n, size_t block,
        MHD_ContentReaderCallback read, void *user, MHD_ContentReaderFreeCallback free_bytes)
{
	(void)n, (void)block;
	return fake_reply(read, user, free_bytes);
}

static enum MHD_Result fake_add(struct MHD_Response *response, const char *name, const char *value)
{
	(void)response;
	FUZZ_REQUIRE(*name && !strpbrk(name, "\r\n: ") && value && !strpbrk(value, "\r\n"));
	return MHD_YES;
}

static enum MHD_Result fake_queue(
        struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
	struct asking *asking = asking_of(connection);
	struct reply *reply = (struct reply *)(void *)response;
	char block[EVENT_BLOCK_BYTES];
	uint64_t at = 0;
	FUZZ_REQUIRE(!asking->is_answered && status >= 200 && status < 600);
	asking->is_answered = true;
	asking->status = status;
	for (ssize_t n; reply->read && (n = reply->read(reply->user, at, block, sizeof block)) > 0;)
		at += (uint64_t)n;
	return MHD_YES;
}

static void fake_destroy(struct MHD_Response *response)
{
	struct reply *reply = (struct reply *)(void *)response;
	if (reply->free_bytes)
		reply->free_bytes(reply->user);
	free(reply);
}

/* A worker that is there at once. */
bool request_submit(struct pool *pool, pool_fn fn, void *job, unsigned cost_ms)
{
	(void)pool, (void)cost_ms;
	fn(job);
	return true;
}

/* ---- the server ---- */

static void request_done(void)
{
	(void)unlink(request_file);
	(void)rmdir(request_folder);
}

static bool request_is_read(void)
{
	struct runs *runs = &request_server->runs;
	pthread_mutex_lock(&runs->lock);
	bool is_read = runs->n == 1 && runs->list[0]->now && runs->list[0]->is_checked;
	pthread_mutex_unlock(&runs->lock);
	return is_read;
}

static void request_prepare(void)
{
	char error[SERVE_ERROR_BYTES];
	(void)fuzz_file_at(1, "", 0, "", 0);
	snprintf(request_folder, FUZZ_PATH, "%.31s/r", fuzz_folder);
	snprintf(request_file, FUZZ_PATH, "%.31s/r/w.pt.trace.json", fuzz_folder);
	FUZZ_REQUIRE(!mkdir(request_folder, 0700));
	FILE *file = fopen(request_file, "w");
	FUZZ_REQUIRE(file && fwrite(request_trace, sizeof request_trace - 1, 1, file) == 1);
	fclose(file);
	atexit(request_done);
	const char *source = fuzz_folder;
	struct serve_options options = { .sources = &source,
		.n_sources = 1,
		.request_ms = REQUEST_MS,
		.request_bytes = REQUEST_BYTES,
		.rescan_ms = 100,
		.n_jobs = 1,
		.open = { .struct_size = sizeof options.open, .no_cache = true } };
	if (serve_start(&options, &request_server, error) != HT_OK) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
	while (!request_is_read())
		usleep(10000);
	mhd = (struct mhd_calls){ .add_response_header = fake_add,
		.create_response_from_buffer = fake_from_buffer,
		.create_response_from_buffer_with_free_callback_cls = fake_from_held,
		.create_response_from_callback = fake_from_callback,
		.destroy_response = fake_destroy,
		.get_connection_info = fake_info,
		.get_connection_values = fake_values,
		.lookup_connection_value = fake_lookup,
		.queue_response = fake_queue,
		.resume_connection = fake_pause,
		.suspend_connection = fake_pause };
}

/* ---- one request ---- */

/* The next line, ended, without its end; NULL behind the last. */
static char *request_line(char **rest)
{
	char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
	*rest = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	size_t n = line ? strlen(line) : 0;
	if (n && line[n - 1] == '\r')
		line[n - 1] = '\0';
	return line;
}

static void request_read_head(struct asking *asking, char **rest)
{
	for (char *line; (line = request_line(rest)) && *line;) {
		char *colon = strchr(line, ':');
		if (!colon || colon == line || asking->n_headers == REQUEST_MAX_HEADERS)
			continue;
		*colon = '\0';
		asking->names[asking->n_headers] = line;
		asking->values[asking->n_headers++] = colon + 1 + strspn(colon + 1, " \t");
	}
}

/* A name of this machine's loopback, as an answer needs it. */
static bool request_is_local(const char *host)
{
	size_t n = strcspn(host, ":");
	static const char ending[] = "localhost";
	size_t n_ending = sizeof ending - 1;
	if (host[0] == '[')
		return !strncmp(host, "[::1]", 5);
	return !strncmp(host, "127.", 4) ||
	       (n >= n_ending && !strncasecmp(host + n - n_ending, ending, n_ending) &&
	               (n == n_ending || host[n - n_ending - 1] == '.'));
}

static void request_check(struct asking *asking)
{
	struct MHD_Connection *connection = (struct MHD_Connection *)(void *)asking;
	const char *host = fake_lookup(connection, MHD_HEADER_KIND, "Host");
	const char *origin = fake_lookup(connection, MHD_HEADER_KIND, "Origin");
	if (!asking->is_answered || asking->status == 400 || asking->status == 403)
		return;
	FUZZ_REQUIRE(host && request_is_local(host));
	FUZZ_REQUIRE(
	        !origin || (strstr(origin, "://") && !strcasecmp(strstr(origin, "://") + 3, host)));
}

static void request_ask(
        struct asking *asking, const char *method, char *target, const char *body, size_t n_body)
{
	struct http *http = request_server->http;
	struct MHD_Connection *connection = (struct MHD_Connection *)(void *)asking;
	void *state = begin(http, target, connection);
	size_t none = 0, n = n_body;
	enum MHD_Result result =
	        handle(http, connection, "", method, "HTTP/1.1", NULL, &none, &state);
	if (result == MHD_YES && !asking->is_answered && n)
		result = handle(http, connection, "", method, "HTTP/1.1", body, &n, &state);
	/* whoever waits for news has waited long enough the second time */
	for (int i = 0; result == MHD_YES && !asking->is_answered && i < 3; i++) {
		result = handle(http, connection, "", method, "HTTP/1.1", NULL, &none, &state);
		struct exchange *exchange = state;
		if (!asking->is_answered)
			exchange->news_ms = 1;
		end_waiting(http, 1);
	}
	FUZZ_REQUIRE(asking->is_answered || result == MHD_NO);
	end(http, connection, &state, MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct asking asking = { .n_headers = 0 };
	if (!request_server)
		request_prepare();
	char *text = malloc(size + 1);
	FUZZ_REQUIRE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	char *rest = text, *method = request_line(&rest);
	char *target = method + strcspn(method, " ");
	target += *target ? 1 : 0;
	target[-(target > method)] = '\0';
	target[strcspn(target, " ")] = '\0';
	request_read_head(&asking, &rest);
	asking.size.header_size = (size_t)((rest ? rest : text + size) - text);
	/* what the web server would not hand on */
	if (*method && *target == '/') {
		request_ask(&asking, method, target, rest ? rest : "",
		        rest ? (size_t)(text + size - rest) : 0);
		request_check(&asking);
	}
	free(text);
	return 0;
}
