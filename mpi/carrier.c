/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carrier.c - the process that speaks MPI: requests go down a tree, answers come up, parts merged on the way.
 *
 *     0 ─┬─ 1 ─┬─ 5           every carrier has up to FANOUT below it; requests start at 0,
 *        ├─ 2  ├─ 6           answers end there
 *        ├─ 3  ├─ 7
 *        └─ 4  └─ 8
 *
 * It never computes, so it can always say that it is there (a beat each second), and whoever hears nothing from a
 * neighbour for the timeout takes it for dead and ends the run: MPI itself cannot go on without a process. A dead
 * worker is only an item in the answer. All calls are such that return at once, with naps between them: a carrier
 * that waits must not cost the workers a core.
 */
#include "team.h"

#include <mpi.h>

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FANOUT     16
#define MAX_PIECE  ((size_t)1 << 28)
#define BEAT_S     1.0
#define FAREWELL_S 5.0
/* for a launcher to pass a line on before it is told to end everything */
#define LAST_WORDS_NS 300000000
#define SHORT_NAPS    8 /* before the longer ones, of a millisecond */
/* MPI moves bytes only while it is called, a piece at a time: no nap until so slow a transfer would be through. */
#define BUSY_S       0.001
#define BUSY_BYTES_S 50e6
#define NEIGHBOURS   (FANOUT + 1)

enum { TAG_HEAD = 1, TAG_BODY };

/* Bytes on their way; freed when they have left. */
struct sending {
	struct sending *next;
	MPI_Request request;
	double busy_s; /* until then they are hurried */
	char bytes[];
};

struct neighbour {
	int rank;
	double heard_s;
	bool owes; /* an answer */
	bool left; /* nothing more will come */
};

struct carrier {
	int fd, worker;
	struct seat seat;
	uint64_t *nodes; /* of each process the machine; NULL when the worker has it */
	int board;
	double timeout_s;
	struct timing timing;
	struct neighbour
	        around[NEIGHBOURS]; /* the one above first, when there is one, then those below */
	size_t n_around, i_below;
	struct sending *sendings;
	double busy_s; /* the last busy_s of those */
	double beat_s;
	enum kind asked; /* 0: nothing is */
	bool worker_owes;
	char why_dead[64]; /* of the worker, "" while it lives */
	struct wire answers;
	ht_ctx *ctx; /* for merging; NULL until then */
	bool quits;  /* nothing more is asked */
	int code;
};

static double now_s(void)
{
	return timing_now().wall_s;
}

static void nap(void)
{
	const struct timespec time = { 0, 200000 };
	nanosleep(&time, NULL);
}

static double busy_until(size_t n_bytes)
{
	return now_s() + BUSY_S + (double)n_bytes / BUSY_BYTES_S;
}

/* Let others run, but come back at once, or later when it takes longer than it should. */
static void wait_bytes(double busy_s)
{
	if (now_s() < busy_s)
		sched_yield();
	else
		nap();
}

/* End the whole run: nobody may wait for who is gone. */
static void end_all(const struct carrier *c, const char *who, int rank, const char *what)
{
	char text[256];
	int n = snprintf(
	        text, sizeof(text), "holotrace: %s %d %s; the run ends\n", who, rank, what);
	if (write(STDERR_FILENO, text, (size_t)n) < 0) {
		/* nobody is there to be told */
	}
	kill(c->worker, SIGKILL);
	/* launchers that are told of the end at once drop what they have not passed on */
	nanosleep(&(struct timespec){ 0, LAST_WORDS_NS }, NULL);
	MPI_Abort(MPI_COMM_WORLD, EXIT_LIMIT);
	_exit(EXIT_LIMIT);
}

/* ---- bytes ---- */

static void send_bytes(struct carrier *c, int rank, int tag, const void *bytes, size_t n)
{
	struct sending *sending = malloc(sizeof(*sending) + n);
	if (sending == NULL)
		end_all(c, "process", (int)c->seat.id, "is out of memory");
	else {
		memcpy(sending->bytes, bytes, n);
		sending->next = c->sendings;
		sending->busy_s = busy_until(n);
		c->busy_s = sending->busy_s > c->busy_s ? sending->busy_s : c->busy_s;
		c->sendings = sending;
		if (MPI_Isend(sending->bytes, (int)n, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
		            &sending->request) != MPI_SUCCESS)
			end_all(c, "process", rank, "cannot be reached");
	}
}

