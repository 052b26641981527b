package run

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/assay-run/assay"
)

func TestProgramsThatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		return path
	}
	data := write("data", "hello", 0o644)
	text := write("text", "hello", 0o755)
	script := write("script", "#!/no/such/interpreter\n", 0o755)
	good := write("good", "#!/bin/sh\nexit 0\n", 0o755)
	tests := []struct {
		name string
		job  assay.Job
		is   error
		says []string
	}{
		{
			"not in PATH",
			assay.Job{Argv: []string{"no-such-program"}},
			fs.ErrNotExist,
			[]string{`"no-such-program"`, "PATH"},
		},
		{
			"no file",
			assay.Job{Argv: []string{dir + "/none"}},
			fs.ErrNotExist,
			[]string{dir + "/none", "does not exist"},
		},
		{
			"relative to the directory",
			assay.Job{Argv: []string{"./none"}, Dir: dir},
			fs.ErrNotExist,
			[]string{`"./none"`, "does not exist"},
		},
		{
			"not executable",
			assay.Job{Argv: []string{data}},
			fs.ErrPermission,
			[]string{data, "not executable", "-rw-r--r--"},
		},
		{"directory", assay.Job{Argv: []string{dir}}, fs.ErrPermission, []string{dir, "directory"}},
		{"no interpreter", assay.Job{Argv: []string{script}}, syscall.ENOENT, []string{script, "interpreter"}},
		{"neither binary nor script", assay.Job{Argv: []string{text}}, syscall.ENOEXEC, []string{text, "#!"}},
		{"empty name", assay.Job{Argv: []string{""}}, fs.ErrNotExist, []string{"empty"}},
		{
			"no directory",
			assay.Job{Argv: []string{"true"}, Dir: dir + "/none"},
			fs.ErrNotExist,
			[]string{"directory", dir + "/none"},
		},
		{
			"no directory for a relative program",
			assay.Job{Argv: []string{"./good"}, Dir: dir + "/none"},
			fs.ErrNotExist,
			[]string{"directory", dir + "/none"},
		},
		{
			"directory is a file",
			assay.Job{Argv: []string{"true"}, Dir: good},
			syscall.ENOTDIR,
			[]string{"not a directory"},
		},
		{
			"too long",
			assay.Job{Argv: []string{"true", strings.Repeat("x", 4<<20)}},
			syscall.E2BIG,
			[]string{"too long"},
		},
		{"no command", assay.Job{}, nil, []string{"no command"}},
		{"environment", assay.Job{Argv: []string{"true"}, Env: []string{"=x"}}, nil, []string{`"=x"`, "NAME=value"}},
		{
			"resource",
			assay.Job{Argv: []string{"true"}, Resources: map[string]float64{"memory_B": 1}},
			nil,
			[]string{`"memory_B"`},
		},
		{
			"processors",
			assay.Job{Argv: []string{"true"}, Resources: map[string]float64{"cpus": 1e6}},
			nil,
			[]string{"1e+06"},
		},
		{
			"half a processor",
			assay.Job{Argv: []string{"true"}, Resources: map[string]float64{"cpus": 0.5}},
			nil,
			[]string{"0.5"},
		},
	}
	eachMode(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		before := len(zombieChildren())
		for _, tt := range tests {
			m, err := l.Run(t.Context(), tt.job, nil)
			if err == nil {
				t.Errorf("%s: no error, %+v", tt.name, m)
				continue
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%s: %v is not %v", tt.name, err, tt.is)
			}
			for _, s := range tt.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", tt.name, err, s)
				}
			}
		}
		if n := len(zombieChildren()); n != before {
			t.Errorf("%d zombies are left", n-before)
		}
		if m, err := l.Run(t.Context(), assay.Job{Argv: []string{"./good"}, Dir: dir}, nil); err != nil ||
			m.ExitCode != 0 {
			t.Errorf("after all that: %+v, %v", m, err)
		}
		if l.opts.NoCgroup == (l.Cgroup() != "") {
			t.Errorf("the cgroups were given up")
		}
	})
}

