package spec

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/expr"
	"go.yaml.in/yaml/v4"
)

// Apps is the content of a file of applications: the programs that a worker may be asked to run. The file lies on the
// worker; a request only names an application and gives values to its placeholders. The format is described in
// docs/format/apps.md.
type Apps struct {
	File string
	Apps []App // in file order
}

// An App is an application: a command with placeholders, and how it is run.
//
//	{name}        the text of the parameter's value
//	{{ and }}     a brace
//
// A text of the file becomes one argument, for any values.
type App struct {
	Name    string
	Command []string
	Prepare []string // before each run, or nil
	Cleanup []string // after each run, or nil
	Verify  []string // after a run that succeeded, or nil
	Dir     string   // working directory, absolute or ""
	User    string   // that it runs as; "" for the worker's own
	CPUs    int      // processors that a run has for itself; 0 for no limit
	Timeout time.Duration
	Env     map[string]string
	Secrets map[string]string // where the values are, as in [Study]
	// Params are the values that are taken; a parameter that is not among them takes any.
	Params []Param

	used []string // the names of all placeholders
}

// reservedApp is the name that stands for studies with a command of their own.
const reservedApp = "command"

// LoadApps reads the file of applications at a path; see [ParseApps].
func LoadApps(path string) (*Apps, error) {
	data, err := readStudyFile(path)
	if err != nil {
		return nil, err
	}
	return ParseApps(path, data)
}

// ParseApps reads the content of a file of applications; name is its path: messages begin with
// it, and relative paths of dir start at its directory. The error is an [*Error] with every flaw
// that was found.
func ParseApps(name string, data []byte) (*Apps, error) {
	d, root := decode(name, data)
	a := &Apps{File: name}
	if root != nil {
		d.pairs(root, "the file of applications", func(key, value *yaml.Node) {
			before := len(d.flaws)
			if app := readApp(d, key, value); len(d.flaws) == before {
				a.Apps = append(a.Apps, app)
			}
		})
		if len(a.Apps) == 0 && len(d.flaws) == 0 {
			d.fail(root, "no application: each is a key, such as x264: {command: [x264, --preset, \"{preset}\"]}")
		}
	}
	return a, newError(d.flaws)
}

// AppNameFlaw returns the reason why an application cannot have the name, or "". The name is part of the subjects of
// a queue.
func AppNameFlaw(name string) string {
	switch {
	case name == reservedApp:
		return "it is reserved for studies with a command: give the application another name"
	case name == "" || len(name) > 64:
		return "a name has 1 to 64 characters"
	}
	for _, c := range []byte(name) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "a name has letters, digits, - and _ only"
		}
	}
	return ""
}

// readApp reads one application.
func readApp(d *decoder, key, value *yaml.Node) App {
	a := App{Name: key.Value}
	what := "application " + clip(key.Value)
	if flaw := AppNameFlaw(key.Value); flaw != "" {
		d.fail(key, "%s: %s", what, flaw)
	}
	path := key.Value
	texts := func(name string, out *[]string) field {
		return field{name, func(n *yaml.Node) {
			*out = d.texts(path+"."+name, what+": "+name, n)
			if len(*out) == 0 {
				d.fail(n, "%s: %s is empty", what, name)
				return
			}
			for i, e := range d.list(n, what) {
				readPlaceholders(d, e, fmt.Sprintf("%s: %s %d", what, name, i+1), &a.used)
			}
			if i := shellLine(*out); i >= 0 {
				d.fail(d.list(n, what)[i], "%s: %s: a placeholder in a line for a shell would be read as part of the "+
					"line: give the value as an argument of its own, and write \"$1\" in the line", what, name)
			}
			if strings.ContainsAny((*out)[0], "{}") {
				d.fail(d.list(n, what)[0], "%s: %s: the program is no placeholder: it would be for others to choose", what, name)
			}
		}}
	}
	var paramsAt *yaml.Node
	d.mapping(value, what, []field{
		texts("command", &a.Command), texts("prepare", &a.Prepare), texts("cleanup", &a.Cleanup),
		texts("verify", &a.Verify),
		{"dir", func(n *yaml.Node) {
			if t, ok := d.text(n, what+": dir"); ok {
				a.Dir = d.absolute(n, "dir", t)
			}
		}},
		{"user", func(n *yaml.Node) { a.User, _ = d.text(n, what+": user") }},
		{"cpus", func(n *yaml.Node) { a.CPUs, _ = d.integer(n, what+": cpus", 1) }},
		{"timeout", func(n *yaml.Node) { a.Timeout, _ = d.duration(n, what+": timeout") }},
		{"env", func(n *yaml.Node) { a.Env = readEnv(d, what+": ", n) }},
		{"secrets", func(n *yaml.Node) { a.Secrets = readSecrets(d, what+": ", n) }},
		{"parameters", func(n *yaml.Node) { paramsAt = n; a.Params = readParams(d, n) }},
	}, nil)
	if n := follow(value); n.Kind == yaml.MappingNode && a.Command == nil {
		d.fail(key, "%s: command is missing", what)
	}
	slices.Sort(a.used)
	a.used = slices.Compact(a.used)
	for _, p := range a.Params {
		if f, bad := p.flaw(false); bad {
			d.fail(paramsAt, "%s: parameter %s: %s", what, p.Name, f.message)
		} else if !slices.Contains(a.used, p.Name) {
			d.fail(paramsAt, "%s: nothing uses parameter %s (write {%s} in the command)", what, p.Name, p.Name)
		}
	}
	return a
}

