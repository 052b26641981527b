package workbench

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/assay-run/assay/internal/proc"
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
	self, ok := proc.Of(os.Getpid())
	if !ok {
		return identity{}, errors.New("/proc does not show this process")
	}
	var b [6]byte
	rand.Read(b[:])
	return identity{proc.Namespace(), self.PID, self.Start, hex.EncodeToString(b[:])}, nil
}

func (id identity) String() string {
	return fmt.Sprintf("%d.%d.%d.%s", id.space, id.pid, id.start, id.random)
}

// parseIdentity parses the output of String.
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
	return id.space == proc.Namespace() && !proc.Alive(id.pid, id.start)
}
