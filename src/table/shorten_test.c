/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten_test.c - long names in few columns, and mangled ones as they were written.
 */
#include "base/status.h"
#include "base/utf8.h"
#include "table/demangle.h"
#include "table/shorten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_shorten(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t width;
		const char *want;
	} cases[] = {
		{ "gemm", 10, "gemm" },
		{ "void gemm()", 8, "gemm()" },
		{ "void k<4, F<float>, A<char*, 3ul> >(int, F<float>)", 40,
		        "k<4, F<float>, A<char*, 3ul> >(…)" },
		{ "void k<4, Fun<float>, A<char*, 3ul> >(int, F<float>)", 25,
		        "k<4, Fun<…>, A<…> >" },
		{ "void k<4, Fun<float>, A<char*, 3ul> >(int, F<float>)", 14, "k…Fun" },
		{ "void kernel<4, float>(int, F<float>)", 10, "kernel<…>" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
		  "<float>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>)",
		        28, "vectorized_e…CUDAFunctor_add" },
		{ "Memcpy HtoD (Pinned -> Device)", 20, "Memcpy HtoD… Device)" },
		{ "nn.Module: Block (blocks.1)", 30, "nn.Module: Block (blocks.1)" },
		{ "abcdefghij", 5, "ab…ij" },
		{ "abcdefghij", 1, "…" },
		{ "abcdefghij", 2, "…j" },
		{ "éééééééééé", 5, "éé…éé" },
		{ "a<b<c", 3, "a…c" },
		{ "éééééééééé<Functor<x>>(naïve argument)", 13, "ééééé…Functor" },
		{ "f::(anonymous namespace)::g(long arguments here)", 30,
		        "f::(anonymous namespace)::g(…)" },
		{ "f::(anonymous namespace)::g(long arguments here)", 20, "g(…)" },
		{ "x::operator<<(std::ostream&, y)", 20, "x::operator<<(…)" },
		{ "train.py(3): f;aten::linear;aten::mm", 36,
		        "train.py(3): f;aten::linear;aten::mm" },
		{ "train.py(3): f;aten::linear;aten::mm", 35, "…aten::linear;aten::mm" },
		{ "train.py(3): f;aten::linear;aten::mm", 20, "…aten::mm" },
		{ "train.py(3): f;aten::linear;abcdefghij", 6, "…ab…ij" },
		{ "a;abcdefghij", 5, "a;…ij" },
		{ "<built-in method apply of FunctionMeta object at 0x7f>", 21,
		        "<built-in me…at 0x7f>" },
		{ "model/layers.py(511): <listcomp>", 20, "model/layer…istcomp>" },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		char buf[256];
		size_t n = ht_shorten(cases[i].text, strlen(cases[i].text), cases[i].width, buf);
		buf[n] = '\0';
		assert_string_equal(buf, cases[i].want);
	}
}

/* Of stacks that begin with the innermost name it stays, as the last one of others does. */
static void test_stacks_of_both_orders(void **state)
{
	(void)state;
	static const char stack[] = "aten::mm;aten::linear;train.py(3): f";
	static const struct {
		const char *unit;
		size_t width;
		const char *want;
	} cases[] = {
		{ NULL, 36, stack },
		{ NULL, 20, "…train.py(3): f" },
		{ "ns", 20, "…train.py(3): f" },
		{ HT_UNIT_INNERMOST_FIRST, 36, stack },
		{ HT_UNIT_INNERMOST_FIRST, 20, "aten::mm;aten::line…" },
		{ HT_UNIT_INNERMOST_FIRST, 1, "…" },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		char buf[64];
		size_t n =
		        ht_shorten_cell(cases[i].unit, stack, strlen(stack), cases[i].width, buf);
		buf[n] = '\0';
		assert_string_equal(buf, cases[i].want);
	}
}