static void send_frame(struct carrier *c, int rank, enum kind kind, const char *bytes, size_t n)
{
	uint64_t head[2] = { kind, n };
	send_bytes(c, rank, TAG_HEAD, head, sizeof(head));
	for (size_t at = 0; at < n; at += MAX_PIECE)
		send_bytes(c, rank, TAG_BODY, bytes + at, n - at < MAX_PIECE ? n - at : MAX_PIECE);
}

/* Let go of what has left; true when nothing is on its way. */
static bool tidy(struct carrier *c)
{
	for (struct sending **at = &c->sendings; *at != NULL;) {
		struct sending *sending = *at;
		int done = 0;
		MPI_Test(&sending->request, &done, MPI_STATUS_IGNORE);
		if (!done) {
			at = &sending->next;
			continue;
		}
		*at = sending->next;
		free(sending);
	}
	return c->sendings == NULL;
}

/* Wait for bytes that were announced. */
static void receive_bytes(struct carrier *c, int rank, int tag, char *bytes, size_t n)
{
	MPI_Request request;
	int done = 0;
	double since = now_s(), busy_s = busy_until(n);
	if (MPI_Irecv(bytes, (int)n, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		end_all(c, "process", rank, "cannot be heard");
	while (!done) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		(void)tidy(c);
		if (!done && now_s() - since > c->timeout_s)
			end_all(c, "process", rank, "went silent");
		if (!done)
			wait_bytes(busy_s);
	}
}

/* ---- requests and answers ---- */

static void put_dead(struct carrier *c)
{
	struct item item = { c->seat.id, c->seat.node, ITEM_DEAD, c->why_dead,
		strlen(c->why_dead) };
	item_put(&c->answers, &item);
}

static void begin(struct carrier *c, enum kind kind, const char *bytes, size_t n)
{
	c->asked = kind;
	for (size_t i = c->i_below; i < c->n_around; i++) {
		send_frame(c, c->around[i].rank, kind, bytes, n);
		c->around[i].owes = true;
		c->around[i].heard_s = now_s();
	}
	/* the leader answers for itself */
	c->worker_owes = c->seat.id != 0 && c->why_dead[0] == '\0';
	if (c->why_dead[0] != '\0')
		put_dead(c);
	if (c->worker_owes)
		(void)frame_send(
		        c->fd, kind, bytes, n); /* when it is gone, its end of the socket tells */
}

/* One item of all that hold parts; the others as they are. */
static enum ht_status merge_items(struct carrier *c, ht_bundle **all, struct wire *merged)
{
	struct wire_in in = { c->answers.bytes, c->answers.n, false };
	struct item item;
	while (item_get(&in, &item)) {
		ht_bundle *bundle = NULL;
		if (item.state != ITEM_OK) {
			item_put(merged, &item);
			continue;
		}
		enum ht_status status = ht_bundle_read(c->ctx, item.bytes, item.n, &bundle);
		if (status == HT_OK && *all == NULL) {
			*all = bundle;
			continue;
		}
		if (status == HT_OK)
			status = ht_bundle_merge(c->ctx, *all, bundle);
		ht_bundle_free(bundle);
		if (status != HT_OK)
			return status;
	}
	return HT_OK;
}

static void merge(struct carrier *c)
{
	struct wire merged = { 0 }, bytes = { 0 };
	struct ht_sink sink = { wire_write, &bytes };
	struct item item = { c->seat.id, c->seat.node, ITEM_OK, NULL, 0 };
	ht_bundle *all = NULL;
	if (c->ctx == NULL && ht_ctx_new(&c->ctx) != HT_OK)
		return; /* they go up as they are */
	enum ht_status status = merge_items(c, &all, &merged);
	if (status == HT_OK && all != NULL)
		status = ht_bundle_write(c->ctx, all, &sink);
	if (status != HT_OK) {
		item.state = ITEM_ERROR;
		bytes.n = 0;
		error_put(&bytes, ht_error(c->ctx));
	}
	item.bytes = bytes.bytes;
	item.n = bytes.n;
	if (all != NULL || status != HT_OK)
		item_put(&merged, &item);
	ht_bundle_free(all);
	wire_free(&bytes);
	if (merged.failed) {
		wire_free(&merged);
		return;
	}
	wire_free(&c->answers);
	c->answers = merged;
}

/* When all have answered, so does this process. */
static void answer(struct carrier *c)
{
	bool owed = c->worker_owes;
	for (size_t i = c->i_below; i < c->n_around; i++)
		owed = owed || c->around[i].owes;
	if (c->asked == 0 || owed)
		return;
	struct moment since = timing_now();
	/* the leader merges what comes to it anyway */
	if (c->asked == KIND_MAKE && c->seat.id != 0 && c->n_around > c->i_below)
		merge(c);
	timing_add(&c->timing, PHASE_MERGE, since);
	if (c->answers.failed)
		end_all(c, "process", (int)c->seat.id, "is out of memory");
	if (c->seat.id == 0)
		(void)frame_send(c->fd, KIND_ANSWER, c->answers.bytes, c->answers.n);
	else
		send_frame(c, c->around[0].rank, KIND_ANSWER, c->answers.bytes, c->answers.n);
	wire_free(&c->answers);
	c->asked = 0;
}

static void quit(struct carrier *c, int code)
{
	uint64_t bytes = (uint64_t)code;
	for (size_t i = c->i_below; i < c->n_around; i++)
		send_frame(c, c->around[i].rank, KIND_QUIT, (const char *)&bytes, sizeof(bytes));
	c->quits = true;
	c->code = code;
}

/* ---- events ---- */

static void bury_worker(struct carrier *c)
{
	int status = 0;
	c->worker_owes = false;
	if (waitpid(c->worker, &status, 0) == c->worker && WIFSIGNALED(status))
		snprintf(c->why_dead, sizeof(c->why_dead), "was killed by signal %d",
		        WTERMSIG(status));
	else
		snprintf(c->why_dead, sizeof(c->why_dead), "ended by itself");
	if (c->seat.id == 0)
		end_all(c, "process", 0, c->why_dead);
	if (c->asked != 0)
		put_dead(c);
}

static void hear_worker(struct carrier *c)
{
	uint64_t kind;
	struct wire bytes;
	if (!frame_receive(c->fd, &kind, &bytes)) {
		bury_worker(c);
		return;
	}
	if (kind == KIND_QUIT)
		quit(c, (int)*(const uint64_t *)(const void *)bytes.bytes);
	else if (kind == KIND_ANSWER) {
		wire_put(&c->answers, bytes.bytes, bytes.n);
		c->worker_owes = false;
	} else {
		begin(c, (enum kind)kind, bytes.bytes, bytes.n);
	}
	wire_free(&bytes);
}

static struct neighbour *find(struct carrier *c, int rank)
{
	for (size_t i = 0; i < c->n_around; i++)
		if (c->around[i].rank == rank)
			return &c->around[i];
	return NULL;
}

static void hear(struct carrier *c, int rank)
{
	uint64_t head[2];
	struct neighbour *who = find(c, rank);
	receive_bytes(c, rank, TAG_HEAD, (char *)head, sizeof(head));
	char *bytes = malloc(head[1] + 1);
	if (bytes == NULL)
		end_all(c, "process", (int)c->seat.id, "is out of memory");
	for (size_t at = 0; at < head[1]; at += MAX_PIECE)
		receive_bytes(c, rank, TAG_BODY, bytes + at,
		        head[1] - at < MAX_PIECE ? head[1] - at : MAX_PIECE);
	if (who != NULL)
		who->heard_s = now_s();
	if (head[0] == KIND_BYE && who != NULL) {
		who->left = true;
	} else if (head[0] == KIND_ANSWER) {
		wire_put(&c->answers, bytes, head[1]);
		if (who != NULL)
			who->owes = false;
	} else if (head[0] == KIND_QUIT) {
		quit(c, EXIT_DONE);
	} else if (head[0] != KIND_BEAT) {
		begin(c, (enum kind)head[0], bytes, head[1]);
	}
	free(bytes);
}

static void beat(struct carrier *c)
{
	double now = now_s();
	for (size_t i = c->quits ? c->i_below : 0; i < c->n_around; i++)
		if (!c->around[i].left && now - c->around[i].heard_s > c->timeout_s)
			end_all(c, "process", c->around[i].rank, "is not heard of any more");
	if (c->quits || now - c->beat_s < BEAT_S)
		return;
	c->beat_s = now;
	for (size_t i = 0; i < c->n_around; i++)
		send_frame(c, c->around[i].rank, KIND_BEAT, NULL, 0);
}

/* Every message must be received before MPI ends: after what is asked last, all below say that they are done. */
static bool is_over(const struct carrier *c)
{
	bool over = c->quits;
	for (size_t i = c->i_below; i < c->n_around; i++)
		over = over && c->around[i].left;
	return over;
}

static void serve(struct carrier *c)
{
	int n_idle = 0;
	while (!is_over(c)) {
		int there = 0;
		MPI_Status status;
		MPI_Iprobe(MPI_ANY_SOURCE, TAG_HEAD, MPI_COMM_WORLD, &there, &status);
		if (there)
			hear(c, status.MPI_SOURCE);
		bool lives = c->why_dead[0] == '\0' && !c->quits;
		struct pollfd event = { .fd = lives ? c->fd : -1, .events = POLLIN };
		bool busy = there || (!tidy(c) && now_s() < c->busy_s);
		/* short naps at first, then longer ones: a request is often followed by the next */
		bool heard = poll(&event, 1, !busy && n_idle >= SHORT_NAPS) > 0;
		if (heard)
			hear_worker(c);
		n_idle = busy || heard ? 0 : n_idle + 1;
		if (busy)
			sched_yield();
		else if (n_idle < SHORT_NAPS)
			nap();
		answer(c);
		beat(c);
	}
}

/* ---- seats ---- */

/* What tells processes that share a machine, and those that share its processors. */
struct place {
	char host[128];
	uint64_t processors; /* a hash of the set that the process may use */
	uint64_t n_processors;
	char board[BOARD_LETTER]; /* the name of the one it made */
};

static struct place find_place(void)
{
	struct place place = { .n_processors = 1 };
	int n = 0;
	char name[MPI_MAX_PROCESSOR_NAME];
	/* for trying out several machines on one */
	const char *said = getenv("HOLOTRACE_MPI_NODE");
	MPI_Get_processor_name(name, &n);
	snprintf(place.host, sizeof(place.host), "%.*s", (int)sizeof(place.host) - 1,
	        said != NULL ? said : name);
#ifdef __linux__
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0) {
		place.n_processors = (uint64_t)CPU_COUNT(&set);
		for (size_t i = 0; i < sizeof(set); i++)
			place.processors =
			        place.processors * 1099511628211u + ((unsigned char *)&set)[i];
	}
#else
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	place.n_processors = online > 0 ? (uint64_t)online : 1;
#endif
	return place;
}

