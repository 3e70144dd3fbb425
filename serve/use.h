/* SPDX-License-Identifier: Apache-2.0 */
/*
 * use.h - a list in the order of use, newest first, for what is kept up to a bound.
 *
 * What is listed has a struct use as its first member; who keeps the list locks it.
 */
#ifndef SERVE_USE_H
#define SERVE_USE_H

#include <stddef.h>

struct use {
	struct use *newer, *older;
};

struct use_list {
	struct use *newest, *oldest;
};

static inline void use_remove(struct use_list *list, struct use *use)
{
	*(use->newer != NULL ? &use->newer->older : &list->newest) = use->older;
	*(use->older != NULL ? &use->older->newer : &list->oldest) = use->newer;
	use->newer = use->older = NULL;
}

static inline void use_add(struct use_list *list, struct use *use)
{
	use->older = list->newest;
	*(use->older != NULL ? &use->older->newer : &list->oldest) = use;
	list->newest = use;
}

/* It was used just now. */
static inline void use_touch(struct use_list *list, struct use *use)
{
	use_remove(list, use);
	use_add(list, use);
}

#endif
