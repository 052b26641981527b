package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/testbed"
)

// pythons returns the interpreters of the versions that the package is for, by their names; those that are not
// here are missing from it.
func pythons(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/nonexistent"
	}
	for _, name := range []string{"python3.9", "python3.10", "python3.11", "python3.12", "python3.13"} {
		at, err := exec.LookPath(name)
		if err == nil && exec.Command(at, "-c", "import ssl").Run() == nil {
			found[name] = at
			continue
		}
		there, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", strings.TrimPrefix(name, "python")+"*", "bin",
			name))
		if len(there) > 0 {
			found[name] = there[len(there)-1]
		}
	}
	return found
}

// pythonTests runs tests of clients/python, by their names in package tests.
func pythonTests(t *testing.T, python string, tests []string, env ...string) {
	t.Helper()
	dir, err := filepath.Abs("../../clients/python")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-m", "unittest", "-v"}
	for _, name := range tests {
		args = append(args, "tests."+name)
	}
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1", "XDG_STATE_HOME="+t.TempDir(),
		"ASSAY_SERVER=", "ASSAY_TOKEN_FILE=")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", python, err, out)
	}
	for _, line := range regexp.MustCompile(`(?m)^.*\.\.\. skipped.*$`).FindAllString(string(out), -1) {
		t.Logf("SKIPPED, NOT TESTED: %s", line)
	}
}

// The package for Python works over the command, over a socket and over TLS, with the oldest version of Python that is
// here. make system tries the other versions with the tests that depend on the version, and make soak with all tests.
func TestPythonPackage(t *testing.T) {
	t.Parallel()
	testbed.Outside(t)
	found := pythons(t)
	if len(found) == 0 {
		testbed.Lacks(t, "python3", "no version from 3.9 to 3.13")
	}
	env := askedServer(t)
	tests, ran := []string{"test_assay"}, 0
	for _, name := range []string{"python3.9", "python3.10", "python3.11", "python3.12", "python3.13"} {
		t.Run(name, func(t *testing.T) {
			if found[name] == "" {
				testbed.Lacks(t, name)
			}
			if ran++; ran > 1 {
				testbed.System(t)
			}
			pythonTests(t, found[name], tests, env...)
			if os.Getenv("ASSAY_SOAK") == "" {
				tests = []string{
					"test_assay.Space", "test_assay.OfACommand.test_a_loop", "test_assay.OfACommand.test_mistakes",
					"test_assay.OfAServer.test_a_loop", "test_assay.OfAServerByTLS.test_a_loop",
					"test_assay.OfAServerByTLS.test_another_authority",
				}
			}
		})
	}
}

// askedServer starts a server on a socket and behind TLS, and returns where it is as the tests in Python read it.
func askedServer(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	env := append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "ASSAY_SERVER=", "ASSAY_TOKEN_FILE=")
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command("assay", args...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	if out, err := command("server", "init", "--name", "127.0.0.1").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := command("server", "--listen", "127.0.0.1:0", "--local-slots", "0")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	server.Stderr = &errs
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	url := regexp.MustCompile(`https://127\.0\.0\.1:\d+`).FindString(line)
	if url == "" {
		t.Fatalf("the server says %q", line)
	}
	token, err := command("token", "add", "--name", "ada", "--role", "author").Output()
	for i := 0; err != nil && i < 100; i++ {
		time.Sleep(100 * time.Millisecond)
		token, err = command("token", "add", "--name", "ada", "--role", "author").Output()
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "ada.token")
	if err := os.WriteFile(file, token, 0o600); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "assay", "server")
	return []string{
		"ASSAY_TEST_UNIX=unix:" + filepath.Join(home, "assay.sock"), "ASSAY_TEST_HTTPS=" + url,
		"ASSAY_TEST_TOKEN=" + file, "ASSAY_TEST_CA=" + filepath.Join(home, "ca", "ca.pem"),
	}
}

// The sampler for Optuna proposes the configurations of assay, and tells it their outcomes.
func TestOptunaSampler(t *testing.T) {
	t.Parallel()
	python := testbed.Module(t, "optuna, pandas", "optuna")
	version, err := exec.Command(python, "-c", "import optuna; print(optuna.__version__)").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Optuna %s", bytes.TrimSpace(version))
	pythonTests(t, python, []string{"test_optuna", "test_assay.OfACommand.test_a_data_frame"})
}
