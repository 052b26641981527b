package workbench

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
	varies        bool // rate and delay may change
	packets       atomic.Int64
	bytes         atomic.Int64
	lost          atomic.Int64
	began         time.Time

	mu    sync.Mutex
	shape shaper    // of varies, guarded; else read only by the reader
	some  sync.Cond // signalled when a packet joins an empty line, and at the end
	line  []packet  // under way, in the order of due
	first int       // index in line
	over  bool
	spare [][]byte
}

// A packet is on its way.
type packet struct {
	due   int64   // ns since pump.began
	leave float64 // when it has left the link, before the delay
	data  []byte
}

func newPump(in, out, stop int, opts LinkOptions) *pump {
	p := &pump{
		in: in, out: out, stop: stop, began: time.Now(), varies: opts.Varies,
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

func (p *pump) waits() bool { return p.varies || p.shape.rate != 0 || p.shape.delay != 0 }

// setDevice changes the rate and the delay of a pump that varies.
func (p *pump) set(rate float64, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shape.change(p.now(), rate, int64(delay), p.line[p.first:])
}

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
	p.mu.Lock()
	defer p.mu.Unlock()
	due, ok := p.shape.take(p.now(), n)
	if !ok {
		p.lost.Add(1)
		return
	}
	if last := len(p.line) - 1; last >= p.first {
		due = max(due, p.line[last].due) // a packet with a shorter delay overtakes no other
	}
	data := p.buffer(n)
	copy(data, *buf)
	p.line = append(p.line, packet{due, p.shape.free, data})
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
	// Wake-ups are late by up to the slack, 50 µs by default.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	for {
		data, wait, ok := p.next()
		if !ok {
			return
		}
		if wait > 0 {
			ts := unix.NsecToTimespec(min(wait, longestWait))
			_ = unix.Nanosleep(&ts, nil)
			continue
		}
		p.deliver(data)
		p.recycle(data)
	}
}

// longestWait is how long the writer sleeps at most, in ns, so that Close does not wait for a slow
// link, and a rate that grows is soon felt.
const longestWait = int64(5 * time.Millisecond)

// next waits until there is a packet in line. It takes it if it is due, and else returns how long
// that will be, in ns, if nothing changes. It returns false at the end.
func (p *pump) next() (data []byte, wait int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.first == len(p.line) && !p.over {
		p.line, p.first = p.line[:0], 0
		p.some.Wait()
	}
	if p.over {
		return nil, 0, false
	}
	next := p.line[p.first]
	if wait := next.due - p.now(); wait > 0 {
		return nil, wait, true
	}
	p.line[p.first] = packet{}
	p.first++
	if p.first > 1024 && p.first*2 > len(p.line) { // keep the line short
		n := copy(p.line, p.line[p.first:])
		clear(p.line[n:])
		p.line, p.first = p.line[:n], 0
	}
	return next.data, 0, true
}

func (p *pump) recycle(data []byte) {
	if cap(data) != smallPacket {
		return
	}
	p.mu.Lock()
	p.spare = append(p.spare, data[:smallPacket])
	p.mu.Unlock()
}
