package result

import (
	"strings"

	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/spec"
)

// shownBeside is how many runes of each additional command or file are shown.
const shownBeside = 60

// besideOf lists in one line the commands and files that a study has besides its command, with the placeholders as
// written: "service redis-server --port 7401, prepare ./load"; "" without any.
func besideOf(s *spec.Study) string {
	var parts []string
	for _, b := range s.Beside() {
		if b.Key == "stop" { // the service is named already
			continue
		}
		argv := b.Argv
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
		key := b.Key
		if key == "files" {
			key = "file"
		}
		parts = append(parts, key+" "+text)
	}
	return strings.Join(parts, ", ")
}
