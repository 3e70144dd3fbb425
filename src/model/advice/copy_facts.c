/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_facts.c - see copy_facts.h.
 */
#include "model/advice/copy_facts.h"

#include "base/checked.h"
#include "model/device/host_link.h"
#include "store/columns.h"
#include "store/trace_meta.h"

#include <string.h>

void ht_copy_kinds_add(struct ht_copy_kinds *kinds, const struct ht_trace *t,
        const struct ht_gpu *gpu, int64_t bytes)
{
	int64_t ns = t->dur_ns[gpu->row];
	size_t i = 0;
	while (i < kinds->n && kinds->list[i].name != t->name[gpu->row])
		i++;
	if (i == HT_MOST_COPY_KINDS)
		return;
	struct ht_copy_kind *kind = &kinds->list[i];
	if (i == kinds->n)
		kinds->list[kinds->n++] = (struct ht_copy_kind){
			.name = t->name[gpu->row], .row = gpu->row, .device = gpu->device
		};
	ht_sum(&kind->ns, ns);
	ht_sum(&kind->bytes, bytes > 0 ? bytes : 0);
	if (ns > kind->row_ns) {
		kind->row = gpu->row;
		kind->row_ns = ns;
		kind->device = gpu->device;
	}
}

static int64_t link_of(const struct ht_trace *t, const struct ht_copy_kind *kind)
{
	const struct ht_device *device = ht_trace_device(t, kind->device);
	const char *name = ht_str(t, kind->name);
	if (!device || device->name == HT_NO_STR ||
	        (!strstr(name, "HtoD") && !strstr(name, "DtoH")))
		return 0;
	return ht_host_link_rate(ht_str(t, device->name));
}

void ht_copy_kinds_tell(
        const struct ht_copy_kinds *kinds, const struct ht_trace *t, struct ht_rule_sum *sum)
{
	const struct ht_copy_kind *most = kinds->list;
	for (size_t i = 1; i < kinds->n; i++)
		most = kinds->list[i].ns > most->ns ? &kinds->list[i] : most;
	if (!kinds->n)
		return;
	sum->row = most->row;
	sum->row_ns = most->row_ns;
	sum->count = 1;
	sum->aux[0] = most->bytes;
	sum->aux[1] = most->ns;
	sum->aux[2] = link_of(t, most);
}
