package workbench

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// An identity names one run of a Bench for ever: the PID namespace, pid and start
// time of its owner, and a random part.
type identity struct {
	space  uint64
	pid    int
	start  uint64
	random string
}

func newIdentity() (identity, error) {
	start, ok := startTime(os.Getpid())
	if !ok {
		return identity{}, errors.New("workbench: /proc does not show this process")
	}
	var b [6]byte
	rand.Read(b[:])
	return identity{pidNamespace(), os.Getpid(), start, hex.EncodeToString(b[:])}, nil
}

func (id identity) String() string {
	return fmt.Sprintf("%d.%d.%d.%s", id.space, id.pid, id.start, id.random)
}

// parseIdentity reads what String has written.
func parseIdentity(s string) (id identity, ok bool) {
	f := strings.Split(s, ".")
	if len(f) != 4 || f[3] == "" {
		return id, false
	}
	var errs [3]error
	id.space, errs[0] = strconv.ParseUint(f[0], 10, 64)
	id.pid, errs[1] = strconv.Atoi(f[1])
	id.start, errs[2] = strconv.ParseUint(f[2], 10, 64)
	id.random = f[3]
	return id, errors.Join(errs[:]...) == nil && id.pid > 0 && id.String() == s
}

// stale reports whether the owner is known to be gone: it was in our PID
// namespace, and is not there any more.
func (id identity) stale() bool {
	if id.space != pidNamespace() {
		return false
	}
	start, ok := startTime(id.pid)
	return !ok || start != id.start
}

// startTime returns when a process started, in ticks since the boot, and false if
// there is none or it has ended and was not waited for.
func startTime(pid int) (uint64, bool) {
	f := statOf(pid)
	if len(f) <= statStart || f[statState] == "Z" || f[statState] == "X" {
		return 0, false
	}
	n, err := strconv.ParseUint(f[statStart], 10, 64)
	return n, err == nil
}

// Indexes in what statOf returns.
const (
	statState   = 0
	statSession = 3
	statStart   = 19
)

// statOf returns the fields of /proc/PID/stat from the third on, the state
// (proc(5)): the name before it may have spaces and brackets. It is empty if there
// is no such process.
func statOf(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(b)[strings.LastIndexByte(string(b), ')')+1:])
}

func pidNamespace() uint64 {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/pid", &st); err != nil {
		return 0
	}
	return st.Ino
}
