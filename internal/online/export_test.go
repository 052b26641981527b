package online

// Looks returns how often the session has looked at one member after the other, in all.
func (s *Session) Looks() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks
}
