/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_memory.c - the rules about memory snapshots: as memory-snapshot tells it, of the rank that has most of it.
 */
#include "verdict/rules.h"

static struct ht_rule_verdict judge(struct ht_advice *a, enum ht_mem_topic topic)
{
	struct ht_rule_verdict v = ht_rule_no_verdict();
	v.f = ht_mem_finding_worst(a->parts, HT_FOUND_MEMORY, topic, &v.i_part);
	v.f.n_args = 0;
	return v;
}

static struct ht_rule_verdict out_of_memory(struct ht_advice *a)
{
	return judge(a, HT_MEM_TOPIC_OOM);
}

static struct ht_rule_verdict leak(struct ht_advice *a)
{
	return judge(a, HT_MEM_TOPIC_LEAK);
}

static struct ht_rule_verdict fragmentation(struct ht_advice *a)
{
	return judge(a, HT_MEM_TOPIC_FRAGMENTATION);
}

static struct ht_rule_verdict idle_pools(struct ht_advice *a)
{
	return judge(a, HT_MEM_TOPIC_POOLS);
}

static const struct ht_rule rules[] = {
	{ "out-of-memory", out_of_memory, "memory-snapshot", { { "view", "oom" } }, 0 },
	{ "memory-leak", leak, "memory-snapshot", { { "view", "leaks" } }, 0 },
	{ "fragmentation", fragmentation, "memory-snapshot", { { "view", "fragmentation" } }, 0 },
	{ "idle-pools", idle_pools, "memory-snapshot", { { "view", "pools" } }, 0 },
};

const struct ht_rule *ht_rules_memory(const struct ht_advice *a, size_t *ret_n)
{
	*ret_n = ht_mem_findings_any(a->parts, HT_FOUND_MEMORY) ? HT_COUNT(rules) : 0;
	return rules;
}
