package testbed

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// The tests have three tiers: go test -short, make test, and make system. A test belongs to all of them unless it
// calls [Outside], [Long] or [System].

// Outside marks a test that starts a program, a browser or a database, or that waits on real time for more than a
// moment. go test -short skips it.
func Outside(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in -short: it uses something outside the test process")
	}
}

// Long marks a test that computes for half a second or more, such as one that compares seeds. go test -short skips it.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in -short: it computes for half a second or more")
	}
}

// System marks a test of make system. Other tiers skip it.
func System(t testing.TB) {
	t.Helper()
	if !IsSystem() {
		t.Skip("only in make system (ASSAY_TEST=system)")
	}
}

// IsSystem reports whether the tests of make system run, for a test that has a longer form there. It is true for
// make soak too.
func IsSystem() bool {
	return !testing.Short() && (os.Getenv("ASSAY_TEST") == "system" || os.Getenv("ASSAY_SOAK") != "")
}

// Lacks skips a test because the machine lacks something: a program, a module of Python, a right. make
// test groups these tests by this name, so it is the same word in every test.
func Lacks(t testing.TB, what string, why ...any) {
	t.Helper()
	if len(why) > 0 {
		t.Skipf("missing %s: %s", what, fmt.Sprint(why...))
	}
	t.Skipf("missing %s:", what)
}

// Program returns the path of a program. The test is skipped if the machine lacks it, and in go test -short.
func Program(t testing.TB, name string) string {
	t.Helper()
	Outside(t)
	path, err := exec.LookPath(name)
	if err != nil {
		Lacks(t, name)
	}
	return path
}

// Root skips a test that needs the rights of root.
func Root(t testing.TB) {
	t.Helper()
	Outside(t)
	if os.Getuid() != 0 {
		Lacks(t, "root")
	}
}

// Descriptors skips a test that needs more open files than a process may have here (ulimit -n).
func Descriptors(t testing.TB, n uint64) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur < n {
		Lacks(t, "descriptors", limit.Cur, " of ", n)
	}
}

// Wide has at least n tests of the package run at once, unless -parallel sets a number: most of the time they wait for
// a program or for a moment to pass. It is called before [Main].
func Wide(n int) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		if err := flag.Set("test.parallel", strconv.Itoa(max(n, runtime.GOMAXPROCS(0)))); err != nil {
			panic(err)
		}
	}
}

// Slurm skips a test of make system that brings up a real Slurm in network namespaces, unless the machine has all that
// this takes, and the programs besides.
func Slurm(t testing.TB, programs ...string) {
	t.Helper()
	System(t)
	Root(t)
	for _, p := range append([]string{"slurmctld", "slurmd", "sbatch", "ip", "nsenter"}, programs...) {
		Program(t, p)
	}
	name := "assay-try-" + strconv.Itoa(os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		Lacks(t, "network namespaces", err, ": ", string(out))
	}
	if err := exec.Command("ip", "netns", "del", name).Run(); err != nil {
		t.Error(err)
	}
}

// Installed returns the path of something that scripts/deps.sh installs for tests: below assay in the user's cache. It
// need not be there.
func Installed(parts ...string) string {
	cache, err := os.UserCacheDir()
	if err != nil { // HOME is not set
		if u, err := user.Current(); err == nil {
			cache = filepath.Join(u.HomeDir, ".cache")
		}
	}
	return filepath.Join(append([]string{cache, "assay"}, parts...)...)
}

// Module returns a Python that has a module: python3, or the one of a virtual environment that scripts/deps.sh made
// below the user's cache. The test is skipped if no Python has it.
func Module(t testing.TB, name, environment string) string {
	t.Helper()
	Outside(t)
	for _, python := range []string{"python3", Installed(environment, "bin", "python")} {
		if exec.Command(python, "-c", "import "+name).Run() == nil {
			return python
		}
	}
	Lacks(t, environment)
	return ""
}

// Times returns how often a test repeats its proof, such as its number of seeds or of kills: few, and
// many in make system.
func Times(few, many int) int {
	if IsSystem() {
		return many
	}
	return few
}

// MainOutside is [Main] for a package each of whose tests starts a program or a server. go test -short runs none of
// them.
func MainOutside(m *testing.M, after ...func()) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("not in -short: every test of this package starts a program or a server")
		os.Exit(0)
	}
	Main(m, after...)
}
