package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assay-run/assay/internal/mcp"
	"github.com/assay-run/assay/internal/testbed"
)

// An agent is a client of assay mcp.
type agent struct {
	t        *testing.T
	session  *sdk.ClientSession
	progress atomic.Int32 // notifications
}

func connect(t *testing.T, transport sdk.Transport) *agent {
	t.Helper()
	a := &agent{t: t}
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { a.progress.Add(1) },
	})
	s, err := c.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.session = s
	return a
}

// call calls a tool with arguments in JSON.
func (a *agent) call(tool, args string) *sdk.CallToolResult {
	a.t.Helper()
	p := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}
	p.SetProgressToken(tool)
	r, err := a.session.CallTool(a.t.Context(), p)
	if err != nil {
		a.t.Fatalf("%s %s: %v", tool, args, err)
	}
	return r
}

// textOf returns the texts of a result.
func textOf(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		all = append(all, c.(*sdk.TextContent).Text) //nolint:forcetypeassert // no tool has another content
	}
	return strings.Join(all, "\n")
}

// does fails the test unless a tool succeeds with a text, and refuses unless it fails with one.
func (a *agent) does(tool, args, want string) *sdk.CallToolResult {
	return a.has(false, tool, args, want)
}
func (a *agent) refuses(tool, args, want string) { a.t.Helper(); a.has(true, tool, args, want) }

func (a *agent) has(failed bool, tool, args, want string) *sdk.CallToolResult {
	a.t.Helper()
	r := a.call(tool, args)
	if text := textOf(r); r.IsError != failed || !strings.Contains(text, want) {
		a.t.Errorf("%s %s: an error %t, want %t with %q:\n%s", tool, args, r.IsError, failed, want, text)
	}
	return r
}

const slowFile = "command: [sleep, \"77{n}\"]\nparameters: {n: 1..9}\n"

// servedAgent returns an agent of a server in this process, and a directory with study files.
func servedAgent(t *testing.T) (*agent, *house) {
	t.Helper()
	testbed.Outside(t)
	h := newHouse(t)
	h.write("quick.yaml", "command: [\"true\", \"{n}\"]\nparameters: {n: 1..9}\ncheck: 0\nsearch: {seed: 1}\n")
	h.write("slow.yaml", slowFile)
	t.Chdir(h.dir)
	here, there := sdk.NewInMemoryTransports()
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- mcp.Serve(ctx, mcp.Options{Version: "1", Place: []string{"--store=s.db"}}, there) }()
	t.Cleanup(func() { cancel(); <-served })
	return connect(t, here), h
}

// A study runs within a stated budget only. Its results are the JSON of the commands.
func TestMCPStudy(t *testing.T) {
	a, h := servedAgent(t)
	a.does("check", `{"file": "quick.yaml"}`, "9 configurations of 1 parameters")
	a.refuses("check", `{"file": "nowhere.yaml"}`, "nowhere.yaml")
	h.write("bad.yaml", "command: [\"true\", \"{n}\"]\nparameters: {n: 1..9}\nbugdet: 1\n")
	a.refuses("check", `{"file": "bad.yaml"}`, "bad.yaml:3:1")
	a.refuses("start", `{"name": "q", "file": "quick.yaml"}`, "no budget is stated")
	a.refuses("start", `{"name": "", "file": "quick.yaml", "trials": 3}`, "needs a name")
	a.refuses("resume", `{"name": "q", "file": "quick.yaml", "trials": 3}`, `no study "q"`)
	a.refuses("answer", `{"name": "q"}`, `no study "q"`)
	a.refuses("answer", `{"name": "--help"}`, `no study "--help"`)
	a.refuses("wait", `{"name": "q"}`, "has started no study")
	a.does("start", `{"name": "q", "file": "quick.yaml", "trials": 3}`, "started")
	a.does("wait", `{"name": "q", "seconds": 60}`, `"total":3`)
	if a.progress.Load() == 0 {
		t.Error("no progress was reported")
	}
	a.refuses("start", `{"name": "q", "file": "quick.yaml", "trials": 5}`, "is on record")
	a.does("resume", `{"name": "q", "file": "quick.yaml", "trials": 5}`, "started")
	a.does("wait", `{"name": "q", "seconds": 60}`, `"total":5`)
	a.does("trials", `{"name": "q", "skip": 1, "limit": 2}`, `{"total":5,"trials":[{"id":2,`)
	for tool, command := range map[string]string{"answer": "show", "explain": "explain"} {
		got := a.does(tool, `{"name": "q"}`, `"best"`)
		var want any
		if err := json.Unmarshal([]byte(h.run("study "+command+" q --json --store s.db")), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.StructuredContent, want) {
			t.Errorf("%s: %v\nwant %v", tool, got.StructuredContent, want)
		}
	}
	a.refuses("start", `{"name": "bad", "file": "bad.yaml", "trials": 3}`, "bad.yaml:3:1")
	a.does("start", `{"name": "late", "file": "quick.yaml", "budget": "soon"}`, "started")
	a.refuses("wait", `{"name": "late"}`, "soon")
}