// shellLine returns the index of a line for a shell that has a placeholder, or -1.
func shellLine(argv []string) int {
	shells := []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "busybox"}
	if !slices.Contains(shells, filepath.Base(argv[0])) {
		return -1
	}
	for i := 1; i < len(argv); i++ {
		if strings.HasPrefix(argv[i], "-") && !strings.HasPrefix(argv[i], "--") && strings.Contains(argv[i], "c") &&
			i+1 < len(argv) {
			parts, _ := appParts(argv[i+1])
			if slices.ContainsFunc(parts, func(p appPart) bool { return p.name != "" }) {
				return i + 1
			}
			return -1
		}
	}
	return -1
}

// readPlaceholders checks the placeholders of a text and adds their names to used.
func readPlaceholders(d *decoder, n *yaml.Node, what string, used *[]string) {
	parts, err := appParts(follow(n).Value)
	if e, ok := errors.AsType[*TemplateError](err); ok {
		d.fail(n, "%s: %v", what, e)
		return
	}
	for _, p := range parts {
		if p.name != "" {
			*used = append(*used, p.name)
		}
	}
}

// An appPart is literal text, or the name of a parameter.
type appPart struct{ text, name string }

// appParts reads a text with placeholders. Any name is one, for the file does not know the
// parameters of studies. The error is a [*TemplateError].
func appParts(text string) (parts []appPart, err error) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, appPart{text: literal.String()})
			literal.Reset()
		}
	}
	for at := 0; at < len(text); {
		rest := text[at:]
		flaw := func(message string) error {
			return &TemplateError{text, len([]rune(text[:at])) + 1, message}
		}
		switch {
		case strings.HasPrefix(rest, "{{"), strings.HasPrefix(rest, "}}"):
			literal.WriteByte(rest[0])
			at += 2
		case rest[0] == '}':
			return nil, flaw("a single } (write }} for a brace)")
		case rest[0] == '{':
			n := strings.IndexAny(rest[1:], "{}")
			if n < 0 || rest[1+n] == '{' {
				return nil, flaw("{ without } (write {{ for a brace)")
			}
			name := rest[1 : 1+n]
			if strings.Contains(name, "?") {
				return nil, flaw("a condition: an application has placeholders {name} alone")
			}
			if m := nameFlaw(name); m != "" {
				return nil, flaw(m)
			}
			flush()
			parts = append(parts, appPart{name: name})
			at += n + 2
		default:
			n := strings.IndexAny(rest, "{}")
			if n < 0 {
				n = len(rest)
			}
			literal.WriteString(rest[:n])
			at += n
		}
	}
	flush()
	return parts, nil
}

