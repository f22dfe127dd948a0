// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command with less than it would have: for tests of what is said then. System calls can be
 * answered in the kernel's place, by a seccomp filter that asks this program: so a kernel can be
 * made to look as if it had no ring buffers, no kprobes, or no bpf_loop().
 *
 *	confine [OPTION...] [RULE...] COMMAND [ARG...]
 *
 *	--uid N		as that user
 *	--caps LIST	with these capabilities (names or numbers, with commas) and no others
 *
 *	RULE		CALL[,KEY=VALUE...]:ERROR[:LOG]
 *
 * A system call that is like the rule fails with ERROR, EPERM or a number; a program that is loaded
 * gets LOG as the words of the verifier. Keys of bpf: cmd (number); type, of the map or the
 * program; flags, a bit of the map's; insns, of the program (their number); helper, that the
 * program calls (number); kfunc=1, it calls a function of the kernel; attach, type of the link. Of
 * perf_event_open: type.
 *
 * Exit status: the command's, 128 + N where signal N ended it; 125 where this program failed.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __NR_fsopen
#define __NR_fsopen 430
#endif

#define FAILED	  125
#define MAX_RULES 16

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

static void __attribute__((noreturn)) refuse(const char *what, const char *arg)
{
	fprintf(stderr, "confine: %s '%s'\n", what, arg);
	exit(FAILED);
}

/* ---- rules */

enum key {
	KEY_CMD,
	KEY_TYPE,
	KEY_FLAGS,
	KEY_HELPER,
	KEY_ATTACH,
	KEY_KFUNC,
	KEY_INSNS,
	NR_KEYS,
};

static const char *const key_names[NR_KEYS] = { "cmd",	  "type",  "flags", "helper",
						"attach", "kfunc", "insns" };

static const struct {
	const char *name;
	int nr;
} call_names[] = {
	{ "bpf", __NR_bpf },
	{ "perf_event_open", __NR_perf_event_open },
	{ "fsopen", __NR_fsopen },
};

static const struct {
	const char *name;
	int err;
} errors[] = {
	{ "EPERM", EPERM },   { "EACCES", EACCES }, { "EINVAL", EINVAL }, { "ENOSYS", ENOSYS },
	{ "ENOMEM", ENOMEM }, { "E2BIG", E2BIG },   { "EBUSY", EBUSY },	  { "ENOTSUPP", 524 },
	{ "ENOENT", ENOENT }, { "ENODEV", ENODEV }, { "EMFILE", EMFILE },
};

struct rule {
	int nr;
	bool has[NR_KEYS];
	unsigned long value[NR_KEYS];
	int err;
	const char *log;
};

static struct rule rules[MAX_RULES];
static size_t nr_rules;

static unsigned long number(const char *s)
{
	char *end;
	unsigned long v = strtoul(s, &end, 0);

	if (!*s || *end)
		refuse("not a number:", s);
	return v;
}

static int parse_error(const char *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (!strcmp(errors[i].name, s))
			return errors[i].err;
	return number(s);
}

static void parse_key(struct rule *rule, char *s)
{
	char *value = strchr(s, '=');
	size_t i;

	if (!value)
		refuse("not KEY=VALUE:", s);
	*value++ = '\0';
	for (i = 0; i < NR_KEYS; i++) {
		if (strcmp(key_names[i], s))
			continue;
		rule->has[i] = true;
		rule->value[i] = number(value);
		return;
	}
	refuse("no such key:", s);
}

/* The number of the call that rule @s is for; 0: it is no rule. */
static int rule_call(const char *s)
{
	size_t len = strcspn(s, ",:"), i;

	for (i = 0; s[len] && i < ARRAY_SIZE(call_names); i++)
		if (strlen(call_names[i].name) == len && !memcmp(call_names[i].name, s, len))
			return call_names[i].nr;
	return 0;
}

static void parse_rule(char *s)
{
	struct rule *rule = &rules[nr_rules++];
	char *error = strchr(s, ':'), *log, *part, *save;

	if (nr_rules > MAX_RULES || !error)
		refuse("not a rule:", s);
	rule->nr = rule_call(s);
	*error++ = '\0';
	log = strchr(error, ':');
	if (log)
		*log++ = '\0';
	rule->err = parse_error(error);
	rule->log = log;
	strtok_r(s, ",", &save);
	while ((part = strtok_r(NULL, ",", &save)))
		parse_key(rule, part);
}

