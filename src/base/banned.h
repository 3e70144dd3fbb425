/* SPDX-License-Identifier: Apache-2.0 */
/*
 * banned.h - functions that must not be used, as compile errors.
 *
 * Given to the compiler with -include for the library's and the program's own files, before anything
 * else. A poisoned name is an error wherever it appears, also in a system header read later; so the
 * headers that declare these names come first here, and their guards keep them from being read again.
 */
#ifndef HT_BASE_BANNED_H
#define HT_BASE_BANNED_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* Write past the end of a buffer. */
#pragma GCC poison strcpy strcat sprintf vsprintf gets strncat
/* Leave a buffer without its end. */
#pragma GCC poison strncpy stpncpy
/* Answer 0 for nonsense. */
#pragma GCC poison atoi atol atoll atof
/* Keep hidden state that threads share. */
#pragma GCC poison strtok rand srand asctime ctime gmtime localtime
/* Run a shell, or race for a name. */
#pragma GCC poison system popen tmpnam tempnam mktemp

/* Are younger than the C library that wheels are for (glibc 2.17, tools/dist): nothing else compiles against that with every change. */
#ifndef HT_PORTABLE
#pragma GCC poison getentropy getrandom explicit_bzero copy_file_range gettid close_range
#endif

/* The library answers with a status: it neither ends the process, prints, nor reads settings. */
#ifdef HT_LIBRARY
#pragma GCC poison abort exit _exit _Exit quick_exit atexit
#pragma GCC poison puts putchar perror
#pragma GCC poison getenv secure_getenv setenv putenv unsetenv
#endif

#endif