// App returns the application of that name.
func (a *Apps) App(name string) (App, bool) {
	if a == nil {
		return App{}, false
	}
	i := slices.IndexFunc(a.Apps, func(app App) bool { return app.Name == name })
	if i < 0 {
		return App{}, false
	}
	return a.Apps[i], true
}

// Names returns the names of the applications, in order.
func (a *Apps) Names() (names []string) {
	if a == nil {
		return nil
	}
	for _, app := range a.Apps {
		names = append(names, app.Name)
	}
	return names
}

// Job returns one run of the application with values, the texts of the parameters by name, in place of the
// placeholders. It requires a value for each parameter that the file names, except for those with a condition, and no
// others; each value must be one that the file allows. A text of the file becomes one argument: a value that is a
// whole argument and begins with a dash, such as an option, is taken only if it is a number, or if the file lists it.
// The error is of the class usage.
func (a App) Job(values map[string]string) (assay.Job, error) {
	refuse := func(format string, args ...any) (assay.Job, error) {
		return assay.Job{}, assay.Errorf(assay.ClassUsage, "application %s: %s", a.Name, fmt.Sprintf(format, args...))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(a.used, name) {
			hint := ""
			if near := expr.Nearest(name, a.used); near != "" {
				hint = " (did you mean {" + near + "}?)"
			}
			return refuse("no {%s} in its command%s", clip(name), hint)
		}
		if flaw := a.valueFlaw(name, values[name]); flaw != "" {
			return refuse("%s", flaw)
		}
	}
	for _, name := range a.used {
		if _, ok := values[name]; !ok && !a.conditional(name) {
			return refuse("the study has no parameter %s, which its command needs", name)
		}
	}
	job := assay.Job{
		Argv: expandApp(a.Command, values), Prepare: expandApp(a.Prepare, values),
		Cleanup: expandApp(a.Cleanup, values), Verify: expandApp(a.Verify, values), Dir: a.Dir, Limit: a.Timeout,
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		job.Env = append(job.Env, name+"="+a.Env[name])
	}
	job.Secrets = secretVariables(a.Secrets)
	if a.CPUs > 0 {
		job.Resources = map[string]float64{"cpus": float64(a.CPUs)}
	}
	return job, nil
}

// conditional reports whether the parameter has a condition in the file.
func (a App) conditional(name string) bool {
	return slices.ContainsFunc(a.Params, func(p Param) bool { return p.Name == name && p.When != "" })
}

// valueFlaw returns the reason why a value is refused, or "".
func (a App) valueFlaw(name, value string) string {
	if strings.ContainsRune(value, 0) {
		return "the value of " + name + " has a NUL byte"
	}
	if i := slices.IndexFunc(a.Params, func(p Param) bool { return p.Name == name }); i >= 0 {
		p := a.Params[i].Param()
		// Each value has one text: "4.0" is refused for an integer, though it equals 4.
		if x, err := p.Parse(value); err != nil || p.Text(x) != value {
			return fmt.Sprintf("%s: %q is not a value that the file of applications allows", name, clip(value))
		}
		return ""
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil || !strings.HasPrefix(value, "-") {
		return ""
	}
	for _, argv := range [][]string{a.Command, a.Prepare, a.Cleanup, a.Verify} {
		for _, text := range argv {
			if parts, _ := appParts(text); len(parts) > 0 && parts[0].name == name {
				return fmt.Sprintf("%s: %q would be an option of the program (a parameter whose values the file "+
					"of applications lists may be one)", name, clip(value))
			}
		}
	}
	return ""
}

// expandApp returns the arguments of checked texts.
func expandApp(texts []string, values map[string]string) []string {
	var out []string
	for k, text := range texts {
		parts, _ := appParts(text)
		var b strings.Builder
		missing := ""
		for _, p := range parts {
			b.WriteString(p.text)
			if p.name != "" {
				v, ok := values[p.name]
				if b.WriteString(v); !ok {
					missing = p.name
				}
			}
		}
		switch {
		case missing == "":
			out = append(out, b.String())
		case len(parts) == 1 && k > 0 && strings.HasPrefix(texts[k-1], "-") &&
			optionName(strings.TrimLeft(texts[k-1], "-")) == optionName(missing):
			out = out[:len(out)-1]
		}
	}
	return out
}
