package api

import "strings"

// An Unrolled reassembles an output from successive tails of it. The zero value has seen nothing.
type Unrolled struct {
	attempt int
	text    string // the end of the text seen
	any     bool
}

// mostOverlap is the number of remembered bytes: more than the length of a tail.
const mostOverlap = 64 << 10

// gap stands for a part that was not seen.
const gap = "\n[...]\n"

// Next returns the part of text that is new. All of it is new if the run was started again.
func (u *Unrolled) Next(state string, attempt int, text string) string {
	if state == "waiting" {
		return ""
	}
	if attempt != u.attempt {
		*u = Unrolled{attempt: attempt, any: u.any && attempt != 0 && u.attempt != 0}
		if u.any {
			u.text, text = "", gap+text
		}
	}
	news := text
	switch i := strings.LastIndex(text, u.text); {
	case u.text == "":
	case state == "ended" && i >= 0: // the whole output, which contains the part seen
		news = text[i+len(u.text):]
	default:
		n := overlap(u.text, text)
		if news = text[n:]; n == 0 && news != "" {
			news = gap + news
		}
	}
	u.any = true
	u.text += news
	u.text = u.text[max(0, len(u.text)-mostOverlap):]
	return news
}

// overlap returns the length of the longest end of a that b begins with.
func overlap(a, b string) int {
	for n := min(len(a), len(b)); n > 0; n-- {
		if a[len(a)-n:] == b[:n] {
			return n
		}
	}
	return 0
}
