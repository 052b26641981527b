package run

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A capture reads one output stream of a run through a pipe and keeps its beginning and its end. Memory is allocated
// as it is needed. Only the goroutine of Run uses a capture. Others read only its inode, which does not change after
// open.
type capture struct {
	fd    int            // the read end, or -1
	inode uint64         // of the pipe; every process that has its write end shows it in /proc/PID/fd
	tap   func(p []byte) // is given the bytes read, which it must not keep; or nil
	mu    sync.Mutex     // of the keeper, which an observer may look at meanwhile
	keeper
}

// chunks holds the buffers that streams are read into. A buffer has 64 KiB, the default capacity of a pipe (pipe(7)).
var chunks = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// open makes the pipe and returns its write end, which the caller closes when the program has it. On an error no
// descriptor is left open.
func (c *capture) open(head, tail int) (w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, fmt.Errorf("%w", err)
	}
	// Only our end: the program must not see a descriptor that does not block.
	var st unix.Stat_t
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return -1, fmt.Errorf("%w", err)
	}
	if unix.Fstat(fds[0], &st) == nil {
		c.inode = st.Ino
	}
	c.fd, c.keeper = fds[0], keeper{head: head, tail: tail}
	return fds[1], nil
}

// soFar returns the kept part of the stream now. Later output does not change it.
func (c *capture) soFar() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.keeper.bytes()
	return b[:len(b):len(b)]
}

// close may be called more than once. It keeps the output.
func (c *capture) close() {
	if c.fd >= 0 {
		unix.Close(c.fd)
		c.fd = -1
	}
}

// read takes the content of the pipe, at most one buffer, and returns its length; -1 once no process has the write
// end. A read error counts as the end of the stream: earlier output is kept.
func (c *capture) read(buf []byte) int {
	for {
		n, err := unix.Read(c.fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return 0
		case err != nil || n == 0:
			return -1
		}
		c.mu.Lock()
		c.keeper.write(buf[:n])
		c.mu.Unlock()
		if c.tap != nil {
			c.tap(buf[:n])
		}
		return n
	}
}

// finish returns the kept part of the stream. No process of the run is alive, so that all its output is in the pipe.
// A process outside the run may hold the write end and go on writing: finish reads at most the capacity of a pipe.
// The slice belongs to the caller: the capture is not used again.
func (c *capture) finish(buf []byte) []byte {
	size, err := unix.FcntlInt(uintptr(c.fd), unix.F_GETPIPE_SZ, 0)
	for left := size; err == nil && left > 0; {
		n := c.read(buf)
		if n <= 0 {
			break
		}
		left -= n
	}
	c.close()
	return c.keeper.bytes()
}

// follow reads the output of the run until the descriptor ended is readable. It is one thread that sleeps in one
// system call: each further thread or goroutine to be woken would cost as much as a short run does. It does not drain
// the streams: followUntil or finish reads the rest in the pipes when the main process ends.
func (p *process) follow(ended int, buf []byte) {
	fds := p.polled()
	fds = append(fds, unix.PollFd{Fd: int32(ended), Events: unix.POLLIN})
	for {
		p.readOnce(fds, -1, buf)
		if fds[2].Revents != 0 {
			return
		}
	}
}

// followUntil reads the output of the run until done is closed.
// The channel is looked at every lastWait at the latest, because poll(2) knows no channels.
func (p *process) followUntil(done <-chan struct{}, buf []byte) {
	for fds := p.polled(); ; {
		select {
		case <-done:
			return
		default:
			p.readOnce(fds, lastWait, buf)
		}
	}
}

// polled has room for one descriptor more, for the end of the process.
func (p *process) polled() []unix.PollFd {
	return append(make([]unix.PollFd, 0, 3),
		unix.PollFd{Fd: int32(p.out.fd), Events: unix.POLLIN}, unix.PollFd{Fd: int32(p.err.fd), Events: unix.POLLIN})
}

// readOnce waits until something happens to one of fds, whose first two are the outputs, or the time has passed (less
// than 0 means never), and reads. An output that has ended becomes -1, which poll(2) ignores.
func (p *process) readOnce(fds []unix.PollFd, wait time.Duration, buf []byte) {
	for i := range fds {
		fds[i].Revents = 0
	}
	ms := -1
	if wait >= 0 {
		ms = int(wait / time.Millisecond)
	}
	if _, err := unix.Poll(fds, ms); err != nil {
		return // EINTR: the caller looks again
	}
	for i, c := range []*capture{&p.out, &p.err} {
		if fds[i].Revents != 0 && c.read(buf) < 0 {
			fds[i].Fd = -1
		}
	}
}

// A keeper keeps the first head and the last tail bytes that are written to it. The memory of a stream is bounded by
// head+tail.
type keeper struct {
	// head and tail are at least 0.
	head, tail int
	first      []byte
	last       []byte // the ring, once more than head was written
	at         int    // where the ring is written next, if it is full
	cut        int64  // bytes that were kept by neither
}

// b stays the caller's: it is copied.
func (k *keeper) write(b []byte) {
	if room := k.head - len(k.first); room > 0 {
		n := min(room, len(b))
		k.first = append(k.first, b[:n]...)
		b = b[n:]
	}
	if n := len(b) - k.tail; n > 0 { // only its end can be kept
		k.cut += int64(n)
		b = b[n:]
	}
	if room := k.tail - len(k.last); room > 0 {
		n := min(room, len(b))
		k.last = append(k.last, b[:n]...)
		b = b[n:]
	}
	// Invariant: the ring is full, its oldest byte is at k.at.
	for k.cut += int64(len(b)); len(b) > 0; {
		n := copy(k.last[k.at:], b)
		b = b[n:]
		k.at = (k.at + n) % k.tail
	}
}

// bytes returns the kept bytes, with a mark in place of the dropped ones. The result may share memory with the
// keeper, so that nothing is written after it. The mark counts bytes, not characters: a character may be cut at
// either side of it.
func (k *keeper) bytes() []byte {
	if len(k.last) == 0 && k.cut == 0 {
		return k.first
	}
	b := make([]byte, 0, len(k.first)+len(k.last)+64)
	b = append(b, k.first...)
	if k.cut > 0 {
		b = fmt.Appendf(b, "\n[... %d bytes cut ...]\n", k.cut)
	}
	b = append(b, k.last[k.at:]...)
	return append(b, k.last[:k.at]...)
}
