package result

import (
	"slices"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/config"
	"github.com/assay-run/assay/internal/report"
)

// shownBeside is how many runes of each thing beside a command are shown.
const shownBeside = 60

// A beside is one thing that a run has beside its command: the key of the study file, and a command,
// or a text.
type beside struct {
	key  string
	argv []string
}

// besideOf lists in one line the commands and files beside the command of a study, with the placeholders as they are written:
// "service redis-server --port 7401, prepare ./load"; "" if that is nothing.
func besideOf(s *config.Study) string {
	all := []beside{{"setup", s.Setup.Argv}}
	for _, f := range s.Files {
		all = append(all, beside{"file", []string{f.Name}})
	}
	all = append(all, beside{"prepare", s.Prepare.Argv})
	if s.Service != nil {
		all = append(all, beside{"service", s.Service.Start.Argv})
	}
	return besideText(append(all, beside{"verify", s.Verify.Argv}, beside{"cleanup", s.Cleanup.Argv}))
}

func besideText(all []beside) string {
	var parts []string
	for _, b := range all {
		if len(b.argv) == 0 {
			continue
		}
		argv := inFirstSlot(b.argv)
		text := argv[0] // a line for a shell, or a name
		switch {
		case len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c":
			text = argv[2]
		case len(argv) > 1:
			text = report.ShellQuote(argv)
		}
		text = strings.Join(strings.Fields(text), " ")
		if r := []rune(text); len(r) > shownBeside {
			text = string(r[:shownBeside]) + "..."
		}
		parts = append(parts, b.key+" "+text)
	}
	return strings.Join(parts, ", ")
}

// inFirstSlot returns texts as they are in the first slot.
func inFirstSlot(texts []string) []string {
	out := slices.Clone(texts)
	for i, t := range out {
		out[i] = strings.ReplaceAll(t, assay.SlotMark, "1")
	}
	return out
}
