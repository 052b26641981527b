package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
)

// Check makes every check that needs the study as a whole, and returns the
// warnings, one line each. The error is an [*Error] with every flaw found.
// A study of a recorded table that has not been resolved is checked as far as
// it goes.
func (s *Study) Check() (warnings []string, err error) {
	flaws, warnings := s.check(false)
	return warnings, newError(flaws)
}

// A checker collects the flaws of a study.
type checker struct {
	study *Study
	flaws []Flaw
}

// add records a flaw of the piece of that path, whose text is given; where
// names the piece if it was not written in a file. column counts the runes of
// text from 1, or is 0.
func (c *checker) add(path, text, where string, column int, format string, args ...any) {
	f := flawf(format, args...)
	f.Where = where
	if path == "" {
		f.File = c.study.file
	}
	if p, ok := c.study.places[path]; ok && (p.text == text || text == "") {
		f.File, f.Line, f.Column = p.file, p.line, p.column
		if p.inline && column > 0 && !strings.Contains(text, "\n") {
			f.Column += column - 1
		}
	}
	if column > 0 && len(text) < expr.MaxText {
		f.Text, f.Mark = text, column
	}
	c.flaws = append(c.flaws, f)
}

// check returns the flaws and warnings. If the study is incomplete, because a part of it could not be read, flaws
// that may be due to the missing part are not reported.
func (s *Study) check(incomplete bool) ([]Flaw, []string) {
	c := &checker{study: s}
	s.Version = Version
	typeTraced(s)
	if s.App != "" {
		c.app()
	} else if s.Mode() == ModeCommand && len(s.Command) == 0 && !incomplete {
		c.add("", "", "", 0, "nothing to run: a command is needed (or replay: a recorded table; "+
			"assay ask makes it an external study)")
	}
	c.params(incomplete)
	var warnings []string
	if !incomplete && len(c.flaws) == 0 {
		c.templates(&warnings)
		if s.resolved() {
			c.relations()
		}
	}
	c.online()
	c.asked()
	c.batch()
	c.metrics()
	c.workbench()
	c.staging()
	if !incomplete {
		c.goal()
	}
	c.values()
	c.table()
	if !incomplete {
		c.level()
		c.prior()
	}
	if s.Shell && len(s.Command) > 0 && s.places["command"].line == 0 && len(s.Command) != 1 {
		c.add("", "", "command", 0, "with a shell the command is one text")
	}
	return c.flaws, warnings
}

// table checks that a study of a recorded table has no key of runs.
func (c *checker) table() {
	if c.study.Replay == nil {
		return
	}
	for _, k := range c.study.excluded(OfTable) {
		c.add("key:"+k.top(), "", k.Path, 0, "it is of the runs of a command: a recorded table makes none")
	}
}

func (c *checker) params(incomplete bool) {
	s := c.study
	if len(s.Params) == 0 && s.Replay == nil && !incomplete {
		hint := ""
		if len(s.Command) == 1 && !s.Shell && strings.Contains(s.Command[0], " ") {
			hint = " (a command is a list of arguments: write it without quotes around it, or use --shell, and declare a " +
				"parameter, such as -p n=1..9)"
		}
		c.add("", "", "", 0, "no parameters: nothing to tune%s", hint)
	}
	seen := map[string]bool{}
	for _, p := range s.Params {
		where := "parameter " + p.Name
		if f, bad := p.flaw(s.Replay != nil && !s.resolved()); bad {
			path := "parameters." + p.Name
			if _, ok := s.places[path+"."+f.key]; ok {
				path += "." + f.key
			}
			text := ""
			if f.key == "default" {
				text = *p.Default // a flag may have replaced the file's
			}
			c.add(path, text, where, 0, "%s", f.message)
		} else if seen[p.Name] {
			c.add("parameters."+p.Name, "", where, 0, "it is declared twice")
		}
		seen[p.Name] = true
		if s.Replay != nil && !s.resolved() && !slices.Contains(s.Replay.Parameters, p.Name) &&
			len(s.Replay.Parameters) > 0 {
			c.add("parameters."+p.Name, "", where, 0, "it is not among the columns in replay.parameters")
		}
	}
}

// relations compiles the relations and makes the space.
func (c *checker) relations() {
	s := c.study
	params := s.Parameters()
	before := len(c.flaws)
	for _, p := range s.Params {
		if p.When != "" {
			_, err := expr.Relation(p.When, params)
			c.expression("parameters."+p.Name+".when", "parameter "+p.Name+": when", p.When, err)
		}
	}
	for i, text := range s.Where {
		_, err := expr.Relation(text, params)
		c.expression(fmt.Sprintf("where[%d]", i), fmt.Sprintf("where %d", i+1), text, err)
	}
	if len(c.flaws) > before || len(params) == 0 {
		return
	}
	space, err := s.Space()
	switch {
	case errors.Is(err, assay.ErrEmpty) && len(s.Where) > 0:
		c.add("where[0]", "", "where", 0, "%s", err)
		return
	case err != nil:
		c.add("", "", "", 0, "%s", err)
		return
	}
	if _, _, err := s.Default(space); err != nil {
		c.add("", "", "default", 0, "%s", err)
	}
}

// expression records the error of an expression.
func (c *checker) expression(path, where, text string, err error) {
	if err == nil {
		return
	}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		c.add(path, text, where, e.Column, "%s", e.Message)
		return
	}
	c.add(path, text, where, 0, "%v", err)
}

