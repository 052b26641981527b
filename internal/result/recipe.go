package result

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
)

// A Recipe runs a configuration by hand as the study would, by text for a POSIX shell.
type Recipe struct {
	Study string // its name
	Trial int64  // of the configuration, 0 for the recommended one

	dir, here string // that the commands run in, and in which the text is to be used; "" if not known
	folder    string // of the setup, "" if it is not made on this machine
	env       []string
	command   []string
	commandIs []string // the variables that the command needs
	setup     *assay.Setup
	files     []assay.File
	prepare   []string
	service   *assay.Service
}

// A Place describes where a recipe is to be used.
type Place struct {
	Here string // the working directory, "" if it is not known
	// Folder returns the folder that a setup has created on this machine, "" without such a folder; it is nil if no setup
	// is known.
	Folder func(*assay.Setup) string
}

// NewRecipe returns the recipe of a configuration of a study that runs a command.
func NewRecipe(def *spec.Study, p *spec.Program, c assay.Config, at Place) Recipe {
	r := Recipe{
		dir: def.Dir, here: at.Here, env: p.Env(c), command: p.Argv(c), commandIs: p.Environment(c), setup: p.Setup(c),
		files: p.Files(c), prepare: p.Prepare(c), service: p.Service(c),
	}
	if r.setup != nil && at.Folder != nil {
		r.folder = at.Folder(r.setup)
	}
	return r
}

// Alone reports whether the command is all that a run is: no files, and no service.
func (r Recipe) Alone() bool { return len(r.files) == 0 && r.service == nil }

// Line returns one line that runs the configuration: its environment, its setup if that is pending, its prepare
// command, and the command. If a run has files or a service, the line is the command that prints all of it.
func (r Recipe) Line() string {
	if !r.Alone() {
		return r.apply()
	}
	var steps []string
	if dir := r.changes(); dir != "" {
		steps = append(steps, "cd "+report.ShellQuote([]string{dir}))
	}
	steps = append(steps, r.makes()...)
	if len(r.prepare) > 0 {
		steps = append(steps, r.words(withEnv(r.env, r.prepare)))
	}
	line := strings.Join(append(steps, r.words(withEnv(r.commandIs, r.command))), " && ")
	if strings.Contains(line, "\n") {
		return r.apply() // a value could be mistaken for a line of its own
	}
	return line
}

// apply returns the command that writes the configuration out.
func (r Recipe) apply() string {
	argv := []string{"assay", "study", "apply", r.Study}
	if r.Trial > 0 {
		argv = append(argv, "--trial", fmt.Sprint(r.Trial))
	}
	return report.ShellQuote(argv)
}

// Files returns the files that a run has, with their texts; ok is false if they name the folder of a setup that was not
// made on this machine.
func (r Recipe) Files() (files []assay.File, ok bool) {
	ok = true
	for _, f := range r.files {
		text := r.resolved(f.Text)
		ok = ok && !strings.Contains(text, assay.SetupDir)
		files = append(files, assay.File{Name: r.resolved(f.Name), Text: text})
	}
	return files, ok
}

// Script returns the lines that run the configuration. in is the directory in which its files were written, absolute;
// "" writes them by the script.
func (r Recipe) Script(in string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	if r.dir != "" {
		line("cd %s", report.ShellQuote([]string{r.dir}))
	}
	for _, step := range r.makes() {
		line("%s", step)
	}
	for _, e := range r.env {
		name, value, _ := strings.Cut(e, "=")
		line("export %s=%s", name, r.words([]string{value}))
	}
	for _, f := range r.files {
		b.WriteString(r.fileText(f, in))
	}
	if len(r.prepare) > 0 {
		line("%s", r.words(r.prepare))
	}
	if s := r.service; s != nil {
		r.serviceText(line, s)
	}
	line("%s", r.words(r.command))
	if s := r.service; s != nil && len(s.Stop) > 0 {
		line("# to end the service: %s", r.words(s.Stop))
	}
	return b.String()
}