/* Of every process the first one of its machine. */
static void find_nodes(struct carrier *c, const struct place *all, int n)
{
	for (int i = 0; i < n; i++) {
		int first = 0;
		while (strcmp(all[first].host, all[i].host) != 0)
			first++;
		c->nodes[i] = (uint64_t)first;
	}
}

/* Open the board of the machine. All have one, or nobody does: files are dealt for all of them alike. */
static void share_board(struct carrier *c, const char *name)
{
	c->board = board_open(name);
	int has = c->board >= 0, all_have = 0;
	MPI_Allreduce(&has, &all_have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	c->seat.has_board = all_have;
}

/* Tell the worker who it is: the seat, the nodes, the board. */
static bool send_seat(struct carrier *c)
{
	struct wire bytes = { 0 };
	wire_put(&bytes, &c->seat, sizeof(c->seat));
	wire_put(&bytes, c->nodes, c->seat.n * sizeof(*c->nodes));
	bool sent = !bytes.failed && frame_send(c->fd, KIND_SEAT, bytes.bytes, bytes.n) &&
	            descriptor_send(c->fd, c->seat.has_board ? c->board : -1);
	wire_free(&bytes);
	free(c->nodes);
	c->nodes = NULL;
	if (c->board >= 0)
		close(c->board);
	return sent;
}

static void take_seat(struct carrier *c, bool local)
{
	int rank, n;
	struct place own = find_place();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	struct place *all = calloc((size_t)n, sizeof(*all));
	c->nodes = calloc((size_t)n, sizeof(*c->nodes));
	c->seat = (struct seat){ .id = (size_t)rank, .n = (size_t)n, .local = local };
	if (all == NULL || c->nodes == NULL)
		end_all(c, "process", rank, "is out of memory");
	int made = board_make(own.board);
	MPI_Allgather(&own, sizeof(own), MPI_BYTE, all, sizeof(own), MPI_BYTE, MPI_COMM_WORLD);
	uint64_t n_sharing = 0;
	int first = rank;
	for (int i = n; i-- > 0;) {
		if (strcmp(all[i].host, own.host) != 0)
			continue;
		n_sharing += all[i].processors == own.processors;
		c->seat.i_local += i < rank;
		first = i;
	}
	c->seat.node = (size_t)first;
	uint64_t n_jobs = own.n_processors / (n_sharing > 0 ? n_sharing : 1);
	c->seat.n_jobs = n_jobs > 0 ? (int)n_jobs : 1;
	find_nodes(c, all, n);
	share_board(c, all[first].board);
	if (made >= 0)
		close(made);
	board_forget(own.board);
	free(all);
}

static void find_neighbours(struct carrier *c)
{
	double now = now_s();
	size_t id = c->seat.id;
	if (id > 0)
		c->around[c->n_around++] =
		        (struct neighbour){ .rank = (int)((id - 1) / FANOUT), .heard_s = now };
	c->i_below = c->n_around;
	for (size_t below = id * FANOUT + 1; below <= id * FANOUT + FANOUT && below < c->seat.n;
	        below++)
		c->around[c->n_around++] = (struct neighbour){ .rank = (int)below, .heard_s = now };
}

/* The launcher ends a run in which a process died; that is not always said by it. */
static void on_term(int number)
{
	static const char text[] =
	        "holotrace: the run was ended from outside, as launchers do when one "
	        "of its processes dies\n";
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
		/* nobody is there to be told */
	}
	(void)number;
	_exit(EXIT_LIMIT);
}

