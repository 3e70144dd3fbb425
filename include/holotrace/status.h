/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - what calls answer: the one part that holotrace.h and holotrace-record.h share.
 */
#ifndef HOLOTRACE_STATUS_H
#define HOLOTRACE_STATUS_H

#if defined(__GNUC__)
#define HT_MUST_USE __attribute__((warn_unused_result))
#else
#define HT_MUST_USE
#endif

/* What a call can answer. The CLI maps these to exit codes in one place. */
enum ht_status {
	HT_OK = 0,
	HT_NOMEM,     /* out of memory */
	HT_IO,        /* the operating system refused to read or write */
	HT_FORMAT,    /* the bytes are not what they should be */
	HT_LIMIT,     /* an explicit limit was reached; the message has the number */
	HT_USAGE,     /* the caller asked for something that does not exist */
	HT_MISSING,   /* the trace lacks what is needed */
	HT_CANCELLED, /* the progress callback said stop */
	HT_INTERNAL,  /* the library contradicts itself, a bug of it; the message says where */
};

#endif