static void test_demangle(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "_Z4gemmPfS_", "gemm" },
		{ "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPc"
		  "Lm3EEEEviT0_T1_",
		        "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, "
		        "std::array<char*, 3>>" },
		{ "_ZN12_GLOBAL__N_11kILb1ELin2EEEvv", "(anonymous namespace)::k<true, -2>" },
		/* references, packs, enumerators, functions, types of 16 bits; what a type is inside of is said where it has arguments */
		{ "_ZN7ck_tile6kentryILi256E9TransposeIDF16_Lb1EEJPKDF16_PDF16_iiEEEvDpT1_",
		        "ck_tile::kentry<256, Transpose<_Float16, true>, _Float16 const*, _Float16*, int, int>" },
		{ "_ZN1t5entryILi1ENS_6KernelINS_4PipeIfLNS_4ModeE1EEENS_3seqIJLi1ELi2ELi3EEEENS4_4ArgsEXadL_"
		  "ZNS_5twiceEiEEEEJPKfPfEEEvDpT1_",
		        "t::entry<1, Kernel<Pipe<float, (Mode)1>, seq<1, 2, 3>, Pipe<float, (Mode)1>::Args, "
		        "&twice(int)>, float const*, float*>" },
		{ "_ZN1t5entryILi1ENS_6KernelINS_4PipeIfLNS_4ModeE1EEENS_3seqIJLi1ELi2ELi3EEEENS2_IiLS3_1EE4"
		  "ArgsEXadL_ZNS_6thriceEiEEEEJPKfONS5_IJEEEEEEvDpT1_",
		        "t::entry<1, Kernel<Pipe<float, (Mode)1>, seq<1, 2, 3>, Pipe<int, (Mode)1>::Args, "
		        "&thrice(int)>, float const*, seq<>&&>" },
		{ "_ZN1t5entryILi1ENS_6KernelINS_4PipeIfLNS_4ModeE0EEENS_3seqIJLi1ELi2EEEENS2_IiLS3_0EE4ArgsE"
		  "XadL_ZNS_6thriceEiEEEEJPFvfPS6_EEEEvDpT1_",
		        "t::entry<1, Kernel<Pipe<float, (Mode)0>, seq<1, 2>, Pipe<int, (Mode)0>::Args, "
		        "&thrice(int)>, void (float, seq<1, 2>*)*>" },
		{ "_ZN1a1kINS_1bES1_S9_EEvv", "" },
		{ "_Z", "" },
		{ "_ZN3foo", "" },
		{ "_Z99foo", "" },
		{ "gemm", "" },
		{ "_ZN1aIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII", "" },
	};
	for (size_t i = 0; i < HT_COUNT(cases); i++) {
		char buf[512];
		size_t n = ht_demangle(cases[i].text, strlen(cases[i].text), buf, sizeof buf - 1);
		buf[n] = '\0';
		assert_string_equal(buf, cases[i].want);
		assert_int_equal(ht_demangle(cases[i].text, strlen(cases[i].text), buf, 2), 0);
	}
}

/* Names of a megabyte cost their length: brackets that look back, and a stack that looks at what is behind each frame. */
static void test_shorten_long(void **state)
{
	(void)state;
	static const char *const pieces[] = { "<>", "f;" };
	static char text[1 << 20], buf[sizeof text + 4];
	for (size_t i = 0; i < HT_COUNT(pieces); i++) {
		for (size_t at = 0; at < sizeof text; at++)
			text[at] = pieces[i][at % 2];
		text[0] = 'a';
		memset(text + sizeof text - 50, 'z', 50);
		assert_true(ht_utf8_width(buf, ht_shorten(text, sizeof text, 40, buf)) <= 40);
	}
}

/* Any brackets, any width: within the width and within the buffer (the sanitizer looks). */
static void test_shorten_anything(void **state)
{
	(void)state;
	static const char alphabet[] = "<>()<>-=a:,; operatorvoid";
	uint32_t x = 1;
	for (int round = 0; round < 20000; round++) {
		char text[64];
		size_t n = (x >> 8) % sizeof text;
		for (size_t i = 0; i < n; i++) {
			x = x * 1664525 + 1013904223;
			text[i] = alphabet[(x >> 16) % (sizeof alphabet - 1)];
		}
		x = x * 1664525 + 1013904223;
		size_t width = 1 + (x >> 20) % 40;
		char *buf = malloc(n + 4);
		assert_non_null(buf);
		size_t got = ht_shorten(text, n, width, buf);
		assert_true(ht_utf8_valid(buf, got));
		assert_true(ht_utf8_width(buf, got) <= width);
		free(buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shorten),
		cmocka_unit_test(test_stacks_of_both_orders),
		cmocka_unit_test(test_demangle),
		cmocka_unit_test(test_shorten_anything),
		cmocka_unit_test(test_shorten_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
