package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/internal/service"
	"github.com/assay-run/assay/internal/testbed"
	"github.com/assay-run/assay/internal/web"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/study"
)

// hostileTexts returns 200 texts that are to be shown as they are.
func hostileTexts() (all []string) {
	acts := []string{
		`<script>pwned()</script>`, `<img src=x onerror=pwned()>`, `<svg/onload=pwned()>`,
		`<iframe srcdoc="<script>parent.pwned()</script>">`,
		`<body onload=pwned()>`, `<a href="javascript:pwned()">x</a>`, `<style>*{display:none}</style>`,
		`<base href=//evil.example/>`,
		`<meta http-equiv=refresh content="0;url=//evil.example">`, `<form action=//evil.example><button>x`,
		`javascript:pwned()`,
		`{{.CSRF}}{{7*7}}`, "${pwned()}", "`-pwned()-`", `'-pwned()-'`, `";pwned();//`, "\x1b[31mred\x1b[0m",
		"\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
		"\x00nul", "\u202egnp.exe", "\u2066iso\u2069", "line\nfeed\r\nSet-Cookie: a=b", "\u2028sep\u2029",
		"%3Cscript%3Epwned()%3C/script%3E", "&lt;script&gt;pwned()&lt;/script&gt;",
	}
	around := []string{
		"%s", `">%s`, `'>%s`, "</textarea>%s", "</title></style></script>%s", "--><!--%s", "]]>%s\\",
		"../../%s?q=1#f",
	}
	for _, a := range around {
		for _, x := range acts {
			all = append(all, strings.Replace(a, "%s", x, 1))
		}
	}
	return all
}

// A hostileHost has studies, and values discarded of them, in which every text is hostile.
type hostileHost struct {
	store *setup.Store
	texts []string
}

func (h *hostileHost) Submit(context.Context, *spec.Study, string, string) (api.Info, error) {
	return api.Info{}, assay.Errorf(assay.ClassConflict, "%s", h.texts[0])
}

func (h *hostileHost) Steer(context.Context, string, assay.StudyCommand) error { return h.refuse() }

func (h *hostileHost) Enqueue(context.Context, string, []assay.Config, string) error {
	return h.refuse()
}

func (h *hostileHost) Order(context.Context, string, []int64, string) error { return h.refuse() }

func (h *hostileHost) Restore(context.Context, string, []int64, string) error { return h.refuse() }

func (h *hostileHost) Withdraw(context.Context, string, []int64, string, string) error { return nil }

func (h *hostileHost) Ask(context.Context, string, int, time.Duration) (study.Answer, error) {
	return study.Answer{}, h.refuse()
}

func (h *hostileHost) Tell(context.Context, string, []study.Report) (study.Receipt, study.Result, error) {
	return study.Receipt{}, study.Result{}, h.refuse()
}

func (h *hostileHost) Recall(context.Context, string, time.Duration, string, string) ([]study.Handed, error) {
	return nil, h.refuse()
}

func (h *hostileHost) refuse() error { return assay.Errorf(assay.ClassConflict, "%s", h.texts[1]) }

func (h *hostileHost) Info(ctx context.Context, name string) (api.Info, error) {
	sum, err := h.store.Summary(ctx, name)
	return api.Info{
		Summary: sum, State: service.Running, App: h.texts[2], Class: h.texts[3], Lacks: h.texts[4],
		Why: h.texts[5],
	}, err
}