func TestLookPath(t *testing.T) {
	if path, err := LookPath("sh", ""); err != nil || !filepath.IsAbs(path) {
		t.Errorf("got %q, %v", path, err)
	}
	if path, err := LookPath("./sh", "/bin"); err != nil || path != "/bin/./sh" {
		t.Errorf("got %q, %v", path, err)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"A=1", "B=2", "C=3"}, []string{"B=x", "D=", "B=y=z", markerName + "=forged"}, "mark")
	want := []string{"A=1", "C=3", "D=", "B=y=z", markerName + "=mark"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Our open descriptors do not reach the program: it has the same as a program started by os/exec.
// It leads a group and a session.
func TestDescriptors(t *testing.T) {
	const script = `ls /proc/$$/fd; readlink /proc/$$/fd/0`
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Stderr = new(strings.Builder)
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	eachMode(t, func(t *testing.T, newRunner func(LocalOptions) *Local) {
		l := newRunner(LocalOptions{})
		if got := mustRun(t, l, "/bin/sh", "-c", script).Stdout; string(got) != string(want) {
			t.Errorf("descriptors: got %q, want %q", got, want)
		}
		f := strings.Fields(string(mustRun(t, l, "/bin/sh", "-c", `cut -d' ' -f5,6 /proc/$$/stat; echo $$`).Stdout))
		if len(f) != 3 || f[0] != f[2] || f[1] != f[2] {
			t.Errorf("group, session, process: %v", f)
		}
	})
}

// Each run has processors of its own as long as there are enough, and the
// threads of the tool keep theirs.
func TestProcessors(t *testing.T) {
	l := newLocal(t, LocalOptions{})
	if len(l.cpus.all) < 2 {
		t.Skip("SKIPPED, NOT TESTED: one processor")
	}
	allowed := func(job assay.Job) string {
		job.Argv = []string{"/bin/sh", "-c", `grep Cpus_allowed_list /proc/self/status; sleep 0.2`}
		m, err := l.Run(t.Context(), job, nil)
		if err != nil {
			t.Error(err)
		}
		_, list, _ := strings.Cut(strings.TrimSpace(string(m.Stdout)), "\t")
		return list
	}
	before := allowed(assay.Job{})
	got := make(chan string)
	for range 2 {
		go func() { got <- allowed(assay.Job{Resources: map[string]float64{"cpus": 1}}) }()
	}
	a, b := <-got, <-got
	if a == b || strings.ContainsAny(a+b, ",-") {
		t.Errorf("two runs of one processor have %q and %q", a, b)
	}
	if after := allowed(assay.Job{}); after != before || after != ranges(l.cpus.all) {
		t.Errorf("a run without the resource has %q, before %q", after, before)
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/status")
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err == nil && !strings.Contains(string(text), "Cpus_allowed_list:\t"+before+"\n") {
			t.Errorf("%s is not on %s", task, before)
		}
	}
}

func TestDividingProcessors(t *testing.T) {
	c := newCPUs([]int{0, 1, 4, 5}, true)
	if !slices.Equal(c.pinned(), []int{0, 1, 4}) || !slices.Equal(c.tool, []int{5}) {
		t.Errorf("runs have %v, the tool %v", c.pinned(), c.tool)
	}
	if c := newCPUs([]int{0, 1, 2}, true); c.pinned() != nil || len(c.runs) != 3 {
		t.Errorf("of three processors runs have %v, %v", c.runs, c.pinned())
	}
	a, _ := c.take(2)
	b, _ := c.take(1)
	shared, _ := c.take(1)
	if !slices.Equal(a, []int{0, 1}) || !slices.Equal(b, []int{4}) || !slices.Equal(shared, []int{0}) {
		t.Errorf("taken %v, %v, %v", a, b, shared)
	}
	c.give(a)
	if again, _ := c.take(2); !slices.Equal(again, []int{0, 1}) && !slices.Equal(again, []int{1, 4}) {
		t.Errorf("taken again %v", again)
	}
	if _, err := c.take(4); err == nil {
		t.Error("four of three processors")
	}
}
