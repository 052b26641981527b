package planning

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/workflow/request"
)

// cached returns a path in the folder in which scripts/deps.sh puts programs for tests, and skips the
// test if it is not there.
func cached(t *testing.T, path string) string {
	t.Helper()
	p := testbed.Installed(path)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("not installed: %s (scripts/deps.sh installs it)", p)
	}
	return p
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestSnakemakeUsesTheProfile has Snakemake run a rule that is killed twice: its requests are the
// rule's requests for its input, doubled for each attempt. Names that no rule can have are left
// out.
func TestSnakemakeUsesTheProfile(t *testing.T) {
	testbed.System(t)
	snakemake := cached(t, "snakemake/bin/snakemake")
	p := hostilePlan()
	p.Kinds[0].Memory.Rule = request.Rule{Base: 100e6, PerByte: 20, Low: 50e6, High: 900e6}
	dir, file := written(t, "snakemake-profile", p)
	write(t, dir, "in.txt", strings.Repeat("x", 10_000_000))
	write(t, dir, "Snakefile", `
rule all:
    input: "out.txt"
rule plain:
    input: "in.txt"
    output: "out.txt"
    shell: "echo {resources.mem_mb} {resources.runtime} {attempt} >>asked; `+
		`[ {resources.mem_mb} -ge 1000 ] && touch {output}"
`)
	// {attempt} is no wildcard of a shell command: the number of lines is the attempt.
	s, _ := os.ReadFile(filepath.Join(dir, "Snakefile"))
	write(t, dir, "Snakefile", strings.ReplaceAll(string(s), " {attempt}", ""))
	cmd := exec.Command(snakemake, "--profile", filepath.Dir(file), "--cores", "1")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	// 100 MB and 20 bytes a byte of 10 MB, a little above: the slope is rounded up.
	if got := string(asked); err != nil || got != "301 10\n602 20\n1204 40\n" {
		t.Errorf("asked %q %v\n%s", got, err, out)
	}
	notPwned(t, dir)
}

// TestNextflowUsesTheConfiguration has Nextflow run a process that is killed twice, and one whose name
// a hostile name would match if it were taken for a pattern.
func TestNextflowUsesTheConfiguration(t *testing.T) {
	testbed.System(t)
	jars := cached(t, "nextflow")
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("no java")
	}
	p := hostilePlan()
	dir, file := written(t, "nextflow.config", p)
	write(t, dir, "main.nf", `
process plain {
  input: val x
  output: stdout
  script: "printf 'plain ${task.memory} ${task.time}\n' >>$dir/asked; [ ${task.attempt} -ge 3 ] || exit 137"
}
process aXb { // the pattern a.b would match it
  input: val x
  output: stdout
  script: "printf 'aXb ${task.memory}\n' >>$dir/asked"
}
workflow { plain(Channel.of(1)); aXb(Channel.of(1)) }
`)
	nf, _ := os.ReadFile(filepath.Join(dir, "main.nf"))
	write(t, dir, "main.nf", strings.ReplaceAll(string(nf), "$dir", dir))
	args := []string{"-Xmx512m"}
	for _, pkg := range []string{"java.lang", "java.util", "java.nio", "java.io", "java.net"} {
		args = append(args, "--add-opens=java.base/"+pkg+"=ALL-UNNAMED")
	}
	args = append(args, "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-cp", jars+"/*", "nextflow.cli.Launcher",
		"-C", file, "run", "main.nf", "-ansi-log", "false")
	cmd := exec.Command("java", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NXF_OFFLINE=true", "NXF_HOME="+filepath.Join(dir, "home"),
		"NXF_DISABLE_CHECK_LATEST=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asked, _ := os.ReadFile(filepath.Join(dir, "asked"))
	var plain, other []string
	for l := range strings.Lines(string(asked)) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "plain") {
			plain = append(plain, l)
		} else {
			other = append(other, l)
		}
	}
	if got := strings.Join(plain, ","); got != "plain 100 MB 10m,plain 200 MB 20m,plain 400 MB 40m" {
		t.Errorf("asked %q\n%s", got, out)
	}
	if len(other) != 1 || other[0] != "aXb null" {
		t.Errorf("the process of another name asked %q", other)
	}
	notPwned(t, dir)
}