func (h *hostileHost) Infos(ctx context.Context) (all []api.Info, err error) {
	for sum, err := range h.store.Summaries(ctx, "", 0) {
		if err != nil {
			return nil, err
		}
		i, err := h.Info(ctx, sum.Study)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

func (h *hostileHost) Discarded() (all []service.Discarded) {
	for i, x := range h.texts {
		all = append(all, service.Discarded{Study: x, Config: x, Discard: study.Discard{
			Proposal: assay.Proposal{ID: int64(i + 1)}, At: time.Unix(1700000000+int64(i), 0),
			Withdrawal: assay.Withdrawal{Trial: int64(i + 1), By: x, Reason: x},
		}})
	}
	return all
}

// A hostileFleet has a queue and machines in which every text is hostile.
type hostileFleet struct{ texts []string }

func (f hostileFleet) Queue() (all []queue.Entry) {
	for i, x := range f.texts {
		e := queue.Entry{
			ID: assay.RunID{Study: x, Trial: int64(i + 1), Attempt: 1}, Study: x, App: x, MachineClass: x, Config: x, Worker: x,
			State: []string{"open", "placed"}[i%2], Since: time.Unix(1700000000, 0), Priority: i % 3,
		}
		if i < 3 {
			e.Unschedulable = x
		}
		all = append(all, e)
	}
	return all
}

func (f hostileFleet) Workers() (all []queue.WorkerState) {
	for i, x := range f.texts {
		w := queue.Worker{ID: fmt.Sprint("w", i), Name: x, Version: x, Slots: 2, Apps: []string{x}}
		w.MachineClass, w.Machine = x, x
		all = append(all, queue.WorkerState{Worker: w, Running: 1, Ratio: 1.5})
	}
	return all
}
func (hostileFleet) Order(string, queue.Order) error           { return nil }
func (hostileFleet) Unschedulable(string) string               { return "" }
func (hostileFleet) Live(string, int64) (queue.Live, bool)     { return queue.Live{}, false }
func (hostileFleet) Needs(string, func(string) bool) error     { return nil }
func (f hostileFleet) Reported(string, int64) []queue.Reported { return nil }

// hostileKeys are tokens with names that no token can have.
type hostileKeys struct{ texts []string }

func (hostileKeys) Who(context.Context, string, string) (api.Who, error) { return api.Who{}, nil }
func (k hostileKeys) Tokens(context.Context) (all []api.Token, err error) {
	for _, x := range k.texts {
		all = append(all, api.Token{Name: x, Role: api.Viewer, Studies: []string{x}, Apps: []string{x}})
	}
	return all, nil
}

func (k hostileKeys) Add(_ context.Context, t api.Token, _ string) (string, error) {
	return k.texts[0] + t.Name, nil
}
func (k hostileKeys) Revoke(context.Context, string, string) error { return nil }

// hostileSite serves pages of a server in which every text of another user is hostile. It returns the site, a code that
// lets a browser in, and the names of its studies.
func hostileSite(t *testing.T, texts []string) (at *httptest.Server, code string, named []string) {
	t.Helper()
	ctx := t.Context()
	store := memory(t)
	values := slices.Clone(texts)
	for i, x := range values {
		values[i] = strings.ReplaceAll(x, "\x00", "0") // which no value can have
	}
	file, err := json.Marshal(map[string]any{
		"command":    []string{"prog", "{p}"},
		"parameters": map[string]any{"p": map[string]any{"type": "categorical", "values": values}},
	})
	if err != nil {
		t.Fatal(err)
	}
	def, _, err := spec.Parse("f.yaml", file, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range append([]string{"h"}, texts[:40]...) {
		if err := store.Create(ctx, name, stored); err != nil {
			if assay.ClassOf(err) != assay.ClassUsage { // a text that no store takes is no name of a study
				t.Fatalf("%q: %v", name, err)
			}
			continue
		}
		if i > 0 {
			named = append(named, name)
		}
		if i > 0 {
			continue
		}
		var events []assay.Event
		for k, x := range texts {
			p := assay.Proposal{ID: int64(k + 1), Config: assay.Config{float64(k)}}
			run := assay.RunID{Study: name, Trial: p.ID, Attempt: 1}
			at := time.Unix(1700000000+int64(k), 0).UTC()
			told := &assay.Trial{
				Proposal: p, State: assay.Failed, Reason: x, Started: at, Ended: at,
				Measurement: assay.Measurement{
					Metrics: map[string]float64{x: 1},
					Failure: &assay.Failure{Step: "run", Reason: x, Output: []string{x, x}},
				},
			}
			events = append(events, assay.Event{At: at, Asked: &p},
				assay.Event{At: at, Ordered: &assay.Order{Trial: p.ID, Priority: 1, By: x}},
				assay.Event{At: at, Started: &assay.Start{RunID: run, Worker: x, MachineClass: x}},
				assay.Event{At: at, Booked: &assay.AttemptEnd{RunID: run, Worker: x, Reason: x}}, assay.Event{At: at, Told: told})
		}
		if _, err := store.Append(ctx, name, 0, events...); err != nil {
			t.Fatal(err)
		}
	}
	host, fleet := &hostileHost{store, texts}, hostileFleet{texts}
	server := api.New(api.Options{
		Studies: host, Trials: host, External: host, Fleet: fleet, Runs: fleet, Store: store, Keys: hostileKeys{texts},
		About: api.About{Version: texts[6], Store: texts[7], Listen: texts[8:9]},
		Audit: func(int) (all []api.Decision, err error) {
			for _, x := range texts {
				all = append(all, api.Decision{By: x, Do: x, On: x, Studies: []string{x}, Apps: []string{x}})
			}
			return all, nil
		},
	})
	output := regexp.MustCompile(`^/api/v1/studies/h/trials/(\d+)/(output|files)$`)
	as := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m := output.FindStringSubmatch(r.URL.Path); m != nil {
			var i int
			_, _ = fmt.Sscan(m[1], &i)
			x := texts[i-1]
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{
				"state": "running", "stdout": map[string]any{"text": x + "\n" + x}, "stderr": map[string]any{"text": x},
				"files": []any{map[string]any{"name": x, "size": 3, "here": true}},
				"left":  []any{map[string]any{"name": x, "why": x}},
			})
			return
		}
		server.Handler().ServeHTTP(w, r.WithContext(api.As(r.Context(), api.Who{Name: "me", Role: api.Admin})))
	})
	site, err := web.New(web.Options{API: as, Open: true, Version: texts[9]})
	if err != nil {
		t.Fatal(err)
	}
	at = httptest.NewServer(site)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Close(ctx)
		at.CloseClientConnections()
		at.Close()
	})
	return at, site.Code(""), named
}

