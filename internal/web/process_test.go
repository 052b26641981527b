package web_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/server"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/setup"
)

// program returns the command assay.
func program(t *testing.T) string {
	t.Helper()
	return testbed.Built(t, "github.com/assay-run/assay/cmd/assay")
}

// start starts the command in a directory of its own.
func start(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "HOME="+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// await asks until a server answers.
func await(t *testing.T, c *api.Client) {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		_, err := c.Me(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// A tune in another process is watched as it goes on, on a page of a store that no server has;
// nothing can be changed there.
func TestWatchTune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := `name: slow
command: [sleep, "{x}"]
parameters: {x: {type: real, min: 0.05, max: 0.4}}
search: {name: random, seed: 3}
stop: {rule: none}
budget: {trials: 400}
`
	if err := os.WriteFile(filepath.Join(dir, "slow.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "a.db")
	tune := start(t, dir, "tune", "slow.yaml", "--store", at, "--json")
	for until := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		s, err := setup.ReadStore(t.Context(), at)
		if err == nil {
			sum, err := s.Summary(t.Context(), "slow")
			_ = s.Close()
			if err == nil && sum.Trials() > 1 {
				break
			}
		}
		if time.Now().After(until) {
			t.Fatal("the study does not begin")
		}
	}
	url := serveUI(t, server.UI{Store: func(ctx context.Context) (*setup.Store,
		error,
	) {
		return setup.ReadStore(ctx, at)
	}})
	b := browser.Open(t)
	b.Visit(url)
	b.Wait(`document.title === "Studies - assay"`)
	b.Visit(base(url) + "/s/slow")
	b.Wait(`document.documentElement.dataset.drawn === "true"`)
	state := func(want string) {
		t.Helper()
		b.Wait(`document.querySelector("[data-live=state]").textContent === "` + want + `"`)
	}
	state("running")
	const trials = `parseInt(document.querySelector("[data-live=counts]").textContent)`
	before := browser.Eval[int](b, trials)
	b.Wait(trials + " > " + browser.Quote(before+3))
	const acts = `document.querySelectorAll("form[action$='/trials'], form[action$='/state']").length`
	if n := browser.Eval[int](b, acts); n > 0 {
		t.Errorf("%d acts are offered", n)
	}
	// The page and the API refuse a request that is made all the same.
	b.Allow("405")
	for _, path := range []string{"/s/slow/state", "/api/v1/studies/slow/state"} {
		got := browser.Await[int](b, `fetch(`+browser.Quote(path)+`, {method: "`+
			map[bool]string{true: "PATCH", false: "POST"}[strings.HasPrefix(path, "/api")]+
			`", body: new URLSearchParams({state: "pause", csrf: document.querySelector("[name=csrf]").value})}).then((r) => `+
			`r.status)`)
		if got != 405 {
			t.Errorf("%s: %d", path, got)
		}
	}
	// That it was killed is seen without an event, and that another goes on with it.
	if err := tune.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = tune.Wait()
	state("idle")
	tune = start(t, dir, "tune", "slow.yaml", "--store", at, "--json")
	state("running")
	if err := tune.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	state("ended")
}

// A server that is killed comes back, and a page that was open then goes on by itself: without a
// reload it has the events since then.
func TestReconnect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "d")
	address := "unix:" + filepath.Join(data, api.SocketName)
	first := start(t, dir, "server", "--data", data, "--local-slots", "0")
	c, err := api.Open(address, "")
	if err != nil {
		t.Fatal(err)
	}
	await(t, c)
	file := "command: [sleep, \"{x}\"]\nparameters: {x: {type: real, min: 0.05, max: 0.4}}\nbudget: {trials: 40}\n"
	if _, err := c.Submit(t.Context(), api.Submission{Name: "slow", File: file}); err != nil {
		t.Fatal(err)
	}
	url := serveUI(t, server.UI{Client: c})
	b := browser.Open(t)
	b.Allow("Failed to load resource") // while there is no server
	b.Visit(url)
	b.Wait(`document.title === "Studies - assay"`)
	b.Visit(base(url) + "/s/slow")
	b.Wait(`document.querySelector("[data-live=link]")?.textContent === "live"`)
	state := func(want string) {
		b.Wait(`document.querySelector("[data-live=state]").textContent === "` + want + `"`)
	}
	state("running")
	browser.Eval[bool](b, `window.kept = true`)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	b.Wait(`document.querySelector("[data-live=link]").textContent.includes("away")`)
	start(t, dir, "server", "--data", data, "--local-slots", "0")
	await(t, c)
	if _, err := c.SetState(t.Context(), "slow", "pause", ""); err != nil {
		t.Fatal(err)
	}
	state("paused")
	b.Wait(`document.querySelector("[data-live=link]").textContent === "live"`)
	if _, err := c.SetState(t.Context(), "slow", "run", ""); err != nil {
		t.Fatal(err)
	}
	state("running")
	if !browser.Eval[bool](b, `window.kept === true`) {
		t.Error("the page was loaded again")
	}
}

// A server that others reach has the pages beside its API: a token logs in, and the actions that it may
// take are done from the page and are on record.
func TestServerPages(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "d")
	made, err := server.Init(dir, []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(made.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ready, ended := make(chan server.Ready, 1), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Options{Dir: dir, Listen: []string{"127.0.0.1:0"}, Version: "test"},
			func(r server.Ready) { ready <- r })
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	var at server.Ready
	select {
	case at = <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	var https string
	for _, a := range at.Addresses {
		if strings.HasPrefix(a, "https:") {
			https = a
		}
	}
	c, err := api.Open(at.Addresses[0], "")
	if err != nil {
		t.Fatal(err)
	}
	file := "command: [sleep, \"{x}\"]\nparameters: {x: {type: real, min: 0.05, max: 0.4}}\nbudget: {trials: 40}\n"
	if _, err := c.Submit(t.Context(), api.Submission{Name: "slow", File: file}); err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t)
	b.Trust()
	b.Go(https + "/s/slow")
	b.Picture("login")
	b.Type("#code", strings.TrimSpace(string(token)))
	b.Key(browser.Enter)
	b.Wait(`location.pathname === "/s/slow" && document.querySelector("[data-live=link]")?.textContent === "live"`)
	if who := b.Text(".me"); !strings.Contains(who, "admin") {
		t.Errorf("who I am: %q", who)
	}
	b.Click(`button[value=pause]`)
	b.Wait(`document.querySelector(".flash")?.textContent.includes("slow is paused")`)
	d, err := c.Study(t.Context(), "slow")
	if err != nil || d.Study.State != "paused" {
		t.Errorf("%+v %v", d.Study, err)
	}
	spec := map[string]any{}
	if json.Unmarshal(d.Spec, &spec) != nil || len(spec) == 0 {
		t.Errorf("spec %s", d.Spec)
	}
	b.Ready()
	b.Click(`form[action="/logout"] button`)
	b.Wait(`location.pathname === "/login"`)
}

// All that a page shows and does is there without a script: log-in, lists, the answer, the theme.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	store := memory(t)
	r := newRecord(t, store, "encoder")
	r.run(120)
	_, asked := r.ask()
	r.append(asked)
	url := ui(t, store)
	_, code, _ := strings.Cut(url, "#code=")
	b := browser.Open(t)
	b.Size(1280, 900)
	b.Scripts(false)
	b.Visit(url)
	b.Type("#code", code)
	b.Key(browser.Enter)
	b.Wait(`document.title === "Studies - assay"`)
	b.Click(`a[href="/s/encoder"]`)
	b.Wait(`document.querySelector("#answer") !== null && document.readyState === "complete"`)
	b.Picture("study-without-scripts")
	for selector, want := range map[string]string{
		"#answer": "encode --level", "#running tbody": "121", "#trials tbody": "∧ stopped", ".sums": "spent of the budget",
	} {
		if text := b.Text(selector); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q: %q", selector, want, text)
		}
	}
	if b.Text("html") == "" || browser.Eval[bool](b, `document.documentElement.dataset.ready === "true"`) {
		t.Error("a script has run")
	}
	b.Click(`a[href^="?after="]`)
	b.Wait(`location.search === "?after=21"`)
	b.Wait(`document.querySelector("#trials tbody tr td")?.textContent === "71"`)
	b.Click(`[data-theme-form] button`)
	b.Wait(`document.documentElement.dataset.theme === "dark"`)
	if !strings.Contains(browser.Eval[string](b, `location.href`), "after=21") {
		t.Error("the theme leads away from the page")
	}
}
