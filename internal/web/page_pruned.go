package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
	"github.com/assay-run/assay/view"
)

// A prunedValue is a value that an earlier study has pruned from this one. To restore it, the user has the best
// configuration run with it: if that is the best then, the search uses the value again.
type prunedValue struct {
	Param, Value string
	Why          string
	Ask          string // the value that is run unless another is asked for: of a range, its lower end
	Act          Act
}

// prunedOf returns the values pruned now: those that were cut and not restored.
func prunedOf(a *api.Answer, best *view.Trial) (out []prunedValue) {
	type of struct{ param, value string }
	gone := map[of]int{} // the last cut of a value
	for i, c := range a.Cuts {
		for _, v := range c.Values {
			if delete(gone, of{c.Param, v}); !c.Restored {
				gone[of{c.Param, v}] = i
			}
		}
	}
	for i, c := range a.Cuts {
		for _, v := range c.Values {
			if at, is := gone[of{c.Param, v}]; !is || at != i {
				continue
			}
			p := prunedValue{Param: c.Param, Value: v}
			p.Why = fmt.Sprintf("%s: %s (correlation %s)", c.Study, c.Reason, report.Number(c.Correlation, 2))
			p.Ask, _, _ = strings.Cut(v, "..")
			if best != nil {
				p.Act = giveAct(a.Study, withValue(best.Config, p.Param, p.Ask))
			}
			out = append(out, p)
		}
	}
	return out
}

// withValue returns a configuration with another value of a parameter.
func withValue(c map[string]any, param, value string) map[string]any {
	out := map[string]any{}
	for name, x := range c {
		out[name] = x
	}
	out[param] = value
	return out
}

// giveAct has a configuration run, as a command and as a request.
func giveAct(study string, config map[string]any) Act {
	words := []string{"assay", "study", "add", study}
	for _, name := range sortedKeys(config) {
		words = append(words, name+"="+textOf(config[name]))
	}
	return Act{
		report.ShellQuote(words), "POST", "/api/v1/studies/" + url.PathEscape(study) + "/trials",
		jsonOf(map[string]any{"configs": []any{config}}),
	}
}

// tryPruned has the best configuration run with a value that was pruned.
func (s *site) tryPruned(v *visit) error {
	name, param, value := v.r.PathValue("study"), v.r.PostFormValue("param"), strings.TrimSpace(v.r.PostFormValue("value"))
	d, err := v.API.Brief(v.ctx, name)
	if err != nil {
		return err
	}
	best, err := v.trial(name, d.Study.BestTrial)
	if err != nil {
		return err
	}
	if best == nil {
		return refusal{
			http.StatusConflict, "no trial has ended within the limits: there is no configuration to run with another value",
		}
	}
	config := withValue(best.Config, param, value)
	if _, err := v.API.Enqueue(v.ctx, name, []map[string]any{config}); err != nil {
		return err
	}
	return v.did("/s/"+url.PathEscape(name), fmt.Sprintf("the best configuration with %s=%s is run next", param, value),
		giveAct(name, config).Command)
}