// A text from the API is JSON, in which bytes that are no text have been replaced.
func sent(x string) string {
	b, _ := json.Marshal(x)
	var y string
	_ = json.Unmarshal(b, &y)
	return y
}

// Names, values, reasons, outputs and errors of anybody are text on every page: nothing in them is
// executed or becomes an element, and each can be read. make system visits more pages of trials and studies.
func TestHostile(t *testing.T) {
	t.Parallel()
	texts := hostileTexts()
	if len(texts) != 200 || len(slices.Compact(slices.Sorted(slices.Values(texts)))) != 200 {
		t.Fatalf("%d texts", len(texts))
	}
	at, code, named := hostileSite(t, texts)
	b := browser.Open(t)
	b.Size(1280, 900)
	b.Visit(at.URL + "/#code=" + code)
	b.Wait(`document.title === "Studies - assay"`)
	b.Ready()
	pages := map[string][]string{ // with the texts that are to be seen
		"/": named, "/queue": texts, "/workers": texts, "/admin": texts,
		"/admin?q=" + url.QueryEscape(texts[0]): {texts[0]}, "/queue?study=" + url.QueryEscape(texts[1]): {texts[1]},
		"/s/h": nil, "/new": nil,
	}
	step, names := 130, 1
	if testbed.IsSystem() {
		step, names = 13, 12
	}
	for i := 0; i < len(texts); i += step {
		pages[fmt.Sprint("/s/h/t/", i+1)] = []string{texts[i]}
	}
	for _, x := range named[:min(names, len(named))] {
		pages["/s/"+url.PathEscape(x)] = []string{x}
	}
	b.Allow("status of 4") // of routes that have no answer for so few trials
	for _, scripts := range []bool{true, false} {
		b.Scripts(scripts)
		for _, page := range slices.Sorted(maps.Keys(pages)) {
			if !scripts && strings.HasPrefix(page, "/s/") && len(page) > 8 {
				continue
			}
			b.Visit(at.URL + page)
			if scripts {
				b.Ready()
				if page == "/queue" || page == "/workers" {
					b.Wait(`document.querySelector("[data-live=link]").textContent === "live"`)
				}
			}
			checkShown(t, b, page, pages[page])
		}
	}
	if len(named) < 30 {
		t.Errorf("only %d studies have such names", len(named))
	}
	t.Logf("%d pages, with scripts and without", len(pages))
}

