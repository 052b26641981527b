package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay/view"
)

// A client that follows the rows of a study has the missing rows first, each once however many events are about it,
// and then each change as it comes. It can come back with the number that it had last.
func TestRowsAreSent(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	sum, err := r.store.Summary(ctx, "tuned")
	if err != nil {
		t.Fatal(err)
	}
	follow := func(after string) (next func() (id string, u view.Update)) {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.at.URL+prefix+"/studies/tuned/events?rows=true&after=0",
			nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret-viewer")
		if after != "" {
			req.Header.Set("Last-Event-ID", after)
		}
		resp, err := r.at.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		lines := bufio.NewReader(resp.Body)
		return func() (id string, u view.Update) {
			t.Helper()
			for kind := ""; ; {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				switch {
				case key == "id":
					id = value
				case key == "event":
					kind = value
				case key == "data" && kind == rowsKind:
					if err := json.Unmarshal([]byte(value), &u); err != nil {
						t.Fatal(err)
					}
					return id, u
				}
			}
		}
	}
	next := follow("")
	id, u := next()
	if id != fmt.Sprint(sum.Events) || u.Events != sum.Events || !slices.Equal(u.Trials.ID, []int64{1, 2, 3, 4}) ||
		!slices.Equal(u.Trials.State, []string{"done", "running", "done", "done"}) || !u.Answer || !u.Queue {
		t.Errorf("%s: %+v, %+v", id, u, u.Trials)
	}
	r.told(t, 2, 2)
	id, u = next()
	if u.Events != sum.Events+1 || !slices.Equal(u.Trials.ID, []int64{2}) || u.Trials.State[0] != "done" ||
		u.Trials.Nth[0] != 4 || u.Trials.Config["n"][0] != 2.0 || u.Trials.Reason[0] != "reason 2" || u.Answer {
		t.Errorf("%s: %+v, %+v", id, u, u.Trials)
	}
	again := follow(fmt.Sprint(sum.Events))
	if back, v := again(); back != id || !slices.Equal(v.Trials.ID, []int64{2}) {
		t.Errorf("%s again: %s, %+v", id, back, v)
	}
}