// serviceText writes the lines that start a service and wait until it is ready.
func (r Recipe) serviceText(line func(string, ...any), s *assay.Service) {
	ready := s.Ready
	if len(ready.Command) == 0 && ready.Port == "" && ready.Output == "" {
		line("%s", r.words(s.Start))
		return
	}
	line("%s &", r.words(s.Start))
	if len(ready.Command) > 0 {
		line("until %s; do sleep 0.1; done", r.words(ready.Command))
	}
	if ready.Port != "" {
		line("# ready when port %s answers", r.words([]string{ready.Port}))
	}
	if ready.Output != "" {
		line("# ready when it has printed /%s/", report.Visible(ready.Output))
	}
}

// fileText returns the lines that write a file, or copy it from a directory.
func (r Recipe) fileText(f assay.File, in string) string {
	var b strings.Builder
	if dir := filepath.Dir(f.Name); dir != "." {
		fmt.Fprintf(&b, "mkdir -p %s\n", r.words([]string{dir}))
	}
	const end = "END_OF_FILE"
	text := r.resolved(f.Text)
	switch {
	case in != "":
		fmt.Fprintf(&b, "cp %s\n", r.words([]string{filepath.Join(in, r.resolved(f.Name)), f.Name}))
	case strings.HasSuffix(text, "\n") && text == report.VisibleLines(text) && !strings.Contains(text, end) &&
		!strings.Contains(text, assay.SetupDir):
		fmt.Fprintf(&b, "cat > %s <<'%s'\n%s%s\n", r.words([]string{f.Name}), end, text, end)
	default:
		fmt.Fprintf(&b, "printf %%s %s > %s\n", r.words([]string{f.Text}), r.words([]string{f.Name}))
	}
	return b.String()
}

// changes returns the directory that the line changes to, "" if it is used there.
func (r Recipe) changes() string {
	if r.dir == "" || r.dir == r.here {
		return ""
	}
	if r.here != "" {
		if below, err := filepath.Rel(r.here, r.dir); err == nil && filepath.IsLocal(below) {
			return below
		}
	}
	return r.dir
}

// makes returns the steps that make the setup in a new folder, $setup, if it was not made here.
func (r Recipe) makes() []string {
	if r.setup == nil || r.folder != "" {
		return nil
	}
	return []string{`setup=$(mktemp -d)`, r.words(withEnv(r.setup.Env, r.setup.Argv))}
}

// withEnv returns a command with the variables that it needs.
func withEnv(env, argv []string) []string {
	if len(env) == 0 {
		return argv
	}
	return slices.Concat([]string{"env"}, env, argv)
}

// resolved returns a text with the folder of the setup, if it is made, and the number of the first slot.
func (r Recipe) resolved(text string) string {
	if r.folder != "" {
		text = strings.ReplaceAll(text, assay.SetupDir, r.folder)
	}
	return assay.InFirstSlot(text)
}

// setupWord is a placeholder for the folder of the setup while words are quoted, because the shell expands the folder.
const setupWord = "ASSAY-SETUP-FOLDER"

// words returns an argv for a shell, in which the folder of a pending setup is $setup.
func (r Recipe) words(argv []string) string {
	texts := make([]string, len(argv))
	for i, a := range argv {
		texts[i] = strings.ReplaceAll(r.resolved(a), assay.SetupDir, setupWord)
	}
	line := report.ShellQuote(texts)
	if len(argv) == 1 && strings.Contains(texts[0], "=") { // the value of a variable, or a path: no command
		line = strings.TrimPrefix(report.ShellQuote([]string{":", texts[0]}), ": ")
	}
	var b strings.Builder
	for quoted := false; line != ""; {
		switch {
		case strings.HasPrefix(line, setupWord):
			text := `"$setup"`
			if quoted {
				text = `'"$setup"'`
			}
			b.WriteString(text)
			line = line[len(setupWord):]
			continue
		case line[0] == '\\' && !quoted:
			b.WriteString(line[:min(2, len(line))])
			line = line[min(2, len(line)):]
			continue
		case line[0] == '\'':
			quoted = !quoted
		}
		b.WriteByte(line[0])
		line = line[1:]
	}
	return b.String()
}
