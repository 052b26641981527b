package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/testbed"
)

// A served is a server process with its pages.
type served struct {
	t   *testing.T
	dir string
	env []string
	url string
}

// servePages starts a server that others reach, with two slots of its own.
func servePages(t *testing.T) *served {
	t.Helper()
	testbed.Outside(t)
	s := &served{t: t, dir: t.TempDir()}
	s.env = append(os.Environ(), "HOME="+s.dir, "XDG_STATE_HOME="+filepath.Join(s.dir, "state"), "ASSAY_SERVER=",
		"ASSAY_TOKEN_FILE=")
	s.assay("server", "init", "--name", "127.0.0.1")
	server := s.command("server", "--listen", "127.0.0.1:0", "--local-slots", "2")
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
		_ = s.command("workers", "evict", "local").Run() // its runs would go on without the server
		for range 300 {
			if out, err := s.command("queue", "ls", "--json").Output(); err != nil || !bytes.Contains(out, []byte("placed")) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		if t.Failed() {
			t.Logf("the server: %s", errs.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	for i := 0; !strings.Contains(s.assay("workers", "ls", "--json"), `"ready"`); i++ {
		if time.Sleep(100 * time.Millisecond); i > 600 {
			t.Fatal("the worker of the server was not heard of within a minute")
		}
	}
	if s.url = regexp.MustCompile(`https://127\.0\.0\.1:\d+`).FindString(line); s.url == "" {
		t.Fatalf("the server says %q", line)
	}
	return s
}

func (s *served) command(args ...string) *exec.Cmd {
	cmd := exec.Command("assay", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// assay runs a command, and returns its output.
func (s *served) assay(args ...string) string {
	s.t.Helper()
	cmd := s.command(args...)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("assay %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// token makes a token of a role.
func (s *served) token(role string) string {
	return strings.TrimSpace(s.assay("token", "add", "--name", role, "--role", role))
}

// login opens a tab for the owner of a token.
func (s *served) login(token string) *browser.Tab {
	s.t.Helper()
	b := browser.Open(s.t)
	b.Size(1280, 900)
	b.Trust()
	b.Go(s.url + "/")
	b.Type("#code", token)
	b.Click("button.main")
	b.Wait(`document.title === "Studies - assay"`)
	b.Ready()
	return b
}

// fill sets the text of a field.
func fill(b *browser.Tab, selector, text string) {
	browser.Eval[bool](b, fmt.Sprintf(`(document.querySelector(%s).value = %s, true)`, browser.Quote(selector),
		browser.Quote(text)))
}

// press clicks on an element of a page that goes on: one step of the page's own, between two of its looks.
func press(b *browser.Tab, selector string) {
	b.Wait(`document.querySelector(` + browser.Quote(selector) + `)`)
	browser.Eval[bool](b, `(document.querySelector(`+browser.Quote(selector)+`).click(), true)`)
}

const storyFile = `name: story
command: [sh, -c, 'echo begun {n}; sleep {n}']
parameters: {n: [0.2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]}
search: grid
stop: none
budget: {trials: 20}
place: {parallel: 6}
`

// The story of a person: an author writes a study, with a mistake at first, starts it, watches it,
// has trials run first, discards some with a reason, undoes that, ends a run, and reads the answer.
func TestPagesStory(t *testing.T) {
	s := servePages(t)
	b := s.login(s.token("author"))
	press(b, `a[href="/new"]`)
	b.Wait(`document.getElementById("file")`)
	b.Ready()
	fill(b, "#file", strings.Replace(storyFile, "budget", "bugdet", 1))
	b.Allow("422") // the browser reports an answer that refuses
	press(b, `button[value=check]`)
	b.Wait(`document.getElementById("wrong")`)
	if got := b.Text("#wrong"); !strings.Contains(got, "study.yaml:6:1") || !strings.Contains(got, "bugdet") {
		t.Errorf("the mistake is told as %q", got)
	}
	if got := browser.Eval[string](b, `document.getElementById("file").value`); !strings.Contains(got, "bugdet") {
		t.Errorf("the text is %q after the check", got)
	}
	b.Picture("new-wrong")
	fill(b, "#file", storyFile)
	press(b, `button[value=check]`)
	b.Wait(`document.querySelector("[role=status]")`)
	if got := b.Text("[role=status]"); !strings.Contains(got, "11 configurations of 1 parameters") ||
		!strings.Contains(got, "sleep 0.2") {
		t.Errorf("checked, it is said to be %q", got)
	}
	b.Picture("new-checked")
	press(b, `button[value=start]`)
	b.Wait(`location.pathname === "/s/story"`)
	b.Ready()
	b.Wait(`document.querySelector("[data-live=link]").textContent === "live"`)
	b.Wait(`parseInt(document.querySelector("[data-live=counts]").textContent) >= 1`) // the short run, without a reload

	press(b, `nav a[href="/queue"]`)
	b.Wait(`document.querySelectorAll("#placed tr").length === 2 && document.querySelectorAll("#open tr").length >= 3`)
	b.Ready()
	b.Picture("queue")
	nth := func(list string, i int) string {
		return browser.Eval[string](b, fmt.Sprintf(`document.querySelectorAll("#%s tr input")[%d].value`, list, i))
	}
	lastOpen := browser.Eval[string](b, `[...document.querySelectorAll("#open tr input")].at(-1).value`)
	press(b, fmt.Sprintf(`#open button[name=first][value=%q]`, lastOpen))
	b.Wait(`document.querySelector(".flash .did")`)
	if got := b.Text(".flash"); !strings.Contains(got, "next") || !strings.Contains(got, "assay queue first "+lastOpen) {
		t.Errorf("after the act the page says %q", got)
	}
	b.Wait(fmt.Sprintf(`document.querySelector("#open tr input")?.value === %q`, lastOpen))
	press(b, fmt.Sprintf(`#open button[name=restore][value=%q]`, lastOpen))
	b.Wait(`document.querySelector(".flash")?.textContent.includes("restored")`)
	b.Wait(fmt.Sprintf(`document.querySelector("#open tr input")?.value !== %q`, lastOpen))

	// Two are chosen and discarded with a reason; one is undone.
	one, two := nth("open", 0), nth("open", 1)
	for _, r := range []string{one, two} {
		press(b, fmt.Sprintf(`#open input[value=%q]`, r))
	}
	b.Wait(`document.querySelector("[data-live=chosen]").textContent === "the 2 chosen"`)
	if got := b.Text("#commands p:nth-child(2)"); !strings.Contains(got, "assay queue discard "+one+" "+two) {
		t.Errorf("as a command: %q", got)
	}
	press(b, `.bar button[name=discard]`)
	b.Wait(`document.getElementById("ask").open`)
	b.Picture("queue-discard")
	b.Type("#why", "known <b>bad</b>")
	b.Key(browser.Enter)
	b.Wait(`document.querySelector(".flash")?.textContent.includes("discarded")`)
	b.Wait(`document.querySelectorAll("#gone tr").length === 2`)
	if got := b.Text("#gone"); !strings.Contains(got, "known <b>bad</b>") || !strings.Contains(got, "author") {
		t.Errorf("the discarded trials: %q", got)
	}
	b.Picture("queue-discarded")
	press(b, fmt.Sprintf(`#gone button[value=%q]`, two))
	b.Wait(`document.querySelectorAll("#gone tr").length === 1`)

	// A run is ended from its own page, without a script too.
	placed := nth("placed", 0)
	path := "/s/" + strings.Replace(placed, "/", "/t/", 1)
	b.Scripts(false)
	b.Visit(s.url + path)
	b.Picture("trial-running")
	press(b, fmt.Sprintf(`button[name=discard][value=%q]`, placed))
	b.Wait(`document.getElementById("reason")`)
	b.Picture("confirm")
	b.Type("#reason", "takes too long")
	press(b, "button.danger")
	b.Wait(fmt.Sprintf(`location.pathname === %q && document.readyState === "complete"`, path))
	if got := b.Text("main"); !strings.Contains(got, "withdrawn") || !strings.Contains(got, "takes too long") ||
		!strings.Contains(got, "does not count") {
		t.Errorf("the page of the trial: %q", got)
	}
	b.Scripts(true)
	b.Go(s.url + path)
	b.Picture("trial-withdrawn")

	b.Go(s.url + "/workers")
	b.Wait(`document.querySelector("[data-live=link]").textContent === "live"`)
	b.Picture("workers")
	if got := b.Text("#workers tbody"); !strings.Contains(got, "ready") || !strings.Contains(got, "of 2") {
		t.Errorf("the workers: %q", got)
	}

	// On the page of the study itself: a run is ended, one that waits is discarded, and the study is stopped.
	b.Go(s.url + "/s/story")
	b.Wait(`document.querySelector("[data-live=link]")?.textContent === "live"`)
	for _, one := range []struct{ button, why string }{{"stop", "cold <i>feet</i>"}, {"discard", "not this one"}} {
		const rows = `[...document.querySelectorAll("[data-live=runs] tr")]`
		is := `((r) => r.querySelector("form[data-do=discard] button")?.textContent === ` + browser.Quote(one.button) + `)`
		b.Wait(rows + `.some` + is)
		trial := browser.Eval[string](b, `(() => {
			const row = `+rows+`.find`+is+`, form = row.querySelector("form[data-do=discard]");
			form.querySelector("[name=reason]").value = `+browser.Quote(one.why)+`;
			form.querySelector("button").click();
			return row.dataset.trial;
		})()`)
		b.Wait(`document.querySelector(".flash")?.textContent.includes("trial ` + trial + ` of story is discarded")`)
		b.Wait(`document.querySelector("[data-live=link]")?.textContent === "live"`)
		b.Wait(`!document.querySelector("[data-live=runs] tr[data-trial='` + trial + `']")`)
		b.Picture("story-" + one.button)
		shown := s.assay("study", "trials", "story", "--store", filepath.Join(s.dir, "state/assay/server/assay.db"), "--json")
		if !strings.Contains(shown, `"reason":"`+one.why+`"`) {
			t.Errorf("trial %s: the reason %q is not on record: %s", trial, one.why, shown)
		}
	}
	press(b, "button[name=state][value=stop]")
	b.Wait(`document.querySelector(".flash")?.textContent.includes("story is stopped")`)
	b.Go(s.url + "/s/story")
	b.Wait(`document.querySelector("[data-live=best]").textContent.trim() !== "–"`)
	var best float64 // s, or ms
	if got := b.Text("[data-live=best]"); !strings.Contains(got, "ms") {
		if _, err := fmt.Sscanf(got, "%g s", &best); err != nil || best >= 20 { // of the only run that ended
			t.Errorf("the answer is %q", got)
		}
	}
	b.Picture("story-answer")
	trials := s.assay("study", "trials", "story", "--store", filepath.Join(s.dir, "state/assay/server/assay.db"), "--json")
	if n := strings.Count(trials, `"state":"withdrawn"`); n < 3 {
		t.Errorf("%d trials are withdrawn on record", n)
	}
}

// A viewer sees no act, and is refused one that is sent all the same. Another role sees its own acts.
func TestPagesRoles(t *testing.T) {
	s := servePages(t)
	if err := os.WriteFile(filepath.Join(s.dir, "nap.yaml"), []byte(strings.ReplaceAll(storyFile, "story", "nap")),
		0o600); err != nil {
		t.Fatal(err)
	}
	s.assay("tune", "nap.yaml", "--on", "fleet", "--detach")
	for i := 0; strings.Count(s.assay("queue", "ls", "--json"), `"trial"`) < 6; i++ {
		if time.Sleep(100 * time.Millisecond); i > 600 {
			t.Fatal("nothing is queued within a minute")
		}
	}
	admin, err := os.ReadFile(filepath.Join(s.dir, "state/assay/server/admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{"admin": strings.TrimSpace(string(admin))}
	for _, role := range []string{"viewer", "operator", "author"} {
		tokens[role] = s.token(role)
	}
	pages := []string{"/", "/s/nap", "/s/nap/t/1", "/queue", "/workers", "/admin", "/new"}
	acts := map[string]int{"viewer": 0, "operator": 1, "author": 2, "admin": 3}
	for role, level := range acts {
		mine := fmt.Sprintf("nap/%d", 3+level)
		c := s.session(tokens[role])
		for _, page := range pages {
			status, body := c.get(page)
			want := http.StatusOK
			if page == "/admin" && level < 3 || page == "/new" && level < 2 {
				want = http.StatusForbidden
			}
			if status != want {
				t.Errorf("%s of %s: %d, want %d", page, role, status, want)
			}
			if role != "viewer" {
				continue
			}
			for _, m := range regexp.MustCompile(`<form[^>]*action="([^"]*)"`).FindAllStringSubmatch(body, -1) {
				if strings.Contains(m[0], `method="get"`) { // it asks, and changes nothing
					continue
				}
				if m[1] == "/queue" && !strings.Contains(body, "<button name=\"first\" value=\"*\"") &&
					strings.Contains(body, `class="looking"`) {
					continue
				}
				if m[1] != "/theme" && m[1] != "/logout" {
					t.Errorf("%s offers %s to a viewer", page, m[1])
				}
			}
			if strings.Contains(body, "assay queue first") || strings.Contains(body, `href="/new"`) {
				t.Errorf("%s tells a viewer of acts", page)
			}
		}
		for _, post := range []struct {
			path  string
			form  url.Values
			least int
		}{
			{"/queue", url.Values{"first": {mine}}, 1},
			{"/queue", url.Values{"discard": {mine}, "sure": {"yes"}}, 1},
			{"/workers", url.Values{"worker": {"local"}, "do": {"drain"}}, 1},
			{"/workers", url.Values{"worker": {"local"}, "do": {"resume"}}, 1},
			{"/s/nap/t/1", url.Values{}, 1},
			{"/new", url.Values{"file": {storyFile}, "do": {"check"}}, 2},
			{"/admin/tokens", url.Values{"name": {"x-" + role}, "role": {"viewer"}}, 3},
			{"/admin/revoke", url.Values{"name": {"x-" + role}, "sure": {"yes"}}, 3},
		} {
			status, _ := c.post(post.path, post.form, nil)
			if level < post.least && status != http.StatusForbidden || level >= post.least && status >= 400 {
				t.Errorf("%s %v of %s: %d", post.path, post.form, role, status)
			}
		}
	}
}

// A form of another session, another site or to another name of the host is refused, and does nothing.
func TestPagesRefuse(t *testing.T) {
	s := servePages(t)
	c := s.session(s.token("operator"))
	before := s.assay("workers", "ls", "--json")
	order := url.Values{"worker": {"local"}, "do": {"drain"}}
	for name, edit := range map[string]func(*http.Request){
		"a name of somebody else": func(r *http.Request) { r.Host = "evil.example" },
		"a page of somebody else": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"a site of somebody else": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a neighbour":             func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"a form of another session": func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader("csrf=AAAA&" + order.Encode()))
			r.ContentLength = -1
		},
		"a form without its session": func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(order.Encode()))
			r.ContentLength = -1
		},
	} {
		if status, body := c.post("/workers", order, edit); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	nobody := &pagesClient{s: s, http: s.client(), csrf: c.csrf}
	if status, _ := nobody.post("/workers", order, nil); status != http.StatusSeeOther {
		t.Errorf("nobody: %d", status)
	}
	state := regexp.MustCompile(`"state":"[a-z]+"`)
	if after := s.assay("workers", "ls", "--json"); state.FindString(before) != state.FindString(after) {
		t.Errorf("something was done: %s", after)
	}
	if status, _ := c.post("/workers", order, nil); status != http.StatusSeeOther {
		t.Errorf("the page's own form: %d", status)
	}
	if after := s.assay("workers", "ls", "--json"); !strings.Contains(after, `"draining"`) {
		t.Errorf("the page's own form does nothing: %s", after)
	}
}

// The secret of a token is on one page, once, and the token is good until it is revoked.
func TestPagesTokens(t *testing.T) {
	s := servePages(t)
	admin, err := os.ReadFile(filepath.Join(s.dir, "state/assay/server/admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	b := s.login(strings.TrimSpace(string(admin)))
	b.Click(`nav a[href="/admin"]`)
	b.Wait(`document.querySelector("form.fields")`)
	b.Ready()
	b.Type(`input[name=name]`, "rack2")
	fill(b, `select[name=role]`, "operator")
	b.Type(`input[name=days]`, "90")
	b.Picture("admin")
	b.Click(`form.fields button`)
	b.Wait(`document.getElementById("secret")`)
	b.Picture("token")
	secret := b.Text("#secret")
	if !strings.HasPrefix(secret, "assay-user-v1.rack2.") {
		t.Fatalf("the token is %.20q", secret)
	}
	other := s.session(secret)
	if status, _ := other.get("/queue"); status != http.StatusOK {
		t.Errorf("the token opens nothing: %d", status)
	}
	b.Go(s.url + "/admin")
	html := browser.Eval[string](b, `document.documentElement.outerHTML`)
	if key := strings.Split(secret, ".")[2]; strings.Contains(html, key) || !strings.Contains(html, "rack2") {
		t.Error("the secret is shown again, or the token is not there")
	}
	b.Type(`[data-filter]`, "nobody-of-that-name")
	b.Wait(`[...document.querySelectorAll("#audit-rows tr")].every((r) => r.hidden)`)
	b.Go(s.url + "/admin?q=rack2")
	if n := browser.Eval[int](b, `document.querySelectorAll("#audit-rows tr").length`); n != 1 {
		t.Errorf("%d entries of the audit have rack2", n)
	}
	b.Click(`button[value=rack2]`)
	b.Wait(`document.querySelector("button.danger")`)
	b.Click("button.danger")
	b.Wait(`document.querySelector(".flash")?.textContent.includes("revoked")`)
	if status, _ := other.get("/queue"); status != http.StatusSeeOther {
		t.Errorf("the revoked token: %d", status)
	}
}

// A pagesClient asks for pages as a browser without scripts does.
type pagesClient struct {
	s       *served
	http    *http.Client
	cookies []*http.Cookie
	csrf    string
}

func (s *served) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		Timeout:   time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// session logs in.
func (s *served) session(token string) *pagesClient {
	s.t.Helper()
	c := &pagesClient{s: s, http: s.client()}
	r, err := c.http.PostForm(s.url+"/login", url.Values{"code": {token}})
	if err != nil {
		s.t.Fatal(err)
	}
	r.Body.Close()
	if c.cookies = r.Cookies(); r.StatusCode != http.StatusSeeOther || len(c.cookies) == 0 {
		s.t.Fatalf("log in: %d", r.StatusCode)
	}
	_, body := c.get("/")
	c.csrf = regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(body)[1]
	return c
}

func (c *pagesClient) do(r *http.Request) (int, string) {
	c.s.t.Helper()
	for _, k := range c.cookies {
		r.AddCookie(k)
	}
	a, err := c.http.Do(r)
	if err != nil {
		c.s.t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		c.s.t.Fatal(err)
	}
	return a.StatusCode, string(body)
}

func (c *pagesClient) get(path string) (int, string) {
	c.s.t.Helper()
	r, err := http.NewRequest(http.MethodGet, c.s.url+path, nil)
	if err != nil {
		c.s.t.Fatal(err)
	}
	return c.do(r)
}

func (c *pagesClient) post(path string, form url.Values, edit func(*http.Request)) (int, string) {
	c.s.t.Helper()
	all := url.Values{"csrf": {c.csrf}}
	for k, v := range form {
		all[k] = v
	}
	r, err := http.NewRequest(http.MethodPost, c.s.url+path, strings.NewReader(all.Encode()))
	if err != nil {
		c.s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if edit != nil {
		edit(r)
	}
	return c.do(r)
}
