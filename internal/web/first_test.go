package web_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-run/assay"
)

// The page of a study begins with the answer, the history and the importance of parameters: the value with its runs,
// the gain with its interval, the limit with its metric, and the command to copy. It needs no script for the answer.
func TestFirstCards(t *testing.T) {
	t.Parallel()
	store := memory(t)
	r := newRecord(t, store, "encoder")
	r.run(60)
	r.again(0.9)
	d := doorTo(t, store, false)
	d.login("viewer.x")
	_, body := d.do("GET", "/s/encoder", nil)
	at := -1
	for _, want := range []string{
		`id="answer"`, "median of ", "best single run", "pairs", "within the limit: size", "<pre data-copy>",
		`data-draw="history"`, `data-draw="importance"`, `data-draw="slices"`,
	} {
		i := strings.Index(body, want)
		if i <= at {
			t.Errorf("%s is at %d, after %d", want, i, at)
		}
		at = i
	}
	if strings.Contains(body, `class="cards bare"`) || !regexp.MustCompile(`id="running"[^>]* hidden`).MatchString(body) {
		t.Error("an ended study lacks charts, or has a card of runs")
	}
	if strings.Contains(body, `id="failed"`) {
		t.Error("a study with values begins with a failure")
	}
}

// A study whose runs all failed begins with the reason, the output and the command, and has no charts.
func TestAllFailed(t *testing.T) {
	t.Parallel()
	store := memory(t)
	r := newRecord(t, store, "broken")
	for range 3 {
		p, asked := r.ask()
		r.append(asked, assay.Event{At: r.at, Told: &assay.Trial{
			Proposal: p, State: assay.Failed, Value: math.Inf(1), Reason: "exit code 1: no such device",
			Started: r.at, Ended: r.at,
		}})
	}
	d := doorTo(t, store, false)
	d.login("viewer.x")
	_, body := d.do("GET", "/s/broken", nil)
	for _, want := range []string{
		"No run has worked", "exit code 1: no such device", "<pre data-copy>encode ", "cards bare", "/s/broken/t/3",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if !regexp.MustCompile(`id="answer" hidden`).MatchString(body) {
		t.Error("it shows an answer")
	}
}

// The list has the newest study first, and links sort it. Owners have a column if a study has one. Pages that need a
// server exist only with one.
func TestListAndStore(t *testing.T) {
	t.Parallel()
	store := memory(t)
	for i, name := range []string{"a", "c", "b"} {
		r := newRecord(t, store, name)
		if name == "c" {
			r.append(assay.Event{At: r.at, Steered: &assay.StudyCommand{Do: "run", By: "ada"}})
		}
		r.run(5 + 10*i)
	}
	d := doorTo(t, store, true)
	d.login("viewer.x")
	for query, want := range map[string]string{
		"": "b c a", "?sort=study": "a b c", "?sort=trials": "b c a", "?sort=nothing": "b c a",
		"?sort=owner": "a b c", "?q=ada": "c",
	} {
		_, body := d.do("GET", "/"+query, nil)
		var names []string
		for _, m := range regexp.MustCompile(`<a href="/s/([a-c])"`).FindAllStringSubmatch(body, -1) {
			names = append(names, m[1])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
		if strings.Count(body, `<td class="owner">ada</td>`) != 1 {
			t.Errorf("%q: the owner of c is not in its row", query)
		}
		if strings.Contains(body, `"/queue"`) || !strings.Contains(body, `"/kb"`) {
			t.Error("a store offers the queue, or no knowledge")
		}
	}
	for _, path := range []string{"/queue", "/workers", "/new"} {
		if resp, _ := d.do("GET", path, nil); resp.StatusCode != 404 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}
