package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
)

// Every example of a real program runs by the commands of its page, in its shortest form: the default and one
// more configuration. Its study has at most 25 lines of YAML, which are the whole of it. make test runs one of
// them.
func TestExamples(t *testing.T) {
	testbed.Outside(t)
	withPostgres(t)
	withWorkflows(t)
	examples := []example{
		{name: "matmul", needs: []string{"go"}},
		{name: "gogc", needs: []string{"go"}},
		{name: "gcc", needs: []string{"gcc"}},
		{name: "x264", needs: []string{"x264", "ffmpeg"}},
		{name: "jvm", needs: []string{"java", "javac"}},
		{name: "redis", needs: []string{"redis-server", "redis-benchmark"}},
		{name: "postgresql", needs: []string{"initdb", "pgbench"}, unprivileged: true},
		{name: "sklearn", needs: []string{"python3"}, module: "sklearn"},
		{name: "llm", needs: []string{"python3"}},
		{name: "pcse", needs: []string{"python3"}, module: "pcse"},
		{name: "gpu", needs: []string{"gcc"}, file: "/usr/include/CL/cl.h"},
		{name: "snakemake", needs: []string{"snakemake"}},
		{name: "nextflow", needs: []string{"nextflow"}},
		{name: "sort", needs: []string{"sort", "gzip", "zstd"}},
	}
	everyExample(t, examples)
	for _, tt := range examples {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "gcc" {
				testbed.System(t)
			}
			if tt.name == "gpu" {
				if devices, _ := filepath.Glob("/etc/OpenCL/vendors/*.icd"); len(devices) == 0 {
					testbed.Lacks(t, "OpenCL", "a card, or pocl-opencl-icd")
				}
			}
			if _, err := os.Stat(tt.file); tt.file != "" && err != nil {
				testbed.Lacks(t, filepath.Base(tt.file), err)
			}
			for _, p := range tt.needs {
				testbed.Program(t, p)
			}
			if tt.module != "" {
				testbed.Module(t, tt.module, tt.module)
			}
			dir := t.TempDir()
			exampleCopy(t, dir, "../../examples/"+tt.name)
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example\n\ngo 1.26\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "lines.txt"), []byte("3\n1\n2\n"), 0o600); err != nil { // a small input
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "assay.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "\n"); n > 25 {
				t.Errorf("the study file has %d lines, more than 25", n)
			}
			var out, log strings.Builder
			cmd := exec.CommandContext(t.Context(), "assay", "tune", "assay.yaml", "--trials", "2", "--check", "0",
				"--stop", "none", "--budget", "5m", "--store", "memory", "--json")
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &log
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
			if tt.unprivileged && os.Getuid() == 0 {
				asNobody(t, cmd, dir)
			}
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s", err, log.String())
			}
			var got struct {
				Best   *struct{ Value float64 }
				Trials struct{ Failed int }
			}
			if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
				t.Fatalf("%v in %s", err, out.String())
			}
			if got.Best == nil || got.Trials.Failed > 0 {
				t.Errorf("%s\n%s", out.String(), log.String())
			}
		})
	}
}

// An example is a directory of examples with the study file assay.yaml, with the needs of its program.
type example struct {
	name, module string
	needs        []string
	unprivileged bool
	file         string // must be there
}

// everyExample fails for an example that no test runs.
func everyExample(t *testing.T, examples []example) {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/assay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		listed := slices.ContainsFunc(examples, func(e example) bool { return e.name == name })
		// TestSchedsim and TestSlurmExample run two of them, and blast is for assay learn.
		if !listed && !slices.Contains([]string{"schedsim", "slurm", "blast"}, name) {
			t.Errorf("no test runs %s", file)
		}
	}
}

// The table of the crop model's example computes the common part of its seasons once. Its rows equal the rows that
// single runs print.
func TestFarmTable(t *testing.T) {
	testbed.System(t)
	testbed.Module(t, "pcse", "pcse")
	python := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "python3", args...)
		cmd.Dir = "../../examples/pcse"
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	rows := python("-B", "-c", "import farm; farm.DOSES, farm.STAGES = (0, 12), 2; print(farm.year_of(1990), end='')")
	if n := strings.Count(rows, "\n"); n != 4 {
		t.Errorf("%d rows of 2 doses at 2 stages", n)
	}
	for _, doses := range []string{"0,12", "12,12"} {
		out := python(append([]string{"-B", "farm.py", "1990"}, strings.Split(doses+",0,0,0", ",")...)...)
		gain := strings.TrimSuffix(out[strings.Index(out, "gain ")+len("gain "):], " g/m2\n")
		if !strings.Contains(rows, "1990,"+doses+","+gain+"\n") {
			t.Errorf("%s gains %s, not as in the table:\n%s", doses, gain, rows)
		}
	}
}

// exampleCopy copies the regular files of an example alone: an earlier tuning may have left a socket.
func exampleCopy(t *testing.T, to, from string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// withWorkflows puts the workflow systems on the path that scripts/deps.sh has installed.
func withWorkflows(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	jars := testbed.Installed("nextflow")
	if _, err := os.Stat(jars); err == nil {
		line := "#!/bin/sh\nexec java -Xmx512m"
		for _, p := range []string{"java.lang", "java.util", "java.nio", "java.io", "java.net", "sun.nio.ch"} {
			line += " --add-opens=java.base/" + p + "=ALL-UNNAMED"
		}
		line += " -cp '" + jars + "/*' nextflow.cli.Launcher \"$@\"\n"
		testbed.WriteProgram(t, filepath.Join(dir, "nextflow"), []byte(line))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH")+":"+testbed.Installed("snakemake", "bin"))
}

// withPostgres puts Debian's programs of PostgreSQL on the path, which are in a directory of their version.
func withPostgres(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/usr/lib/postgresql/*/bin"} {
		if found, _ := filepath.Glob(dir); len(found) > 0 {
			t.Setenv("PATH", found[len(found)-1]+":"+os.Getenv("PATH"))
		}
	}
}

// asNobody runs cmd as a user without rights, who owns dir: PostgreSQL does not run as root.
func asNobody(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	const nobody, nogroup = 65534, 65534
	b, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(dir, "assay")
	testbed.WriteProgram(t, cmd.Path, b)
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nogroup)
	})
	if err != nil {
		t.Fatal(err)
	}
	for d := filepath.Dir(dir); d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil { //nolint:gosec // the directory of a test
			t.Fatal(err)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nogroup}}
	cmd.Env = append(cmd.Env, "HOME="+dir, "PGUSER=postgres", "USER=nobody")
}