// One run at a time measures on this machine, and stop ends it with its processes.
func TestMCPStop(t *testing.T) {
	a, _ := servedAgent(t)
	a.does("start", `{"name": "s", "file": "slow.yaml", "budget": "10m"}`, "started")
	a.does("wait", `{"name": "s", "seconds": 1}`, "s is running")
	a.refuses("start", `{"name": "q", "file": "quick.yaml", "trials": 3}`, "s is running")
	a.refuses("compare", `{"name": "c", "before": ["true"], "after": ["true"], "pairs": 8}`, "s is running")
	sleeping(t, true)
	a.does("stop", `{"name": "s"}`, `"ended_by":"interrupt"`)
	sleeping(t, false)
	a.refuses("stop", `{"name": "t"}`, "has started no study")
}

// The result of a comparison has its interval, and the outcome of the gate.
func TestMCPCompare(t *testing.T) {
	a, _ := servedAgent(t)
	a.refuses("compare", `{"name": "c", "before": ["true"], "after": ["true"]}`, "no budget is stated")
	a.refuses("compare", `{"name": "c", "before": ["a", "--", "b"], "after": ["true"], "pairs": 8}`, "parts commands")
	a.does("compare", `{"name": "c", "before": ["echo n=20"], "after": ["echo n=100"], "shell": true, "pairs": 20,
		"metric": "n=stdout:/n=([0-9]+)/", "fail_if": "more > 10%"}`, "started")
	got := textOf(a.does("wait", `{"name": "c", "seconds": 60}`, `"verdict"`))
	for _, want := range []string{`"ci":[`, `"verdict":"more"`, "exit status 4"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	a.does("compare", `{"name": "c", "before": ["nonexistent-program"], "after": ["true"], "pairs": 8}`, "started")
	a.refuses("wait", `{"name": "c"}`, "nonexistent-program")
}

// The pages of reference and the help of commands are resources. Tools that change nothing are marked.
func TestMCPResources(t *testing.T) {
	a, _ := servedAgent(t)
	read := func(uri string) string {
		r, err := a.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return ""
		}
		return r.Contents[0].Text
	}
	pages := 0
	for r, err := range a.session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		pages++
		want, err := os.ReadFile(filepath.Join("../../docs", strings.TrimPrefix(r.URI, "assay://")))
		if err == nil && read(r.URI) != string(want) || !strings.HasPrefix(read(r.URI), "# ") {
			t.Errorf("%s is not the page", r.URI)
		}
	}
	if pages < 4 || !strings.Contains(read("assay://format/study.md"), "## Placeholders") {
		t.Errorf("%d pages", pages)
	}
	help := read("assay://help/study%20show")
	if !strings.Contains(help, "assay study show STUDY") || read("assay://help/nonsense") != "" {
		t.Error("the help of study show, and no other")
	}
	acts := map[string]bool{"start": true, "resume": true, "compare": true, "stop": true}
	tools := 0
	for tool, err := range a.session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tools++; tool.Annotations.ReadOnlyHint == acts[tool.Name] {
			t.Errorf("%s is marked as read-only: %t", tool.Name, tool.Annotations.ReadOnlyHint)
		}
	}
	if tools != 9 {
		t.Errorf("%d tools", tools)
	}
}

