/* SPDX-License-Identifier: Apache-2.0 */
/*
 * platform.h - what differs between operating systems, behind one name each.
 *
 * docs/design/portability.md lists every call that is not in POSIX, with its counterpart. HT_PORTABLE (meson
 * -Dportable=true) takes the counterparts on Linux too, so that they are tested there. tools/list_sources tells the sources
 * that ask for it or for HT_HAS_...: they alone are compiled otherwise then, and they alone see what is not in POSIX.
 */
#ifndef HT_BASE_PLATFORM_H
#define HT_BASE_PLATFORM_H

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__linux__) && !defined(HT_PORTABLE)
#define HT_HAS_MREMAP     1 /* blocks grow, and move into others, by their pages */
#define HT_HAS_HUGE_PAGES 1
#define HT_HAS_LEASES     1 /* a file may be mapped: the kernel says when others want to write to it */
#define HT_HAS_UNNAMED    1 /* a file may get its name when it is complete */
#else
#define HT_HAS_MREMAP     0
#define HT_HAS_HUGE_PAGES 0
#define HT_HAS_LEASES     0
#define HT_HAS_UNNAMED    0
#endif

/* Times of a file with nanoseconds. */
#ifdef __APPLE__
#define HT_STAT_MTIME(st) ((st)->st_mtimespec)
#define HT_STAT_ATIME(st) ((st)->st_atimespec)
#define HT_STAT_CTIME(st) ((st)->st_ctimespec)
#else
#define HT_STAT_MTIME(st) ((st)->st_mtim)
#define HT_STAT_ATIME(st) ((st)->st_atim)
#define HT_STAT_CTIME(st) ((st)->st_ctim)
#endif

static inline int64_t ht_stat_mtime_ns(const struct stat *st)
{
	return (int64_t)HT_STAT_MTIME(st).tv_sec * 1000000000 + HT_STAT_MTIME(st).tv_nsec;
}

/* strerror_r answers the text in glibc, and a status everywhere else. */
static inline const char *ht_errno_said(const char *said, const char *buf)
{
	(void)buf;
	return said;
}

static inline const char *ht_errno_written(int failed, const char *buf)
{
	return failed ? "unknown error" : buf;
}

/* The text of an errno value; it may be put into buf. */
static inline const char *ht_errno_text(int error, char *buf, size_t n)
{
	return _Generic(strerror_r(0, buf, 0), char *: ht_errno_said, int: ht_errno_written)(
	        strerror_r(error, buf, n), buf);
}

#endif
