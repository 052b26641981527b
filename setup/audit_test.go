package setup

import (
	"testing"

	"github.com/assay-run/assay/stop"
)

// Any rule can be audited, by a share that is written either way. The bound of the first
// runs is not.
func TestAuditWraps(t *testing.T) {
	const study = "command: ['true', '{n}']\nparameters: {n: 1..9}\nbudget: 1h\nstop: {rule: "
	stopper := func(rule string) any {
		p, err := New(define(t, "f.yaml", study+rule+"}\n"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p.stopper
	}
	for _, rule := range []string{"static", "incumbent", "predictive"} {
		a, ok := stopper(rule + ", audit: 5%").(stop.Audit)
		if !ok || a.Share != 0.05 || a.Rule == nil {
			t.Errorf("%s: %+v", rule, a)
		}
		if _, ok := stopper(rule).(stop.Audit); ok {
			t.Errorf("%s is audited without being asked", rule)
		}
	}
	for _, rule := range []string{"auto", "posterior"} {
		o, ok := stopper(rule + ", audit: 0.25").(stop.Opening)
		if !ok || o.Limit == 0 {
			t.Errorf("%s: %+v", rule, o)
		}
		if a, ok := o.Rule.(stop.Audit); !ok || a.Share != 0.25 {
			t.Errorf("%s: the rule is %+v", rule, o.Rule)
		}
	}
	p, err := New(define(t, "f.yaml", "command: ['true', '{n}']\nparameters: {n: 1..9}\nbudget: {trials: 9}\n"+
		"stop: {audit: 5%}\n"), Options{})
	if err != nil || p.stopper != nil {
		t.Errorf("where nothing is stopped, the stopper is %v, %v", p.stopper, err)
	}
	if _, err := New(define(t, "f.yaml", study+"none, audit: 5%}\n"), Options{}); err == nil {
		t.Error("none can be audited")
	}
	for _, bad := range []string{"x%", "51%", "'%'", "-0.1", "often"} {
		if _, err := New(define(t, "f.yaml", study+"static, audit: "+bad+"}\n"), Options{}); err == nil {
			t.Errorf("a share of %s is accepted", bad)
		}
	}
}
