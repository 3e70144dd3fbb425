/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_mcp.c - the Model Context Protocol over standard input and output: a message per line.
 *
 * Nothing else is written to standard output. A line that is longer than a message may be is read to its end and refused,
 * without being kept.
 */
#include "verbs.h"

#include "holotrace/mcp.h"
#include "holotrace/own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run_mcp(struct cli *cli);

static const struct opt own[] = {
	{ "logdir", 0, "DIR", NULL, ".", "directory of runs, as LOGDIR; may be given several times",
	        "Agents", false },
	{ "follow-links", 0, NULL, NULL, NULL, "also read files that links below LOGDIR lead to",
	        "Agents", false },
	{ "answer-size", 0, "SIZE", NULL, "20K", "how large one answer may be", "Agents", false },
	{ "request-time", 0, "SECONDS", NULL, "60", "how long one answer may take", "Agents",
	        false },
};

const struct verb command_mcp = {
	.name = "mcp",
	.usage = "[LOGDIR...]",
	.summary = "Answer agents: the Model Context Protocol over standard input and output",
	.text = "For programs that drive a language model, which start it: docs/agents.md tells how to add it to them. Only traces "
	        "below LOGDIR, the current directory when absent, can be seen, and nothing is written. It ends with its input.",
	.takes = TAKES_TRACES,
	.opts = own,
	.n_opts = COUNT(own),
	.run = run_mcp,
};

static bool write_out(void *user, const void *bytes, size_t n)
{
	(void)user;
	return fwrite(bytes, 1, n, stdout) == n && fflush(stdout) == 0;
}

/* A line being read; what does not fit is counted and not kept. */
struct line {
	char *bytes;
	size_t n;
};

/* Take over what belongs to the line; the bytes up to the newline, or all. */
static void add(struct line *line, const char *bytes, size_t n)
{
	size_t room = HT_MCP_MAX_MESSAGE + 1 - line->n;
	size_t n_kept = n < room ? n : room;
	memcpy(line->bytes + line->n, bytes, n_kept);
	line->n += n_kept;
}

static enum ht_status take_line(ht_mcp *mcp, struct line *line)
{
	size_t n = line->n;
	line->n = 0;
	while (n > 0 && strchr(" \t\r", line->bytes[n - 1]) != NULL)
		n--;
	return n > 0 ? ht_mcp_take(mcp, line->bytes, n) : HT_OK;
}

/* Until the input ends, or nobody reads the answers. */
static enum ht_status read_lines(ht_mcp *mcp, struct line *line)
{
	char buffer[1 << 14];
	enum ht_status status = HT_OK;
	while (status == HT_OK) {
		ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		for (const char *at = buffer, *end = buffer + n; at < end && status == HT_OK;) {
			const char *newline = memchr(at, '\n', (size_t)(end - at));
			add(line, at, (size_t)((newline != NULL ? newline : end) - at));
			if (newline != NULL)
				status = take_line(mcp, line);
			at = newline != NULL ? newline + 1 : end;
		}
	}
	return status == HT_OK ? take_line(mcp, line) : status;
}

static int fill_options(
        struct cli *cli, struct ht_mcp_options *options, struct ht_open_options *open)
{
	const struct opts *opts = &cli->opts;
	const char *size = opts_value(opts, "answer-size"),
	           *time = opts_value(opts, "request-time");
	uint64_t seconds = 60;
	options->struct_size = sizeof(*options);
	options->out = (struct ht_sink){ write_out, NULL };
	options->follow_links = opts_flag(opts, "follow-links");
	if (size != NULL &&
	        (!ht_size_parse(size, &options->answer_bytes) || options->answer_bytes < 4096 ||
	                options->answer_bytes > 1 << 30)) {
		cli_say("--answer-size cannot be '%s'. It is a size from 4K to 1G", size);
		return EXIT_USAGE;
	}
	if (time != NULL && (!parse_count(time, &seconds) || seconds == 0 || seconds > 86400)) {
		cli_say("--request-time cannot be '%s'. It is a number of seconds up to 86400",
		        time);
		return EXIT_USAGE;
	}
	options->request_ms = (uint32_t)seconds * 1000;
	options->open = open;
	return session_reading(cli, open, &options->read_bytes);
}

static int serve_input(struct cli *cli, const struct ht_mcp_options *options)
{
	struct line line = { .bytes = malloc(HT_MCP_MAX_MESSAGE + 2) };
	ht_mcp *mcp = NULL;
	if (line.bytes == NULL)
		return cli_fail_nomem();
	enum ht_status status = ht_mcp_open(cli->ctx, options, &mcp);
	if (status == HT_OK)
		status = read_lines(mcp, &line);
	int code = mcp == NULL ? cli_fail(cli) : status == HT_NOMEM ? EXIT_LIMIT : EXIT_DONE;
	ht_mcp_close(mcp, status != HT_OK);
	free(line.bytes);
	return code;
}

static int run_mcp(struct cli *cli)
{
	const struct opts *opts = &cli->opts;
	struct ht_mcp_options options = { .n_sources = 0 };
	struct ht_open_options open;
	const char **sources = calloc(opts->n_args + OPTS_GIVEN_MAX + 1, sizeof(*sources));
	if (sources == NULL)
		return cli_fail_nomem();
	size_t n = opts_values(opts, "logdir", sources, OPTS_GIVEN_MAX);
	for (size_t i = 0; i < opts->n_args; i++)
		sources[n++] = opts->args[i];
	if (n == 0)
		sources[n++] = ".";
	options.sources = sources;
	options.n_sources = n;
	int code = EXIT_DONE;
	for (size_t i = 0; i < n && code == EXIT_DONE; i++)
		if (access(sources[i], F_OK) != 0) {
			cli_say("%s: cannot open: %s", sources[i], strerror(errno));
			code = EXIT_INPUT;
		}
	if (code == EXIT_DONE)
		code = fill_options(cli, &options, &open);
	if (code == EXIT_DONE)
		code = session_start(cli);
	if (code == EXIT_DONE)
		code = serve_input(cli, &options);
	session_end(cli);
	free(sources);
	return code;
}
