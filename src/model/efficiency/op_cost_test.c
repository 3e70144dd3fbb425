/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_cost_test.c - operations and bytes of single calls, worked out by hand from the definitions in op_cost.c.
 */
#include "model/efficiency/op_cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define BF16 "\"c10::BFloat16\""

static struct ht_op_cost cost_of(const char *name, const char *dims, const char *types,
        const char *strides, const char *concrete, enum ht_causal causal)
{
	struct ht_op_texts texts = { dims, types, strides, concrete };
	struct ht_op_args args;
	ht_op_args_read(&texts, &args);
	return ht_op_cost(ht_op_formula_find(name), &args, causal);
}

static void products_count_a_multiply_add_twice(void **state)
{
	(void)state;
	/* 2 * 2 * 5 * 3 = 60; (2 * 3 + 3 * 5 + 2 * 5) * 2 bytes = 62 */
	struct ht_op_cost mm = cost_of("aten::mm", "[[2, 3], [3, 5]]", "[" BF16 ", " BF16 "]", NULL,
	        NULL, HT_CAUSAL_EXACT);
	assert_int_equal(mm.state, HT_COST_KNOWN);
	assert_int_equal(mm.flops, 60);
	assert_int_equal(mm.bytes, 62);
	assert_int_equal(mm.dtype, HT_DTYPE_BF16);
	/* the bias adds its own 5 elements */
	struct ht_op_cost addmm = cost_of("aten::addmm", "[[5], [2, 3], [3, 5]]",
	        "[" BF16 ", " BF16 ", " BF16 "]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(addmm.flops, 60);
	assert_int_equal(addmm.bytes, 72);
	/* a batch of 4: 240; 4 * 31 elements of 4 bytes */
	struct ht_op_cost bmm = cost_of("aten::bmm", "[[4, 2, 3], [4, 3, 5]]",
	        "[\"float\", \"float\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(bmm.flops, 240);
	assert_int_equal(bmm.bytes, 496);
	/* fp8 in, bf16 (15) out: 6 + 15 + 2 * 10 bytes, and two scales of 4 bytes are no operands */
	struct ht_op_cost scaled = cost_of("aten::_scaled_mm",
	        "[[2, 3], [3, 5], [], [], [], [], [], []]",
	        "[\"c10::Float8_e4m3fn\", \"c10::Float8_e4m3fn\", \"float\", \"float\", \"\", \"\", \"Scalar\", \"Scalar\"]",
	        NULL, "[\"\", \"\", \"\", \"\", \"\", \"\", \"15\", \"False\"]", HT_CAUSAL_EXACT);
	assert_int_equal(scaled.flops, 60);
	assert_int_equal(scaled.bytes, 41);
	assert_int_equal(scaled.dtype, HT_DTYPE_F8);
	/* int8 in, int32 out: 6 + 15 + 4 * 10 bytes */
	struct ht_op_cost whole = cost_of("aten::_int_mm", "[[2, 3], [3, 5]]",
	        "[\"signed char\", \"signed char\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(whole.flops, 60);
	assert_int_equal(whole.bytes, 61);
	assert_int_equal(whole.dtype, HT_DTYPE_I8);
	/* 7 rows over 3 matrices of (3, 5): 2 * 7 * 3 * 5 whatever the groups */
	struct ht_op_cost grouped = cost_of("aten::_grouped_mm", "[[7, 3], [3, 3, 5], [3], [], []]",
	        "[" BF16 ", " BF16 ", \"int\", \"\", \"\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(grouped.flops, 210);
	assert_int_equal(grouped.bytes, 2 * (21 + 45 + 35));
}

static void transposed_strides_change_nothing_and_expanded_ones_are_read_once(void **state)
{
	(void)state;
	const char *types = "[" BF16 ", " BF16 "]", *dims = "[[2, 3], [3, 5]]";
	struct ht_op_cost plain =
	        cost_of("aten::mm", dims, types, "[[3, 1], [5, 1]]", NULL, HT_CAUSAL_EXACT);
	struct ht_op_cost turned =
	        cost_of("aten::mm", dims, types, "[[1, 2], [1, 3]]", NULL, HT_CAUSAL_EXACT);
	struct ht_op_cost expanded =
	        cost_of("aten::mm", dims, types, "[[0, 0], [5, 1]]", NULL, HT_CAUSAL_EXACT);
	assert_int_equal(plain.flops, turned.flops);
	assert_int_equal(plain.bytes, turned.bytes);
	assert_int_equal(plain.flops, expanded.flops);
	assert_int_equal(plain.bytes - expanded.bytes, 2 * (6 - 1));
}

static void convolutions_know_stride_groups_and_direction(void **state)
{
	(void)state;
	const char *types = "[\"float\", \"float\"]";
	/* (1, 4, 5, 5) by (6, 2, 3, 3), 2 groups, padding 1, stride 2: out 3 x 3; 2 * 6 * 2 * 9 * 9 */
	struct ht_op_cost conv = cost_of("aten::cudnn_convolution",
	        "[[1, 4, 5, 5], [6, 2, 3, 3], [], [], [], []]", types, NULL,
	        "[\"\", \"\", \"[1, 1]\", \"[2, 2]\", \"[1, 1]\", \"2\"]", HT_CAUSAL_EXACT);
	assert_int_equal(conv.state, HT_COST_KNOWN);
	assert_int_equal(conv.flops, 1944);
	assert_int_equal(conv.bytes, 4 * (100 + 108 + 54));
	/* transposed: 2 * prod(x spatial) * prod(w) = 2 * 25 * 4 * 6 * 4; out (5 - 1) * 2 + 2 = 10 */
	struct ht_op_cost up = cost_of("aten::cudnn_convolution_transpose",
	        "[[1, 4, 5, 5], [4, 6, 2, 2], [], [], [], [], []]", types, NULL,
	        "[\"\", \"\", \"[0, 0]\", \"[0, 0]\", \"[2, 2]\", \"[1, 1]\", \"1\"]",
	        HT_CAUSAL_EXACT);
	assert_int_equal(up.flops, 4800);
	assert_int_equal(up.bytes, 4 * (100 + 96 + 600));
	/* only dW is asked for: one forward's worth */
	const char *three = "[\"float\", \"float\", \"float\"]";
	const char *sizes =
	        "[[1, 6, 3, 3], [1, 4, 5, 5], [6, 2, 3, 3], [], [], [], [], [], [], [], []]";
	struct ht_op_cost back = cost_of("aten::convolution_backward", sizes, three, NULL,
	        "[\"\", \"\", \"\", \"[0]\", \"[2, 2]\", \"[1, 1]\", \"[1, 1]\", \"False\", \"[0, 0]\", \"2\", "
	        "\"[False, True, False]\"]",
	        HT_CAUSAL_EXACT);
	assert_int_equal(back.flops, 1944);
	assert_int_equal(back.bytes, 4 * (54 + 100 + 108));
}

static void attention_counts_pairs_by_the_convention(void **state)
{
	(void)state;
	const char *types = "[" BF16 ", " BF16 ", " BF16 "]";
	const char *dims = "[[1, 2, 4, 8], [1, 1, 4, 8], [1, 1, 4, 8], [], [], [], []]";
	const char *causal = "[\"\", \"\", \"\", \"\", \"\", \"\", \"True\"]";
	const char *name = "aten::_scaled_dot_product_cudnn_attention";
	/* 2 * heads 2 * (8 + 8) = 64 for each of 16 pairs, 10 of them on or below the diagonal, half is 8 */
	assert_int_equal(cost_of(name, dims, types, NULL, causal, HT_CAUSAL_FULL).flops, 1024);
	assert_int_equal(cost_of(name, dims, types, NULL, causal, HT_CAUSAL_EXACT).flops, 640);
	assert_int_equal(cost_of(name, dims, types, NULL, causal, HT_CAUSAL_HALF).flops, 512);
	assert_int_equal(cost_of(name, dims, types, NULL, NULL, HT_CAUSAL_EXACT).flops, 1024);
	/* 2 queries behind 4 keys see 3 and 4 of them: 7 pairs */
	const char *chunk = "[[1, 2, 2, 8], [1, 1, 4, 8], [1, 1, 4, 8], [], [], [], []]";
	assert_int_equal(cost_of(name, chunk, types, NULL, causal, HT_CAUSAL_EXACT).flops, 448);
	/* keys without a head for each query head */
	const char *odd = "[[1, 3, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8], [], [], [], []]";
	assert_int_equal(
	        cost_of(name, odd, types, NULL, causal, HT_CAUSAL_FULL).state, HT_COST_MISMATCH);
}

static void lengths_that_are_not_recorded_make_an_interval(void **state)
{
	(void)state;
	/* 10 rows in 3 sequences, the longest 6: 36 + 2 * 2 * 2 pairs at least, 36 + 16 at most; 2 * 1 * 16 each */
	struct ht_op_cost cost = cost_of("aten::_flash_attention_forward",
	        "[[10, 1, 8], [10, 1, 8], [10, 1, 8], [4], [4], [], [], [], []]",
	        "[" BF16 ", " BF16 ", " BF16
	        ", \"int\", \"int\", \"Scalar\", \"Scalar\", \"Scalar\", \"Scalar\"]",
	        NULL, "[\"\", \"\", \"\", \"\", \"\", \"6\", \"6\", \"0.\", \"False\"]",
	        HT_CAUSAL_EXACT);
	assert_int_equal(cost.state, HT_COST_INTERVAL);
	assert_int_equal(cost.flops, 32 * 44);
	assert_int_equal(cost.flops_max, 32 * 52);
}

static void vector_work_is_no_matrix_work(void **state)
{
	(void)state;
	/* (4, 1) + (3): 12 results; 4 + 3 read, 12 written, 4 bytes each */
	struct ht_op_cost add = cost_of("aten::add", "[[4, 1], [3], []]",
	        "[\"float\", \"float\", \"Scalar\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(add.flops, 0);
	assert_int_equal(add.vector_flops, 12);
	assert_int_equal(add.bytes, 76);
	assert_int_equal(cost_of("aten::add", "[[4, 2], [3], []]",
	                         "[\"float\", \"float\", \"Scalar\"]", NULL, NULL, HT_CAUSAL_EXACT)
	                         .state,
	        HT_COST_MISMATCH);
	/* bf16 read, float written */
	struct ht_op_cost copy = cost_of("aten::copy_", "[[8], [8], []]",
	        "[\"float\", " BF16 ", \"Scalar\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(copy.bytes, 48);
	/* 6 elements in, dimension 1 of (2, 3) goes: 2 out */
	struct ht_op_cost sum = cost_of("aten::sum", "[[2, 3], [], [], []]",
	        "[\"float\", \"ScalarList\", \"Scalar\", \"\"]", NULL,
	        "[\"\", \"[1]\", \"False\", \"\"]", HT_CAUSAL_EXACT);
	assert_int_equal(sum.vector_flops, 6);
	assert_int_equal(sum.bytes, 32);
	/* 3 indices of 8 bytes; rows of 4 floats both ways */
	struct ht_op_cost embedding = cost_of("aten::embedding", "[[10, 4], [3], [], [], []]",
	        "[\"float\", \"long int\", \"\", \"\", \"\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(embedding.bytes, 24 + 2 * 48);
	/* a generated kernel: what it has once, or read and written */
	struct ht_op_texts texts = { "[[8, 256], [8], [], []]",
		"[" BF16 ", \"float\", \"Scalar\", \"Scalar\"]", NULL, NULL };
	struct ht_op_args args;
	ht_op_args_read(&texts, &args);
	struct ht_op_cost generated = ht_op_cost(NULL, &args, HT_CAUSAL_EXACT);
	assert_int_equal(generated.state, HT_COST_INTERVAL);
	assert_int_equal(generated.bytes, 8 * 256 * 2 + 32);
	assert_int_equal(generated.bytes_max, 2 * generated.bytes);
}

static void bad_sizes_cost_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *dims;
		enum ht_cost_state state;
	} cases[] = {
		{ NULL, HT_COST_NO_SHAPES },
		{ "[[", HT_COST_NO_SHAPES },
		{ "{}", HT_COST_NO_SHAPES },
		{ "[]", HT_COST_MISMATCH },
		{ "[[2, 3], [4, 5]]", HT_COST_MISMATCH },
		{ "[[2, 3], [3]]", HT_COST_MISMATCH },
		{ "[[[2, 3]], [3, 5]]", HT_COST_MISMATCH },
		{ "[[2, -3], [-3, 5]]", HT_COST_TOO_LARGE },
		{ "[[2199023255552, 1], [1, 1]]", HT_COST_TOO_LARGE },
		{ "[[1099511627776, 1099511627776], [1099511627776, 1]]", HT_COST_TOO_LARGE },
		{ "[[1048576, 1048576], [1048576, 1099511627776]]", HT_COST_TOO_LARGE },
		{ "[[1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1]]", HT_COST_TOO_LARGE },
		{ "[[0, 3], [3, 5]]", HT_COST_KNOWN },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ht_op_cost cost = cost_of("aten::mm", cases[i].dims,
		        "[\"float\", \"float\"]", NULL, NULL, HT_CAUSAL_EXACT);
		assert_int_equal(cost.state, cases[i].state);
		assert_int_equal(cost.flops, 0);
	}
	/* without types operations are known, bytes are not */
	struct ht_op_cost cost =
	        cost_of("aten::mm", "[[2, 3], [3, 5]]", NULL, NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(cost.flops, 60);
	assert_false(cost.has_bytes);
}

static void experts_that_are_asked_for_are_not_recorded(void **state)
{
	(void)state;
	/* 5 tokens of 8, 2 of 4 experts each, gated: 6 * T * H * I * k = 6 * 5 * 8 * 3 * 2 = 1440. An expert has 6 * 8 + 8 * 3 = 72
	 * elements; 2 * 5 * 8 * 2 = 160 bytes of activations, and 2 to 4 experts of 144 bytes */
	struct ht_op_cost moe = cost_of("vllm::inplace_fused_experts",
	        "[[5, 8], [4, 6, 8], [4, 8, 3], [5, 2], [5, 2]]",
	        "[" BF16 ", " BF16 ", " BF16 ", \"float\", \"int\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(moe.state, HT_COST_INTERVAL);
	assert_int_equal(moe.flops, 1440);
	assert_int_equal(moe.flops_max, 1440);
	assert_int_equal(moe.bytes, 160 + 2 * 144);
	assert_int_equal(moe.bytes_max, 160 + 4 * 144);
	assert_true(moe.is_matrix);
	/* without a gate 4 * T * H * I * k */
	moe = cost_of("vllm::outplace_fused_experts",
	        "[[5, 8], [4, 3, 8], [4, 8, 3], [5, 2], [5, 2]]",
	        "[" BF16 ", " BF16 ", " BF16 ", \"float\", \"int\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(moe.flops, 960);
	moe = cost_of("vllm::outplace_fused_experts",
	        "[[5, 8], [4, 3, 9], [4, 8, 3], [5, 2], [5, 2]]",
	        "[" BF16 ", " BF16 ", " BF16 ", \"float\", \"int\"]", NULL, NULL, HT_CAUSAL_EXACT);
	assert_int_equal(moe.state, HT_COST_MISMATCH);
}

static void recurrent_layers_count_every_weight_matrix_for_every_token(void **state)
{
	(void)state;
	/* 4 sequences of 6 tokens of 3, LSTM of 5: matrices of 20 x 3 and 20 x 5, 160 elements, and 40 of biases.
	 * 2 * 24 * 160 = 7680; 24 * 3 + 200 + 24 * 5 = 392 elements of 4 bytes */
	const char *weights = "[[20, 3], [20, 5], [20], [20]]";
	char dims[300];
	(void)snprintf(dims, sizeof dims,
	        "[[4, 6, 3], %s, [], [200], [1, 4, 5], [1, 4, 5], [], [], [], [], [], [], [], [], [], []]",
	        weights);
	const char *types = "[\"float\", \"TensorList\"]";
	const char *concrete = "[\"\", \"\", \"4\", \"\", \"\", \"\", \"2\", \"5\", \"0\", \"1\", "
	                       "\"True\", \"0.\", \"True\", \"False\", \"[]\", \"\"]";
	struct ht_op_cost lstm =
	        cost_of("aten::_cudnn_rnn", dims, types, NULL, concrete, HT_CAUSAL_EXACT);
	assert_int_equal(lstm.state, HT_COST_KNOWN);
	assert_int_equal(lstm.flops, 7680);
	assert_int_equal(lstm.bytes, 4 * 392);
	assert_true(lstm.is_matrix);
	/* backwards once for the input and once for the weights */
	(void)snprintf(dims, sizeof dims,
	        "[[4, 6, 3], %s, [], [200], [1, 4, 5], [1, 4, 5], [4, 6, 5], [4, 6, 5], [], [], [], []]",
	        weights);
	struct ht_op_cost back = cost_of("aten::_cudnn_rnn_backward", dims, types, NULL,
	        "[\"\", \"\", \"4\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"2\", \"5\"]",
	        HT_CAUSAL_EXACT);
	assert_int_equal(back.flops, 2 * 7680);
	assert_int_equal(back.bytes, 2 * 4 * 392);
}

static void lists_without_sizes_are_said_to_be_too_long(void **state)
{
	(void)state;
	const char *types = "[\"TensorList\", \"TensorList\", \"Scalar\"]";
	const char *concrete = "[\"\", \"\", \"0.1\"]";
	struct ht_op_cost lerp = cost_of(
	        "aten::_foreach_lerp_", "[[], [], []]", types, NULL, concrete, HT_CAUSAL_EXACT);
	assert_int_equal(lerp.state, HT_COST_LONG_LIST);
	/* 2 + 6 elements, two operations each */
	lerp = cost_of("aten::_foreach_lerp_", "[[[2], [2, 3]], [[2], [2, 3]], []]", types, NULL,
	        concrete, HT_CAUSAL_EXACT);
	assert_int_equal(lerp.state, HT_COST_KNOWN);
	assert_int_equal(lerp.vector_flops, 16);
	/* a tensor where a list belongs */
	lerp = cost_of("aten::_foreach_lerp_", "[[2], [2], []]",
	        "[\"float\", \"float\", \"Scalar\"]", NULL, concrete, HT_CAUSAL_EXACT);
	assert_int_equal(lerp.state, HT_COST_MISMATCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_count_a_multiply_add_twice),
		cmocka_unit_test(transposed_strides_change_nothing_and_expanded_ones_are_read_once),
		cmocka_unit_test(convolutions_know_stride_groups_and_direction),
		cmocka_unit_test(attention_counts_pairs_by_the_convention),
		cmocka_unit_test(lengths_that_are_not_recorded_make_an_interval),
		cmocka_unit_test(experts_that_are_asked_for_are_not_recorded),
		cmocka_unit_test(recurrent_layers_count_every_weight_matrix_for_every_token),
		cmocka_unit_test(lists_without_sizes_are_said_to_be_too_long),
		cmocka_unit_test(vector_work_is_no_matrix_work),
		cmocka_unit_test(bad_sizes_cost_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