// A client that leaves and a server that is killed leave no run behind.
func TestMCPEnds(t *testing.T) {
	testbed.Outside(t)
	for name, end := range map[string]func(*agent, *exec.Cmd){
		"the client leaves":     func(a *agent, _ *exec.Cmd) { a.session.Close() },
		"the server is killed":  func(_ *agent, c *exec.Cmd) { _ = c.Process.Kill() },
		"the server has a TERM": func(_ *agent, c *exec.Cmd) { _ = c.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "slow.yaml")
			if err := os.WriteFile(file, []byte(slowFile), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := mcpProcess(t, dir)
			a := connect(t, &sdk.CommandTransport{Command: cmd})
			a.does("start", fmt.Sprintf(`{"name": "s", "file": %q, "budget": "10m"}`, file), "started")
			sleeping(t, true)
			end(a, cmd)
			sleeping(t, false)
			a.session.Close()
			h := &house{t, dir}
			shown := h.run("study trials s --json --store " + filepath.Join(dir, "s.db"))
			if strings.Count(shown, "\n") != 1 || !strings.Contains(shown, `"state":"running"`) {
				t.Errorf("one trial was cut short, and on record is %s", shown)
			}
		})
	}
}

// With a server, studies run on its workers, and outlive the session.
func TestMCPHosted(t *testing.T) {
	s := servePages(t)
	for name, content := range map[string]string{
		"slow.yaml": slowFile + "place: {on: fleet}\n", "here.yaml": slowFile,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	process := func() *agent {
		return connect(t, &sdk.CommandTransport{Command: s.command("mcp", "--server", "unix:"+
			filepath.Join(s.dir, "state/assay/server/assay.sock"))})
	}
	a := process()
	a.does("start", `{"name": "here", "file": "here.yaml", "trials": 3}`, "started")
	a.refuses("wait", `{"name": "here"}`, "--on fleet")
	for _, name := range []string{"f", "g"} { // several at once
		a.does("start", fmt.Sprintf(`{"name": %q, "file": "slow.yaml", "budget": "10m"}`, name), "started")
	}
	sleeping(t, true)
	a.does("stop", `{"name": "f"}`, `"ended_by"`)
	a.session.Close()
	a = process()
	defer a.session.Close()
	sleeping(t, true)
	a.does("answer", `{"name": "g"}`, `"study":"g"`)
	a.does("stop", `{"name": "g"}`, `"g"`)
	sleeping(t, false)
}

// mcpProcess returns assay mcp in a directory.
func mcpProcess(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	exe, err := exec.LookPath("assay")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "mcp", "--store", filepath.Join(dir, "s.db"))
	cmd.Dir = dir
	return cmd
}

// sleeping waits until a process is a run of slow.yaml, or until neither such a process nor a study is left. The
// supervisor of the tests adopts orphans.
func sleeping(t *testing.T, want bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		found := false
		for _, p := range testbed.Descendants(os.Getppid()) {
			line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p), "cmdline"))
			run, study := strings.HasPrefix(string(line), "sleep\x0077"), strings.Contains(string(line), "\x00tune\x00")
			found = found || run || study && !want // a study writes its last files after its run has ended
		}
		if found == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a run is alive: %t, want %t", found, want)
		}
	}
}

// The session of the page holds, over the standard streams of the program.
func TestMCPPage(t *testing.T) {
	testbed.Outside(t)
	testbed.RunSession(t, "../../docs/agents.md", func(dir string) func(tool, args string) string {
		a := connect(t, &sdk.CommandTransport{Command: mcpProcess(t, dir)})
		t.Cleanup(func() { a.session.Close() })
		return func(tool, args string) string { return textOf(a.call(tool, args)) }
	})
}