/* Who must go with this process when it gives up. */
static volatile sig_atomic_t watched_worker;

static void on_alarm(int number)
{
	static const char text[] =
	        "holotrace: the processes do not come together: one of them hangs, or "
	        "the launcher does; the run ends\n";
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
		/* nobody is there to be told */
	}
	(void)number;
	kill((pid_t)watched_worker, SIGKILL);
	_exit(EXIT_LIMIT);
}

/* At its start and its end MPI waits for all processes, and cannot be asked to do so for a while only. 0: all is
 * well again. */
static void watch(double timeout_s)
{
	signal(SIGALRM, on_alarm);
	alarm(timeout_s < 1e6 ? (unsigned)timeout_s : 1000000);
}

#ifdef OPEN_MPI
static bool has_entry(const char *path)
{
	DIR *dir = opendir(path);
	bool has = false;
	for (const struct dirent *entry; dir != NULL && !has && (entry = readdir(dir)) != NULL;)
		has = entry->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return has;
}

/* To find that there is no fast network, Open MPI loads the libraries of all of them, and some sleep for a fifth of a
 * second to measure clocks. Where none can be, it is told what it would choose in the end, unless somebody has
 * told it something already. */
static void spare_fabrics(void)
{
	static const char *const said[] = { "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_btl" };
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (getenv(said[i]) != NULL)
			return;
	if (!has_entry("/sys/class/infiniband") && !has_entry("/sys/class/cxi") &&
	        access("/dev/kgni0", F_OK) != 0 && access("/dev/bxi0", F_OK) != 0)
		(void)setenv("OMPI_MCA_pml", "ob1", 0);
}
#else
static void spare_fabrics(void) {}
#endif

