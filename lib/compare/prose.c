// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/prose.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lib/compare/limits.h"
#include "lib/text.h"

const struct indent prose_paragraph = { "", "" };
const struct indent prose_hanging = { "", "      " };
const struct indent prose_item = { "  ", "    " };
const struct indent prose_subitem = { "    ", "          " };

void prose_say(struct prose *p, struct indent indent, const char *fmt, ...)
{
	char *text = NULL;
	va_list va;
	int n;

	va_start(va, fmt);
	n = vasprintf(&text, fmt, va);
	va_end(va);
	if (n < 0) {
		p->err = -ENOMEM;
		return;
	}
	if (!p->markdown) {
		n = text_wrap(p->out, indent.first, indent.rest, text, COMPARE_WIDTH);
		p->err = p->err ? p->err : n;
	} else {
		fputs(*indent.first ? "- " : "", p->out);
		text_put_markdown(p->out, text);
		fputs(*indent.first ? "\n" : "\n\n", p->out);
	}
	free(text);
}

void prose_gap(struct prose *p, bool list)
{
	if (!p->markdown || list)
		fputc('\n', p->out);
}
