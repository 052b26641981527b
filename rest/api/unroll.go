package api

import "strings"

// An Unrolled is an output that is put together of the tails that are seen of it. The zero value has seen nothing.
type Unrolled struct {
	attempt int
	text    string // the end of what was seen
	any     bool
}

// mostOverlap is how much of what was seen is remembered: more than a tail has.
const mostOverlap = 64 << 10

// gap stands for what nobody has seen.
const gap = "\n[...]\n"

// Next returns what is new of an output: what of its text was not seen before. Of a run that has begun anew it is all.
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
	case state == "ended" && i >= 0: // the whole: what was seen is somewhere in it
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
