/*
 * Runs the function that xstate.patch adds to Linux, which is included as `write_xstate.h`.
 *
 *   harness LENGTH   on a host that is made up, whose area has LENGTH bytes and which takes the whole area or answers EFAULT
 *   harness          on this host, with a program that it traces
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NT_X86_XSTATE 0x202
#ifndef PTRACE_SETREGSET
#define PTRACE_SETREGSET PTRACE_SETREGSET
#endif
/* Bytes that the guest keeps: 2696 in Linux 6.12; 576 are the least, legacy state and header. */
#define FP_SIZE (KEPT / sizeof(unsigned long))

static unsigned char area[65536];
static size_t area_len;
static int reads, is_made_up;

static long any_ptrace(int request, int pid, long type, struct iovec *iov)
{
	size_t len = iov->iov_len < area_len ? iov->iov_len : area_len;

	if (!is_made_up)
		return ptrace(request, pid, type, iov);
	iov->iov_len = len;
	if (request == PTRACE_GETREGSET) {
		reads++;
		memcpy(iov->iov_base, area, len);
		return 0;
	}
	if (len != area_len) {
		errno = EFAULT;
		return -1;
	}
	memcpy(area, iov->iov_base, len);
	return 0;
}

#define ptrace(request, pid, type, iov) any_ptrace(request, pid, type, iov)
#include "write_xstate.h"
#undef ptrace

static int made_up(size_t len)
{
	static unsigned char kept[KEPT];
	size_t at, first = len < KEPT ? len : KEPT;
	int round, err;

	area_len = len;
	is_made_up = 1;
	memset(area, 0xa5, sizeof(area));
	for (round = 1; round <= 3; round++) {
		memset(kept, round, sizeof(kept));
		err = write_xstate(1, kept);
		if (err)
			return printf("refused %d\n", -err), 0;
		for (at = 0; at < sizeof(area); at++)
			if (area[at] != (at < first ? round : 0xa5))
				return printf("wrong byte %zu\n", at), 1;
	}
	printf("written, %d reads\n", reads);
	return 0;
}

static int real(void)
{
	static unsigned char kept[KEPT], again[KEPT];
	struct iovec iov = { kept, sizeof(kept) };
	int pid = fork(), status, err;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, &status, WUNTRACED);
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov)) {
		printf("no area: %s\n", strerror(errno));
	} else {
		memset(kept + 160, 0x5c, 16); /* XMM0 */
		kept[512] |= 2; /* It is in use. */
		err = write_xstate(pid, kept);
		iov.iov_base = again;
		iov.iov_len = sizeof(again);
		ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov);
		if (err)
			printf("refused %d\n", -err);
		else
			printf(memcmp(kept + 160, again + 160, 16) ? "not written\n" : "written\n");
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 ? made_up(strtoul(argv[1], NULL, 10)) : real();
}
