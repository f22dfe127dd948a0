# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What a user's environment may change in bash and in tools; to be sourced first. Numbers have a
# point, and tools say what they have to say in English; what characters are is left as it is.

set +o posix +o noclobber +o noglob +o allexport
shopt -u nocasematch nullglob failglob dotglob
unset BASH_ENV ENV CDPATH GLOBIGNORE POSIXLY_CORRECT _POSIX2_VERSION GREP_OPTIONS GREP_COLOR \
	GREP_COLORS TAR_OPTIONS XZ_DEFAULTS XZ_OPT GZIP QUOTING_STYLE TIME_STYLE BLOCK_SIZE BLOCKSIZE \
	DF_BLOCK_SIZE DU_BLOCK_SIZE LS_BLOCK_SIZE JQ_COLORS AWKPATH
while read -r _ _ _function; do
	unset -f "$_function"
done < <(declare -F)
unset _function
[[ -z ${LC_ALL:-} ]] || export LANG="$LC_ALL" LC_CTYPE="$LC_ALL"
unset LC_ALL
export LC_NUMERIC=C LC_COLLATE=C LC_TIME=C LC_MESSAGES=C
