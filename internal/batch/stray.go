package batch

import (
	"path/filepath"
	"strings"
	"time"
)

// A stray is a job that the system shows as alive though its attempt has ended: a controller that was started again may
// take a job that has ended for running, and its machine for taken, for a long time.
type stray struct {
	job   Job
	seen  int       // queries in a row
	since time.Time // of the first of them
	done  bool      // it was cancelled, or is not to be
}

// stray looks for such jobs among the jobs of a query, and ends those that have been there for a while. It leaves jobs
// of attempts alone that may be alive, even if this session does not know them.
func (r *Runner) stray() {
	now := time.Now()
	var old []*stray
	r.mu.Lock()
	live := map[string]bool{}
	for _, a := range r.runs {
		live[a.name()] = true
	}
	strays := map[string]*stray{}
	for name, j := range r.jobs {
		if j.State == Over || live[name] || !strings.HasPrefix(name, Prefix+r.id+"-") {
			continue
		}
		s := r.strays[name]
		if s == nil {
			s = &stray{since: now}
		}
		s.job = j
		s.seen++
		strays[name] = s
		if !s.done && s.seen >= 2 && now.Sub(s.since) >= r.o.Unseen/2 {
			s.done = true
			old = append(old, s)
		}
	}
	r.strays = strays
	r.mu.Unlock()
	for _, s := range old {
		if !r.over(s.job.Name) {
			continue
		}
		r.mu.Lock()
		r.condemns = append(r.condemns, s.job)
		r.mu.Unlock()
		nudge(r.axe)
	}
}

// over reports whether the attempt of a name has ended or will never begin, by the spool.
func (r *Runner) over(name string) bool {
	rest := strings.TrimPrefix(name, Prefix+r.id+"-")
	i := strings.LastIndexByte(rest, '-')
	if i < 0 {
		return false
	}
	d := dir(filepath.Join(r.o.Dir, rest[:i], rest[i+1:]))
	var res result
	if ok, _ := d.read(resultFile, &res); ok {
		return res.Name == name
	}
	var c claim
	ok, _ := d.read(claimFile, &c)
	return ok && c.By != byShim
}
