package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// slotName is the placeholder of templates for the number of the slot of a run: {slot}. In shell lines it is the
// variable ASSAY_SLOT.
const slotName = "slot"

// restarts are the values of service.restart.
var restarts = []string{"each", "changed"}

// A Service is a program that a run needs beside it, such as a server.
type Service struct {
	Start Hook  `json:"start"`
	Ready Ready `json:"ready,omitzero"`
	Stop  Hook  `json:"stop,omitzero"` // the zero value stands for signals
	// Restart is "each", or "", for a service that is started for each run, and "changed" for one
	// that goes on as long as the parameters that it uses do not change.
	Restart string `json:"restart,omitempty"`
}

// A Ready defines when a service can be used. All of its conditions must hold.
type Ready struct {
	Command Hook          `json:"command,omitzero"`
	Port    string        `json:"port,omitempty"`   // a template: a port, or HOST:PORT
	Output  string        `json:"output,omitempty"` // an expression
	Within  time.Duration `json:"within_ns,omitempty"`
}

// hooks yields the commands of the service with their paths.
func (s *Service) hooks(yield func(path string, h Hook)) {
	yield("service.start", s.Start)
	yield("service.ready.command", s.Ready.Command)
	yield("service.stop", s.Stop)
}

// service checks the service. The functions take in its commands and templates.
func (c *checker) service(hook func(path, argument string, h Hook), check func(path, where, text string)) {
	s := c.study.Service
	if s == nil {
		return
	}
	if len(s.Start.Argv) == 0 {
		c.add("service", "", "service", 0, "start is needed, the command that starts it")
	}
	if c.study.Workbench != nil {
		c.add("service", "", "service", 0, "a workbench runs one program at a time, and no service beside it")
	}
	for _, m := range ofService {
		if slices.ContainsFunc(c.study.Metrics, func(own Metric) bool { return own.Name == m.Name }) {
			c.add("metrics."+m.Name, "", "metric "+m.Name, 0, "it is built in, of the service: give yours another name")
		}
	}
	s.hooks(func(path string, h Hook) { hook(path, path+" argument", h) })
	check("service.ready.port", "service.ready.port", s.Ready.Port)
	if p := s.Ready.Port; p != "" && !strings.ContainsAny(p, "{}") && !isPort(p) {
		c.add("service.ready.port", p, "service.ready.port", 0, "%q is no port, nor HOST:PORT", clip(p))
	}
}

// isPort reports whether a text is a port, or HOST:PORT.
func isPort(text string) bool {
	if strings.Contains(text, ":") {
		_, port, err := net.SplitHostPort(text)
		if err != nil {
			return false
		}
		text = port
	}
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n < 1<<16
}

// A serviceTemplate is a service whose texts have placeholders.
type serviceTemplate struct {
	start, ready, stop hookTemplate
	port               Template
	spec               *Service // nil without a service
	dir                string   // where it runs
	uses               []int    // parameters that it depends on, if it is restarted when they change
}

// service returns the templates of the service.
func (t *templates) service() serviceTemplate {
	v := t.study.Service
	if v == nil {
		return serviceTemplate{}
	}
	out := serviceTemplate{
		start: t.hook(v.Start), ready: t.hook(v.Ready.Command), stop: t.hook(v.Stop), port: t.parse(v.Ready.Port)[0],
		spec: v, dir: t.study.Dir,
	}
	if v.Restart == "changed" {
		out.uses = t.serviceUses()
	}
	return out
}

// serviceUses returns the indices of the parameters that the service depends on: those that its templates, its shell
// lines or the environment name. If it names none and runs a script, which may read any, it depends on all. If there
// is a setup, the parameters of the setup and of the files are added, because the service may read them.
func (t *templates) serviceUses() []int {
	s := t.study
	r := &reach{used: make([]bool, len(t.params))}
	vars := variables(t.params)
	named := func(texts ...string) {
		for _, one := range t.parse(texts...) {
			for _, i := range one.Params() {
				r.used[i] = true
			}
		}
	}
	s.Service.hooks(func(_ string, h Hook) {
		switch {
		case len(h.Argv) == 0:
		case h.Shell:
			r.line(h.Argv[0], vars)
		default:
			if !strings.HasPrefix(h.Argv[0], "{"+setupName+"}/") { // a compiled program is no script
				r.program(h.Argv[0])
			}
			named(h.Argv...)
		}
	})
	named(s.Service.Ready.Port)
	script := r.reads && !slices.Contains(r.used, true)
	for _, value := range s.Env {
		named(value)
	}
	for _, f := range s.Files {
		named(f.Text)
	}
	for _, i := range t.setupUses() {
		r.used[i] = true
	}
	var out []int
	for i, used := range r.used {
		if used || script {
			out = append(out, i)
		}
	}
	return out
}

// ServiceUses returns the names of the parameters that a change of restarts a service which is kept
// otherwise.
func (p *Program) ServiceUses() []string {
	var names []string
	for _, i := range p.service.uses {
		names = append(names, p.params[i].Name)
	}
	return names
}

// Service returns the service that a run of a configuration needs, or nil.
func (p *Program) Service(c assay.Config) *assay.Service {
	t := p.service
	if t.spec == nil {
		return nil
	}
	port, _ := t.port.Expand(p.params, c)
	out := &assay.Service{
		Start: p.hook(t.start, c), Stop: p.hook(t.stop, c),
		Ready: assay.Ready{Command: p.hook(t.ready, c), Port: port, Output: t.spec.Ready.Output, Within: t.spec.Ready.Within},
	}
	if t.spec.Restart == "changed" {
		out.Key = "changed"
		for _, i := range t.uses {
			if !assay.Active(p.params, c, i) {
				continue
			}
			out.Key += fmt.Sprintf(" %s=%q", p.params[i].Name, p.params[i].Text(c[i]))
		}
		out.Key += " of " + p.serviceDigest(out, c)
	}
	return out
}

// serviceDigest returns a hash of everything that defines a service of a configuration: its commands, its environment
// and files, and its directory. Two commands of a comparison may differ in nothing else.
func (p *Program) serviceDigest(s *assay.Service, c assay.Config) string {
	h := sha256.New()
	env := []string{}
	for _, e := range p.env {
		if text, ok := e.value.Expand(p.params, c); ok {
			env = append(env, e.name+"="+text)
		}
	}
	r := s.Ready
	fmt.Fprintf(h, "%q %q %q %q %q %v\n", s.Start, s.Stop, r.Command, r.Port, r.Output, r.Within)
	fmt.Fprintf(h, "%q %q %q %q\n", p.service.dir, env, p.Files(c), p.hook(p.setup.hookTemplate, c))
	return hex.EncodeToString(h.Sum(nil)[:8])
}
