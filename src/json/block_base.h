/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_base.h - block.h with the instructions that every processor of the architecture has: for code that is
 * built once and chooses nothing at run time.
 */
#ifndef HT_JSON_BLOCK_BASE_H
#define HT_JSON_BLOCK_BASE_H

#if defined(__SSE2__)
#define HT_SIMD_SSE2
#elif defined(__aarch64__)
#define HT_SIMD_NEON
#endif
#include "json/block.h"

#endif