/* What the process ends with. */
static volatile sig_atomic_t last_code;

static void on_crash(int number)
{
	(void)number;
	_exit((int)last_code);
}

/* All has been said and written by now. Threads of Open MPI 4 sometimes, of a thousand runs in one, touch what its end has torn
 * down already (open-mpi/ompi#10117): that makes no failure of a run that has its result. */
static void end_mpi(int code)
{
	last_code = code;
	signal(SIGSEGV, on_crash);
	signal(SIGBUS, on_crash);
	MPI_Finalize();
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
}

int carrier_run(int fd, int worker, const struct launch *launch)
{
	struct carrier c = { .fd = fd, .worker = worker, .timeout_s = launch->timeout_s };
	c.timing.began = timing_now();
	watched_worker = worker;
	spare_fabrics();
	watch(launch->timeout_s);
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS) {
		cli_say("MPI does not start");
		kill(worker, SIGKILL);
		return EXIT_LIMIT;
	}
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	bool met = hello_is_met();
	if (!met || !hello_is_same()) {
		kill(worker, SIGKILL);
		(void)waitpid(worker, NULL, 0);
		int code = met ? EXIT_INPUT : EXIT_USAGE;
		end_mpi(code);
		return code;
	}
	take_seat(&c, launch->local);
	watch(0);
	timing_add(&c.timing, PHASE_START, c.timing.began);
	if (c.seat.id == 0)
		signal(SIGTERM, on_term);
	find_neighbours(&c);
	if (!send_seat(&c))
		bury_worker(&c);
	serve(&c);
	struct moment over = timing_now();
	if (c.seat.id != 0)
		send_frame(&c, c.around[0].rank, KIND_BYE, NULL, 0);
	if (c.why_dead[0] == '\0') {
		(void)frame_send(fd, KIND_QUIT, NULL, 0);
		(void)waitpid(worker, NULL, 0);
	}
	for (double since = now_s(); !tidy(&c) && now_s() - since < FAREWELL_S;)
		nap();
	if (c.ctx != NULL)
		ht_ctx_free(c.ctx);
	watch(launch->timeout_s);
	end_mpi(c.code);
	watch(0);
	timing_add(&c.timing, PHASE_END, over);
	if (launch->timings)
		timing_say(&c.timing, c.seat.id, "carries");
	return c.code;
}
