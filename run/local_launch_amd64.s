#include "textflag.h"

// Numbers of system calls (arch/x86/entry/syscalls/syscall_64.tbl), and flags of
// clone(2).
#define SYS_write         1
#define SYS_close         3
#define SYS_clone         56
#define SYS_execve        59
#define SYS_exit          60
#define SYS_setsid        112
#define SYS_clock_gettime 228
#define CLOCK_MONOTONIC   1
#define REPORT            3 // the descriptor of the report
// CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD
#define FLAGS (0x100 | 0x4000 | 0x8000 | 17)

// launch is never called: it is the code of the launcher, a program of its own
// with neither Go runtime nor stack frames. It starts with
//
//	0(SP)  argc
//	8(SP)  the path of the program, as argv[0]
//	16(SP) argv of the program, 0, environment, 0
//
// and writes the four words at R12: the time just before the start (s, ns), the
// result of execve if it has failed (else argc), the process (or why there is
// none). The child shares the memory of the launcher until execve succeeds, and
// CLONE_VFORK lets the launcher go on only then. CLONE_PARENT makes the child a
// child of the launcher's parent.
TEXT ·launch(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ 0(SP), R13
	LEAQ 16(SP)(R13*8), R14 // the environment
	LEAQ -16(SP), R12
	MOVQ R12, SP

	MOVL $SYS_clock_gettime, AX
	MOVL $CLOCK_MONOTONIC, DI
	MOVQ R12, SI
	SYSCALL

	MOVL  $SYS_clone, AX
	MOVL  $FLAGS, DI
	XORL  SI, SI
	XORL  DX, DX
	XORL  R10, R10
	XORL  R8, R8
	SYSCALL
	TESTQ AX, AX
	JNZ   parent

	MOVL $SYS_setsid, AX
	SYSCALL
	MOVL $SYS_close, AX
	MOVL $REPORT, DI
	SYSCALL
	MOVL $SYS_execve, AX
	MOVQ 24(R12), DI
	LEAQ 32(R12), SI
	MOVQ R14, DX
	SYSCALL
	MOVQ AX, 16(R12)
	MOVL $SYS_exit, AX
	MOVL $127, DI
	SYSCALL

parent:
	MOVQ AX, 24(R12)
	MOVL $SYS_write, AX
	MOVL $REPORT, DI
	MOVQ R12, SI
	MOVL $32, DX
	SYSCALL
	MOVL $SYS_exit, AX
	XORL DI, DI
	SYSCALL
	INT  $3

TEXT ·launchEnd(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func launchCode() (start, end uintptr)
TEXT ·launchCode(SB), NOSPLIT, $0-16
	LEAQ ·launch(SB), AX
	MOVQ AX, start+0(FP)
	LEAQ ·launchEnd(SB), AX
	MOVQ AX, end+8(FP)
	RET
