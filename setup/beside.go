package setup

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/report"
)

// A Beside is something that is done beside the command of a study: the key of the study file
// that says so, and what it is for a configuration, in words.
type Beside struct{ Key, Text string }

// Beside returns what is done beside the command for a configuration, in the order in which it is,
// after the variables that all of it has. There is none where no command is run.
func (p *Problem) Beside(c assay.Config) []Beside {
	if p.Program == nil {
		return nil
	}
	var out []Beside
	for _, v := range p.Environment(c) {
		out = append(out, Beside{"env", v})
	}
	for _, b := range p.Program.Beside(c) {
		text := commandText(p.withFolder(c, b.Argv))
		switch b.Key {
		case "files":
			text = fileText(b.Argv[0], p.withFolder(c, []string{b.File})[0])
		case "service":
			text += ", " + p.readyText(c, p.Program.Service(c).Ready) + ", " + p.restartText()
		}
		out = append(out, Beside{b.Key, text})
	}
	return out
}

// shownFile is how many runes of a file are shown.
const shownFile = 200

// fileText returns a file that is written before a run, in one line: its lines with | between them.
func fileText(name, text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	shown := []rune(strings.Join(lines, " | "))
	if len(shown) > shownFile {
		return fmt.Sprintf("%s: %s... (%d lines)", name, string(shown[:shownFile]), len(lines))
	}
	return name + ": " + string(shown)
}

// commandText returns a command as it was written: a line for a shell, or a list.
func commandText(argv []string) string {
	if len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c" {
		return argv[2]
	}
	return report.ShellQuote(argv)
}

// readyText says when a service is ready.
func (p *Problem) readyText(c assay.Config, r assay.Ready) string {
	var all []string
	if r.Output != "" {
		all = append(all, "it has printed /"+r.Output+"/")
	}
	if r.Port != "" {
		all = append(all, "port "+p.withFolder(c, []string{r.Port})[0]+" answers")
	}
	if len(r.Command) > 0 {
		all = append(all, commandText(p.withFolder(c, r.Command))+" succeeds")
	}
	if len(all) == 0 {
		return "ready when that has ended"
	}
	return "ready when " + strings.Join(all, " and ")
}

// restartText says when a service is started anew.
func (p *Problem) restartText() string {
	uses := p.Program.ServiceUses()
	switch {
	case p.Definition.Service.Restart != "changed":
		return "restarted for each run"
	case len(uses) == 0:
		return "started once"
	}
	return "restarted when " + strings.Join(uses, ", ") + " changes"
}