// templates checks every template, and that every parameter reaches something.
func (c *checker) templates(warnings *[]string) {
	s := c.study
	if len(s.Command) == 0 {
		return
	}
	names := namesOf(s.Parameters())
	exported := s.exports()
	r := &reach{used: make([]bool, len(names))}
	vars := variables(s.Parameters())
	check := func(path, where, text string) {
		t, err := parseTemplate(text, names, s.own())
		if e, ok := errors.AsType[*TemplateError](err); ok {
			c.add(path, text, where, e.Column, "%s", e.Message)
			return
		}
		for _, i := range t.Params() {
			r.used[i] = true
		}
	}
	// hook takes in a command: a line for a shell, or a list of templates.
	hook := func(path, argument string, h Hook) {
		switch {
		case h.Shell && len(h.Argv) != 1:
			c.add("", "", path, 0, "a shell line is one text")
		case h.Shell:
			r.line(h.Argv[0], vars)
		case exported && len(h.Argv) > 0:
			r.program(h.Argv[0])
		}
		for i, a := range h.Argv {
			if !h.Shell {
				check(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s %d", argument, i+1), a)
			}
		}
	}
	c.around(names, r, hook, check)
	c.sources(check, r, vars)
	if exported {
		if m := variableFlaw(s.Parameters()); m != "" {
			c.add("", "", "", 0, "%s", m)
		}
	}
	c.reached(r, warnings)
}

// around checks the commands and texts of a study. The functions take in its commands and templates.
func (c *checker) around(
	names []string, r *reach, hook func(path, argument string, h Hook), check func(path, where, text string),
) {
	s := c.study
	c.checkSetup(names, r.used)
	c.checkFiles(names, r.used)
	c.checkData(names, r.used)
	hook("verify", "verify argument", s.Verify)
	hook("prepare", "prepare argument", s.Prepare)
	hook("cleanup", "cleanup argument", s.Cleanup)
	c.service(hook, check)
	if len(s.Command) == 1 || !s.Shell { // else see check
		hook("command", "argument", Hook{s.Command, s.Shell})
	}
	for _, size := range s.Placement.Batch.sizes() {
		check("place."+size.key, "place."+size.key, size.text)
	}
	for name, value := range s.Env {
		check("env."+name, "env "+name, value)
	}
}

// sources checks the templates in the sources of metrics, and the names of secrets.
func (c *checker) sources(check func(path, where, text string), r *reach, vars []variable) {
	s := c.study
	for name := range s.Secrets {
		if _, twice := s.Env[name]; twice {
			c.add("secrets."+name, "", "secret "+name, 0, "env has a variable of that name")
		}
	}
	for _, m := range s.Metrics {
		source, err := assay.ParseMetricSource(m.Name, m.Source)
		switch {
		case err != nil: // see metrics
		case source.Kind.Argument().Files():
			path, text := "metrics."+m.Name, m.Source
			if _, argument, _ := strings.Cut(text, ":"); s.places[path].text == argument { // {size: FILE}
				text = argument
			}
			check(path, "metric "+m.Name, text)
		case source.Kind.Argument() == assay.CommandArgument:
			r.line(source.Command, vars)
		}
	}
}

// reached reports the parameters that reach nothing.
func (c *checker) reached(r *reach, warnings *[]string) {
	s := c.study
	// A flaw may be a name that was misspelt. A shell line of several texts is one: see check.
	if len(c.flaws) > 0 || r.reads || s.Shell && len(s.Command) > 1 {
		return
	}
	for i, p := range s.Params {
		realised := s.Workbench != nil && !s.Workbench.Passive && slices.Contains(Resources(), p.Name)
		if r.used[i] || realised {
			continue
		}
		name := strings.ToUpper(shellName(p.Name))
		if r.doubts != "" {
			*warnings = append(*warnings, fmt.Sprintf("parameter %s is named nowhere: it has an effect only if %s reads "+
				"the variable %s", p.Name, clip(r.doubts), name))
			continue
		}
		c.add("parameters."+p.Name, "", "parameter "+p.Name, 0, "it reaches nothing: no argument, variable, hook or "+
			"metric names it (write {%s} in an argument, or env: {%s: \"{%s}\"} if the program reads a variable)",
			p.Name, name, p.Name)
	}
}

func (c *checker) metrics() {
	seen := map[string]bool{}
	for _, m := range c.study.Metrics {
		path, where := "metrics."+m.Name, "metric "+m.Name
		switch f := m.flaw(); {
		case f != "" && (m.Source != "" || nameFlaw(m.Name) != ""): // without a source: see asked
			c.add(path, "", where, 0, "%s", f)
		case seen[m.Name]:
			c.add(path, "", where, 0, "it is declared twice")
		case isBuiltin(m.Name) && !c.study.Asked:
			c.add(path, "", where, 0, "it is built in: give yours another name")
		}
		seen[m.Name] = true
	}
}

// goal checks that the objective and the limits use metrics that exist.
func (c *checker) goal() {
	s := c.study
	known := s.metricNames()
	c.objectives(known)
	for i, text := range s.SubjectTo {
		path, where := fmt.Sprintf("subject_to[%d]", i), fmt.Sprintf("subject_to %d", i+1)
		_, names, err := expr.Limit(text, known...)
		c.expression(path, where, text, err)
		if s.Asked {
			known = told(s, names)
		}
		for _, n := range names {
			if !slices.Contains(known, n) {
				c.add(path, text, where, 0, "%s", unknownMetric(n, known))
			}
		}
		c.limited(path, text, where, names)
	}
}

func unknownMetric(name string, known []string) string {
	if near := expr.Nearest(name, known); near != "" {
		return fmt.Sprintf("unknown metric %s (did you mean %s?)", clip(name), near)
	}
	return fmt.Sprintf("unknown metric %s (known: %s)", clip(name), strings.Join(known, ", "))
}
