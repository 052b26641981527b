package report

// A Palette paints text for a terminal; the zero Palette leaves it plain. The owner of a terminal
// decides whether it has colours: see term.Color.
type Palette struct{ Color bool }

func (p Palette) paint(code, s string) string {
	if !p.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Bold is for headings.
func (p Palette) Bold(s string) string { return p.paint("1", s) }

// Good paints an improvement.
func (p Palette) Good(s string) string { return p.paint("32", s) }

// Note is for warnings.
func (p Palette) Note(s string) string { return p.paint("33", s) }
