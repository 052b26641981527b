package meterfs

import "syscall"

// A Change is a request that opens or changes something. Which fields count depends on Op.
type Change struct {
	// "create", "open", "write", "resize", "sync", "syncdir", "mkdir", "rmdir", "unlink", "rename", "link" or "other"
	Op     string
	Path   string // relative to the root; of "resize" and "other" perhaps "", and Handle counts
	To     string // the new name of "rename", the old one of "link"
	Handle int64  // of "create" and "open": the one that the file gets, if it is opened
	Off    int64
	Size   int64 // of "resize": the new size, -1 if it is at least Off
	Empty  bool  // "create" and "open" empty the file
	Data   []byte
}

// change returns the change that a request makes; ok is false if it makes none.
func (s *Server) change(q *request) (c Change, ok bool) {
	c = Change{Path: q.path, Handle: q.handle, Off: q.off}
	switch q.op {
	case opCreate, opOpen:
		c.Op, c.Empty = "open", int(q.flags)&syscall.O_TRUNC != 0
		if q.op == opCreate {
			c.Op = "create"
		}
		s.mu.Lock()
		c.Handle = s.last + 1
		s.mu.Unlock()
	case opWrite:
		c.Op, c.Data = "write", q.data
	case opFsync:
		c.Op = "sync"
	case opSyncdir:
		c.Op = "syncdir"
	case opSetattr:
		c.Op = "other"
		if q.valid&setSize != 0 {
			c.Op, c.Size = "resize", q.size
		}
	case opAllocate:
		c.Op, c.Off, c.Size = "resize", q.off+q.size, -1
	case opMkdir:
		c.Op = "mkdir"
	case opRmdir:
		c.Op = "rmdir"
	case opUnlink:
		c.Op = "unlink"
	case opRename:
		c.Op, c.To = "rename", q.other
	case opLink:
		c.Op, c.To = "link", q.other
	case opMknod, opSymlink:
		c.Op = "other"
	default:
		return c, false
	}
	return c, true
}

// serveAround is serve, by way of Around where there is one.
func (s *Server) serveAround(q *request, out []byte) ([]byte, syscall.Errno) {
	if s.opts.Around == nil {
		return s.serve(q, out)
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	c, ok := s.change(q)
	if !ok {
		return s.serve(q, out)
	}
	errno := s.opts.Around(c, func() (errno syscall.Errno) {
		out, errno = s.serve(q, out)
		return errno
	})
	return out, errno
}
