/*
 * output.c - a result on standard output, or in a file by way of a temporary one.
 *
 * A file is written beside its target and renamed at the end, so a reader never sees half of it and a
 * failure leaves the old one; a signal removes the temporary. Devices and pipes are written straight.
 */
#include "output.h"
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For the signal handler, which can take no argument. */
static char *volatile temporary_to_remove;

static void remove_temporary(int signal_number)
{
	if (temporary_to_remove != NULL)
		unlink(temporary_to_remove);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static int fail_to_write(struct output *output, int error)
{
	cli_say("%s: cannot write: %s", output->path != NULL ? output->path : "standard output",
	        strerror(error));
	return EXIT_LIMIT;
}

/* Permissions for a new file: those of the file it replaces, else what the umask leaves. */
static mode_t mode_for(const char *target)
{
	struct stat info;
	if (stat(target, &info) == 0)
		return info.st_mode & 07777;
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int open_temporary(struct output *output)
{
	size_t n = strlen(output->target) + sizeof(".XXXXXX");
	output->temporary = malloc(n);
	if (output->temporary == NULL)
		return cli_fail_nomem();
	snprintf(output->temporary, n, "%s.XXXXXX", output->target);
	int fd = mkstemp(output->temporary);
	if (fd < 0) {
		int error = errno;
		free(output->temporary);
		output->temporary = NULL;
		return fail_to_write(output, error);
	}
	temporary_to_remove = output->temporary;
	signal(SIGINT, remove_temporary);
	signal(SIGTERM, remove_temporary);
	signal(SIGHUP, remove_temporary);
	(void)fchmod(fd, mode_for(output->target));
	output->file = fdopen(fd, "wb");
	if (output->file == NULL) {
		close(fd);
		return cli_fail_nomem();
	}
	return EXIT_DONE;
}

int output_open(struct output *output, const char *path)
{
	*output = (struct output){ .file = stdout };
	if (path == NULL || strcmp(path, "-") == 0)
		return EXIT_DONE;
	output->path = path;
	output->file = NULL;
	struct stat info;
	bool exists = stat(path, &info) == 0;
	if (exists && !S_ISREG(info.st_mode)) {
		output->file = fopen(path, "wb");
		return output->file != NULL ? EXIT_DONE : fail_to_write(output, errno);
	}
	/* through a link to the file it points at, so that the link stays */
	output->target = exists ? realpath(path, NULL) : strdup(path);
	if (output->target == NULL)
		return cli_fail_nomem();
	int code = open_temporary(output);
	if (code != EXIT_DONE) {
		free(output->target);
		output->target = NULL;
	}
	return code;
}

int output_close(struct output *output, bool ok)
{
	int code = EXIT_DONE;
	if (output->file != NULL && fflush(output->file) != 0 && output->error == 0)
		output->error = errno;
	if (output->file != NULL && output->file != stdout && fclose(output->file) != 0 &&
	        output->error == 0)
		output->error = errno;
	if (ok && output->error == 0 && output->temporary != NULL &&
	        rename(output->temporary, output->target) != 0)
		output->error = errno;
	if (output->temporary != NULL && (!ok || output->error != 0))
		unlink(output->temporary);
	temporary_to_remove = NULL;
	if (ok && output->error != 0 && output->error != EPIPE)
		code = fail_to_write(output, output->error);
	free(output->temporary);
	free(output->target);
	*output = (struct output){ 0 };
	return code;
}

static bool write_bytes(void *user, const void *bytes, size_t n)
{
	struct output *output = user;
	if (output->error == 0 && fwrite(bytes, 1, n, output->file) != n)
		output->error = errno != 0 ? errno : EIO;
	return output->error == 0;
}

struct ht_sink output_sink(struct output *output)
{
	return (struct ht_sink){ .write = write_bytes, .user = output };
}

void output_print(struct output *output, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	if (output->error == 0 && vfprintf(output->file, format, list) < 0)
		output->error = errno != 0 ? errno : EIO;
	va_end(list);
}

void output_text(struct output *output, const char *text)
{
	write_bytes(output, text, strlen(text));
}

void output_json(struct output *output, const char *text)
{
	if (text == NULL) {
		output_text(output, "null");
		return;
	}
	output_text(output, "\"");
	for (const char *at = text; *at != '\0'; at++) {
		unsigned char byte = (unsigned char)*at;
		if (byte == '"' || byte == '\\')
			output_print(output, "\\%c", byte);
		else if (byte < 0x20)
			output_print(output, "\\u%04x", byte);
		else
			write_bytes(output, at, 1);
	}
	output_text(output, "\"");
}

void output_html(struct output *output, const char *text)
{
	for (const char *at = text; *at != '\0'; at++) {
		switch (*at) {
		case '&': output_text(output, "&amp;"); break;
		case '<': output_text(output, "&lt;"); break;
		case '>': output_text(output, "&gt;"); break;
		case '"': output_text(output, "&quot;"); break;
		default: write_bytes(output, at, 1);
		}
	}
}

/* Columns that n bytes of UTF-8 take: every byte but continuation bytes starts a character. */
static int columns_of(const char *text, size_t n)
{
	int columns = 0;
	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void output_wrapped(struct output *output, const char *text, int indent, int width)
{
	int column = indent;
	while (*text != '\0') {
		size_t n = strcspn(text, " \n");
		int columns = columns_of(text, n);
		if (column > indent && column + 1 + columns > width) {
			output_print(output, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			output_text(output, " ");
			column++;
		}
		write_bytes(output, text, n);
		column += columns;
		text += n;
		text += strspn(text, " \n");
	}
}
