/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - the progress line: what, how far, at what rate, how much longer.
 *
 * It appears after one second, so that quick runs stay silent, and it is removed before anything else
 * is written. Amounts are bytes. Rate and time left are those of the present phase: the library names
 * the phase, and an amount that runs backwards begins a new one.
 */
#include "progress.h"
#include "interrupt.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define DELAY_NS    INT64_C(1000000000)
#define INTERVAL_NS INT64_C(100000000)

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void progress_init(struct progress *progress, bool enabled, int width)
{
	*progress = (struct progress){ .enabled = enabled, .width = width, .begun_ns = now_ns() };
}

/* "1.23 GB" into text. */
static void format_bytes(char *text, size_t n, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;
	while (bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1000;
		unit++;
	}
	int decimals = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
	snprintf(text, n, "%.*f %s", decimals, bytes, units[unit]);
}

static void draw(struct progress *progress, uint64_t done, uint64_t total, int64_t now)
{
	char so_far[32], whole[32], rate[32], line[320];
	double seconds = (double)(now - progress->phase_ns) / 1e9;
	double per_second = seconds > 0.05 ? (double)(done - progress->phase_done) / seconds : 0;
	format_bytes(so_far, sizeof(so_far), (double)done);
	format_bytes(whole, sizeof(whole), (double)total);
	format_bytes(rate, sizeof(rate), per_second);
	int n = snprintf(line, sizeof(line), "%s  %s", progress->what, so_far);
	if (total > 0)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " of %s  %.0f %%", whole,
		        100.0 * (double)done / (double)total);
	if (per_second > 0)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "  %s/s", rate);
	if (per_second > 0 && total > done)
		snprintf(line + n, sizeof(line) - (size_t)n, "  %.0f s left",
		        (double)(total - done) / per_second);
	fprintf(stderr, "\r\033[K%.*s", progress->width - 1, line);
	fflush(stderr);
}

bool progress_update(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct progress *progress = user;
	if (interrupt_pending())
		return false;
	if (!progress->enabled)
		return true;
	int64_t now = now_ns();
	if (strncmp(progress->what, what, sizeof(progress->what) - 1) != 0 ||
	        done < progress->phase_done) {
		snprintf(progress->what, sizeof(progress->what), "%s", what);
		progress->phase_ns = now;
		progress->phase_done = done;
	}
	if (now - progress->begun_ns < DELAY_NS || now - progress->drawn_ns < INTERVAL_NS)
		return true;
	draw(progress, done, total, now);
	progress->drawn_ns = now;
	progress->shown = true;
	return true;
}

void progress_clear(struct progress *progress)
{
	if (!progress->shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->shown = false;
}