/* ---- what a call asks for */

struct call {
	const struct seccomp_data *data;
	int mem; /* the caller's memory */
	union bpf_attr attr; /* bpf */
	struct perf_event_attr perf; /* perf_event_open */
};

static void read_mem(int mem, uint64_t addr, void *buf, size_t size)
{
	ssize_t n = pread(mem, buf, size, addr);

	/* What cannot be read is zero, and the kernel will say so. */
	n = n < 0 ? 0 : n;
	memset((char *)buf + n, 0, size - n);
}

/* @kfunc: any function of the kernel, instead of helper @id. */
static bool calls(const struct call *call, bool kfunc, unsigned long id)
{
	size_t nr = call->attr.insn_cnt, i;
	struct bpf_insn *insns;
	bool found = false;

	if (nr > 1000000)
		return false;
	insns = calloc(nr ? nr : 1, sizeof(*insns));
	if (!insns)
		die("calloc");
	read_mem(call->mem, call->attr.insns, insns, nr * sizeof(*insns));
	for (i = 0; i < nr; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) &&
		    (kfunc ? insns[i].src_reg == BPF_PSEUDO_KFUNC_CALL :
			     !insns[i].src_reg && insns[i].imm == (int)id))
			found = true;
	free(insns);
	return found;
}

static bool has_key(const struct call *call, enum key key, unsigned long value)
{
	const bool bpf = call->data->nr == __NR_bpf;
	const unsigned long cmd = bpf ? call->data->args[0] : 0;

	switch (key) {
	case KEY_CMD:
		return bpf && cmd == value;
	case KEY_TYPE:
		if (!bpf)
			return call->perf.type == value;
		/* The first member of either. */
		return (cmd == BPF_MAP_CREATE || cmd == BPF_PROG_LOAD) &&
		       call->attr.map_type == value;
	case KEY_FLAGS:
		return bpf && cmd == BPF_MAP_CREATE && (call->attr.map_flags & value) == value;
	case KEY_HELPER:
		return bpf && cmd == BPF_PROG_LOAD && calls(call, false, value);
	case KEY_INSNS:
		return bpf && cmd == BPF_PROG_LOAD && call->attr.insn_cnt == value;
	case KEY_KFUNC:
		return bpf && cmd == BPF_PROG_LOAD && calls(call, true, 0);
	case KEY_ATTACH:
		return bpf && cmd == BPF_LINK_CREATE && call->attr.link_create.attach_type == value;
	default:
		return false;
	}
}

static bool is_like(const struct call *call, const struct rule *rule)
{
	int key;

	if (rule->nr != call->data->nr)
		return false;
	for (key = 0; key < NR_KEYS; key++)
		if (rule->has[key] && !has_key(call, key, rule->value[key]))
			return false;
	return true;
}

static void write_log(const struct call *call, const char *log)
{
	size_t size = strlen(log) + 1;
	ssize_t n;

	if (call->data->nr != __NR_bpf || call->data->args[0] != BPF_PROG_LOAD ||
	    !call->attr.log_level || call->attr.log_size < size)
		return;
	n = pwrite(call->mem, log, size, call->attr.log_buf);
	if (n != (ssize_t)size)
		die("writing the log");
}

/* ---- answering */

static void answer(int listener)
{
	struct seccomp_notif req = {};
	struct seccomp_notif_resp resp = {};
	struct call call = { .data = &req.data };
	char path[64];
	size_t i, size;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req))
		return; /* the caller has been killed meanwhile */
	snprintf(path, sizeof(path), "/proc/%u/mem", req.pid);
	call.mem = open(path, O_RDWR | O_CLOEXEC);
	if (req.data.nr == __NR_bpf) {
		size = req.data.args[2] < sizeof(call.attr) ? req.data.args[2] : sizeof(call.attr);
		read_mem(call.mem, req.data.args[1], &call.attr, size);
	} else if (req.data.nr == __NR_perf_event_open) {
		read_mem(call.mem, req.data.args[0], &call.perf, PERF_ATTR_SIZE_VER0);
	}
	resp.id = req.id;
	resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	for (i = 0; i < nr_rules; i++) {
		if (!is_like(&call, &rules[i]))
			continue;
		resp.flags = 0;
		resp.error = -rules[i].err;
		if (rules[i].log)
			write_log(&call, rules[i].log);
		break;
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	close(call.mem);
}

