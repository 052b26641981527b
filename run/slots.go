package run

import "sync"

// slots numbers the jobs that run at once, from 1, and keeps the service of each number from job to
// job. The zero value is ready. It is safe for concurrent use.
type slots struct {
	mu   sync.Mutex
	busy map[int]bool
	kept map[int]*server // of slots that are free, or whose job has not looked yet
}

// take returns a free slot for a job whose service has that key, "" for none: one whose service
// has it too, else the lowest.
func (s *slots) take(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy == nil {
		s.busy, s.kept = map[int]bool{}, map[int]*server{}
	}
	found := 0
	for n, k := range s.kept {
		if key != "" && k.spec.Key == key && !s.busy[n] && (found == 0 || n < found) {
			found = n
		}
	}
	for n := 1; found == 0; n++ {
		if !s.busy[n] {
			found = n
		}
	}
	s.busy[found] = true
	return found
}

// give frees a slot, with the service that goes on in it or nil.
func (s *slots) give(n int, k *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, n)
	delete(s.kept, n)
	if k != nil {
		s.kept[n] = k
	}
}

// service returns the service that goes on in a slot, or nil.
func (s *slots) service(n int) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[n]
}

// all returns the services that go on.
func (s *slots) all() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*server
	for n, k := range s.kept {
		out = append(out, k)
		delete(s.kept, n)
	}
	return out
}