// checkShown fails unless the page is made of its own elements, and shows the texts.
func checkShown(t *testing.T, b *browser.Tab, page string, texts []string) {
	t.Helper()
	for _, wrong := range b.Wrong() {
		t.Errorf("%s: the browser reports: %s", page, wrong)
	}
	type state struct {
		Path, Text string
		Bad        []string
		Pwned      bool
	}
	got := browser.Eval[state](b, `({
		Path: location.pathname, Text: document.body.textContent,
		Pwned: "pwned" in window || document.cookie !== "",
		Bad: [...document.querySelectorAll("img, svg:not(.mix > svg), iframe, object, embed, style, base, " +
			"meta[http-equiv], b, " +
			"script:not([type=module], [type='application/json']), " +
			"[onload], [onerror], [style]")]
			.filter((e) => !e.closest(".surface, .track, .stack, .trials, canvas") ||
				/^(img|iframe|object|embed|style|base|script)$/i.test(e.tagName)).map((e) => e.outerHTML.slice(0, 80))
			.concat([...document.querySelectorAll("a")].filter((a) => a.protocol !== "http:" || a.host !== location.host)
				.map((a) => a.outerHTML.slice(0, 80)))
			.concat([...document.querySelectorAll("form")].filter((f) => new URL(f.action).host !== location.host)
				.map((f) => f.outerHTML.slice(0, 80))),
	})`)
	if got.Pwned || len(got.Bad) > 0 {
		t.Errorf("%s: executed %v, elements %q", page, got.Pwned, got.Bad)
	}
	if strings.ContainsAny(got.Text, "\x00\x1b\u202e\u2066\u2028") {
		t.Errorf("%s: a character that is not shown as itself is on the page", page)
	}
	for _, x := range texts {
		if want := report.Visible(sent(x)); !strings.Contains(got.Text, want) {
			t.Errorf("%s does not show %q as %q", page, x, want)
		}
	}
}

// A study file, a name and a reason that a user writes stand in the answer as they were written.
func TestHostileForms(t *testing.T) {
	t.Parallel()
	texts := hostileTexts()
	at, code, _ := hostileSite(t, texts)
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var cookie *http.Cookie
	send := func(method, path string, form url.Values) (int, string) {
		t.Helper()
		r, err := http.NewRequest(method, at.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if cookie != nil {
			r.AddCookie(cookie)
		}
		a, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if all := a.Cookies(); len(all) > 0 {
			cookie = all[0]
		}
		for k, v := range a.Header {
			if strings.ContainsAny(strings.Join(v, ""), "\r\n\x00") {
				t.Errorf("%s: header %s is %q", path, k, v)
			}
		}
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(body)
	}
	send(http.MethodPost, "/login", url.Values{"code": {code}})
	_, page := send(http.MethodGet, "/new", nil)
	csrf := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page)[1]
	element := regexp.MustCompile(`(?i)<(script(>| [^t])|img|svg|iframe|style|base|meta http|b>|body o|a ` +
		`href="?javascript)`)
	for _, x := range texts {
		for what, form := range map[string]url.Values{
			"/new":          {"file": {x}, "name": {x}, "do": {"start"}},
			"/queue":        {"discard": {x + "/3"}, "back": {x}},
			"/workers":      {"worker": {x}, "name": {x}, "do": {"evict"}, "back": {x}},
			"/admin/tokens": {"name": {x}, "role": {x}, "studies": {x}, "apps": {x}, "days": {"3"}},
			"/admin/revoke": {"name": {x}, "back": {x}},
			"/s/h/t/3":      {"back": {x}},
		} {
			form.Set("csrf", csrf)
			status, body := send(http.MethodPost, what, form)
			if status >= 500 || element.MatchString(body) {
				t.Errorf("%s with %q: %d, %q, %.300s", what, x, status, element.FindString(body),
					regexp.MustCompile(`role="alert">[^<]*`).FindString(body))
			}
			if status == http.StatusSeeOther { // the next page shows the outcome
				if _, body = send(http.MethodGet, "/workers", nil); element.MatchString(body) {
					t.Errorf("after %s with %q: %q", what, x, element.FindString(body))
				}
			}
		}
	}
}