static int supervise(int listener, pid_t child)
{
	struct pollfd pfd = { .fd = listener, .events = POLLIN };
	int status;

	for (;;) {
		if (listener < 0)
			waitpid(child, &status, 0);
		else if (poll(&pfd, 1, 50) > 0 && (pfd.revents & POLLIN))
			answer(listener);
		if (listener < 0 || waitpid(child, &status, WNOHANG) == child)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

/* ---- the command's side */

/* Sends the calls that there are rules for to the listener, which is returned. */
static int install_filter(void)
{
	struct sock_filter insns[1 + 2 * MAX_RULES + 1];
	struct sock_fprog prog = { .filter = insns };
	size_t i, n = 0;
	int fd;

	insns[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	for (i = 0; i < nr_rules; i++) {
		insns[n++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rules[i].nr, 0, 1);
		insns[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	insns[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("no_new_privs");
	fd = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		     &prog);
	if (fd < 0)
		die("seccomp");
	return fd;
}

static const struct {
	const char *name;
	int cap;
} cap_names[] = {
	{ "bpf", CAP_BPF },	  { "perfmon", CAP_PERFMON },	{ "sys_admin", CAP_SYS_ADMIN },
	{ "syslog", CAP_SYSLOG }, { "ipc_lock", CAP_IPC_LOCK },
};

static uint64_t parse_caps(char *list)
{
	uint64_t caps = 0;
	char *name, *save;
	size_t i;

	for (name = strtok_r(list, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < ARRAY_SIZE(cap_names); i++)
			if (!strcmp(cap_names[i].name, name))
				break;
		caps |= 1ULL << (i < ARRAY_SIZE(cap_names) ? (unsigned long)cap_names[i].cap :
							     number(name));
	}
	return caps;
}

/*
 * From here on it has @caps and no others, whatever user it is run as. @uid: -1: the same as now.
 */
static void become(long uid, bool with_caps, uint64_t caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = caps, .permitted = caps, .inheritable = caps },
		{ .effective = caps >> 32, .permitted = caps >> 32, .inheritable = caps >> 32 },
	};
	int cap;

	for (cap = 0; with_caps && cap < 64; cap++)
		if (!(caps >> cap & 1))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (uid >= 0) {
		prctl(PR_SET_KEEPCAPS, 1);
		if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			die("setresuid");
	}
	if (!with_caps)
		return;
	if (syscall(__NR_capset, &header, data))
		die("capset");
	for (cap = 0; cap < 64; cap++)
		if (caps >> cap & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			die("ambient capability");
}

static void send_fd(int sock, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	if (sendmsg(sock, &msg, 0) != 1)
		die("sendmsg");
}

static int receive_fd(int sock)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg))
		return -1; /* the child has said why */
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

int main(int argc, char **argv)
{
	bool with_caps = false;
	uint64_t caps = 0;
	int socks[2], listener = -1, fd, i;
	long uid = -1;
	pid_t child;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--uid") && i + 1 < argc) {
			uid = number(argv[++i]);
		} else if (!strcmp(argv[i], "--caps") && i + 1 < argc) {
			caps = parse_caps(argv[++i]);
			with_caps = true;
		} else if (rule_call(argv[i])) {
			parse_rule(argv[i]);
		} else {
			break;
		}
	}
	if (i == argc)
		refuse("no command after", argv[i - 1]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks))
		die("socketpair");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		become(uid, with_caps, caps);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* forgotten when the user changes */
		if (nr_rules) {
			fd = install_filter();
			send_fd(socks[1], fd);
			close(fd);
		}
		execvp(argv[i], argv + i);
		die(argv[i]);
	}
	close(socks[1]);
	if (nr_rules)
		listener = receive_fd(socks[0]);
	return supervise(listener, child);
}
