/* SPDX-License-Identifier: GPL-2.0 */
/* Text for people, in UTF-8, no wider than they can paste into a mail. */
#ifndef LIB_TEXT_H
#define LIB_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Columns that @s takes on a terminal: one for each character (code point). Characters that take
 * two, or none, are not told apart: what is printed here has none of them.
 */
size_t text_width(const char *s);

/* Turns control characters, which could make a terminal do anything, into '?', in place. */
void text_make_harmless(char *s);

/*
 * A harmless copy of @s, at most @width columns wide: the middle of a longer one is left out for
 * "...". To be freed by free(); NULL: no memory.
 */
char *text_shortened(const char *s, size_t width);

/*
 * The next line of at most @width columns of the words at *@s, made harmless, to be freed by
 * free(); moves *@s behind it. A word that is longer than a line is shortened in its middle.
 * NULL: nothing is left (then **@s is 0), or no memory.
 */
char *text_next_line(const char **s, size_t width);

/*
 * Prints the words of @s in lines of at most @width columns, the first one after @first, the others
 * after @rest. Returns 0 or -ENOMEM.
 */
int text_wrap(FILE *out, const char *first, const char *rest, const char *s, size_t width);

/* Prints @s, made harmless, so that GitHub Flavored Markdown shows it as it is, in a table too. */
void text_put_markdown(FILE *out, const char *s);

/*
 * The one of @nr @names that @word is most likely a misspelling of: the nearest by
 * Damerau-Levenshtein distance (insertions, deletions, substitutions, and swaps of neighbors, each
 * counted once), the first of several, if it is at most a third of the length of @word away,
 * rounded. NULL: none is.
 */
const char *text_nearest(const char *word, const char *const *names, size_t nr);

/* Writes a message for the user to @err, cut at @size, and returns @ret: an error, mostly. */
int __attribute__((format(printf, 4, 5)))
text_fail(char *err, size_t size, int ret, const char *fmt, ...);

#endif /* LIB_TEXT_H */
