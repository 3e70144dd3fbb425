/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.c - terminal or not, how wide, and whether colour is welcome (https://no-color.org).
 */
#include "term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 100
#define MIN_WIDTH     40

static int width_of(int fd)
{
	struct winsize size;
	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return DEFAULT_WIDTH;
	return size.ws_col < MIN_WIDTH ? MIN_WIDTH : size.ws_col;
}

/* COLUMNS, which shells set for themselves and people export on purpose; 0 when it says nothing. */
static int said_width(void)
{
	const char *columns = getenv("COLUMNS");
	int width = 0;
	for (; columns != NULL && *columns >= '0' && *columns <= '9' && width < 10000; columns++)
		width = width * 10 + (*columns - '0');
	return width > 0 && width < MIN_WIDTH ? MIN_WIDTH : width;
}

void term_init(struct term *term, bool piped)
{
	const char *no_color = getenv("NO_COLOR");
	const char *kind = getenv("TERM");
	term->out_is_tty = !piped && isatty(STDOUT_FILENO) == 1;
	term->err_is_tty = !piped && isatty(STDERR_FILENO) == 1;
	term->color = term->out_is_tty && (no_color == NULL || no_color[0] == '\0') &&
	              kind != NULL && strcmp(kind, "dumb") != 0;
	int said = said_width();
	term->has_width = term->out_is_tty || said > 0;
	term->width = term->out_is_tty ? width_of(STDOUT_FILENO) : said > 0 ? said : DEFAULT_WIDTH;
	term->err_width = term->err_is_tty ? width_of(STDERR_FILENO) : DEFAULT_WIDTH;
}
