package expr

import "unicode/utf8"

// Nearest returns the candidate that a misspelt word most likely stands for:
// the one at the least edit distance (Levenshtein, a swap of neighbours
// counting as one), the first of equals, or "" if each is farther than a third
// of the word. Case counts for nothing in a word that is otherwise equal.
// Cost: |word| times the length of all candidates.
func Nearest(word string, candidates []string) string {
	best, least := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, c := range candidates {
		if d := distance([]rune(lower(word)), []rune(lower(c))); d < least {
			best, least = c, d
		}
	}
	return best
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// distance is the optimal string alignment distance: row[j] is the distance of the first i runes of a
// and the first j of b.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range a {
		row[0] = i + 1
		for j, y := range b {
			cost := 1
			if x == y {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x == b[j-1] && a[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
