package link

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A pump carries the packets of one direction.
type pump struct {
	in, out, stop int
	shape         shaper
	packets       atomic.Int64
	bytes         atomic.Int64
	lost          atomic.Int64
	began         time.Time

	mu    sync.Mutex
	some  sync.Cond // signalled when a packet comes to an empty line, and at the end
	line  []packet  // under way, in the order of due
	first int       // index in line
	over  bool
	spare [][]byte
}

// A packet is on its way.
type packet struct {
	due  int64 // ns since pump.began
	data []byte
}

func newPump(in, out, stop int, opts Options) *pump {
	p := &pump{
		in: in, out: out, stop: stop, began: time.Now(),
		shape: shaper{rate: opts.Rate, delay: int64(opts.RTT / 2), queue: float64(opts.Queue)},
	}
	p.some.L = &p.mu
	return p
}

func (p *pump) now() int64 { return int64(time.Since(p.began)) }

func (p *pump) stats() Stats {
	return Stats{Packets: p.packets.Load(), Bytes: p.bytes.Load(), Lost: p.lost.Load()}
}

// start starts the threads of the pump: one that reads, and if packets have to
// wait, one that writes.
func (p *pump) start(wg *sync.WaitGroup) {
	wg.Go(p.read)
	if p.waits() {
		wg.Go(p.write)
	}
}

func (p *pump) waits() bool { return p.shape.rate != 0 || p.shape.delay != 0 }

// read takes packets until stop is closed.
func (p *pump) read() {
	runtime.LockOSThread() // a thread of its own wakes up sooner
	defer p.end()
	_ = unix.SetNonblock(p.in, true) // a read that blocks only delays Close
	poll := []unix.PollFd{{Fd: int32(p.in), Events: unix.POLLIN}, {Fd: int32(p.stop), Events: unix.POLLIN}}
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Read(p.in, buf)
		switch err {
		case nil:
			p.accept(&buf, n)
			continue
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		default:
			return // the device is gone
		}
		if _, err := unix.Poll(poll, -1); err != nil && err != unix.EINTR {
			return
		}
		if poll[1].Revents != 0 {
			return
		}
	}
}

// accept forwards the packet in the first n bytes of buf, or puts it in line, in
// which case buf is another buffer afterwards.
func (p *pump) accept(buf *[]byte, n int) {
	if !p.waits() {
		p.deliver((*buf)[:n])
		return
	}
	due, ok := p.shape.take(p.now(), n)
	if !ok {
		p.lost.Add(1)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	data := p.buffer(n)
	copy(data, *buf)
	p.line = append(p.line, packet{due, data})
	if len(p.line)-p.first == 1 {
		p.some.Signal()
	}
}

// smallPacket is the size of the buffers that are kept for packets; larger ones
// are made each time.
const smallPacket = 2048

// buffer returns n bytes. The lock is held.
func (p *pump) buffer(n int) []byte {
	if n > smallPacket {
		return make([]byte, n)
	}
	if k := len(p.spare); k > 0 {
		b := p.spare[k-1]
		p.spare = p.spare[:k-1]
		return b[:n]
	}
	return make([]byte, n, smallPacket)
}

// deliver writes a packet to the other end. A packet that the other end does not
// take is lost, as on any network.
func (p *pump) deliver(data []byte) {
	p.packets.Add(1)
	p.bytes.Add(int64(len(data)))
	_, _ = unix.Write(p.out, data)
}

// end wakes the writer for the last time.
func (p *pump) end() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.some.Signal()
}

// write delivers each packet when it is due.
func (p *pump) write() {
	runtime.LockOSThread()
	// Wake-ups are late by up to the slack, 50 µs unless we say so.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for {
		next, ok := p.next()
		if !ok {
			return
		}
		for wait := next.due - p.now(); wait > 0; wait = next.due - p.now() {
			// In parts, so that Close does not wait for a slow link.
			ts := unix.NsecToTimespec(min(wait, int64(50*time.Millisecond)))
			_ = unix.Nanosleep(&ts, nil)
			if p.ended() {
				return
			}
		}
		p.deliver(next.data)
		p.recycle(next.data)
	}
}

func (p *pump) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// next waits for the next packet in line and takes it, or returns false at the
// end.
func (p *pump) next() (packet, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.first == len(p.line) && !p.over {
		p.line, p.first = p.line[:0], 0
		p.some.Wait()
	}
	if p.over {
		return packet{}, false
	}
	next := p.line[p.first]
	p.line[p.first] = packet{}
	p.first++
	if p.first > 1024 && p.first*2 > len(p.line) { // keep the line short
		n := copy(p.line, p.line[p.first:])
		clear(p.line[n:])
		p.line, p.first = p.line[:n], 0
	}
	return next, true
}

func (p *pump) recycle(data []byte) {
	if cap(data) != smallPacket {
		return
	}
	p.mu.Lock()
	p.spare = append(p.spare, data[:smallPacket])
	p.mu.Unlock()
}
