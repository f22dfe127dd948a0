/* SPDX-License-Identifier: GPL-2.0 */
/* Paragraphs and lists around a table, as text or as Markdown. */
#ifndef LIB_COMPARE_PROSE_H
#define LIB_COMPARE_PROSE_H

#include <stdbool.h>
#include <stdio.h>

struct prose {
	FILE *out;
	bool markdown;
	int err; /* the first one */
};

/* Indents of the first line and of those that follow. What has a first one is an item of a list. */
struct indent {
	const char *first, *rest;
};

extern const struct indent prose_paragraph, prose_hanging, prose_item, prose_subitem;

void __attribute__((format(printf, 3, 4)))
prose_say(struct prose *p, struct indent indent, const char *fmt, ...);

/* Ends a group of paragraphs, or a list. */
void prose_gap(struct prose *p, bool list);

#endif /* LIB_COMPARE_PROSE_H */
