package request

// A Sizer chooses the requests for a task, from executions that were seen before. [Fit] is one; the
// rules of papers are others.
type Sizer func(seen []Use) func(u *Use) (memory, time Rule)

// Fitted returns the Sizer of [Fit]. Tasks of a kind that was not seen get no request.
func Fitted(o Options) Sizer {
	return func(seen []Use) func(*Use) (Rule, Rule) { return Fit(seen, o).Rules }
}

// Rules returns the rules of a task's kind; none if nothing is known of it.
func (r *Requests) Rules(u *Use) (memory, time Rule) {
	k := r.Kind(u.Kind)
	if k == nil {
		return Rule{}, Rule{}
	}
	return k.Memory.Rule, k.Time.Rule
}

// Count counts the results of rules on tasks. unasked is the memory of tasks that the rules do not
// cover.
func Count(uses []Use, rules func(*Use) (memory, time Rule), unasked Rule) Tally {
	var t Tally
	for i := range uses {
		m, l := rules(&uses[i])
		if !m.Known() {
			m = unasked
		}
		t.Try(&uses[i], m, l)
	}
	return t
}

// CountRecorded counts the recorded results of tasks; unasked is the memory of tasks whose request was
// not recorded.
func CountRecorded(uses []Use, unasked Rule) Tally {
	var t Tally
	for i := range uses {
		t.Recorded(&uses[i], unasked)
	}
	return t
}

// Judge counts the results of a sizer on the tasks of each group when it has seen the other groups only.
// group gives the group of a task. most is the largest number of parts that the groups are combined
// into; 0 is no bound. ok is false with fewer than two groups.
func Judge(uses []Use, size Sizer, group func(*Use) int, most int, unasked Rule) (t Tally, ok bool) {
	part := map[int]int{}
	for i := range uses {
		if g := group(&uses[i]); part[g] == 0 {
			part[g] = len(part) + 1
		}
	}
	parts := len(part)
	if most > 0 {
		parts = min(parts, most)
	}
	if parts < 2 {
		return Tally{}, false
	}
	for p := range parts {
		var seen, out []Use
		for i := range uses {
			if (part[group(&uses[i])]-1)%parts == p {
				out = append(out, uses[i])
			} else {
				seen = append(seen, uses[i])
			}
		}
		t.Add(Count(out, size(seen), unasked))
	}
	return t, true
}

// ByExecution and ByConfig are groups for [Judge].
func ByExecution(u *Use) int { return u.Execution }

// ByConfig puts the repetitions of a configuration together.
func ByConfig(u *Use) int { return u.Config }
