package workbench

// This file emulates a network link between two network namespaces of this
// machine: a round-trip time and a rate.
//
// [NewNamespace] makes a namespace that has no name: it is gone when no process holds it, so that
// nothing is left of it after a crash. [Open] joins two of them by a TUN device in each, between
// which this process carries the packets, as the shells of Mahimahi do (Netravali et al., ATC 2015,
// §3.2). That needs /dev/net/tun and CAP_NET_ADMIN over the namespaces, and nothing of the kernel's
// traffic control.
//
// A packet first waits for the link to be free (rate), then for half of the
// round-trip time (delay). There is no jitter and no loss but by a full queue.

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Addresses of the two ends. They need not be unique: nothing else is in the
// namespaces.
var (
	AddrA = netip.AddrFrom4([4]byte{10, 88, 0, 1})
	AddrB = netip.AddrFrom4([4]byte{10, 88, 0, 2})
)

// Device is the name of the device at both ends.
const Device = "assay0"

// Bounds of Options.
const (
	MaxRTT  = 10 * time.Second
	MinRate = 64e3 // bit/s
	MaxRate = 100e9
)

// DefaultQueue is the queue of a direction unless Options set another.
const DefaultQueue = 16 << 20

// LinkOptions are the properties of a link, the same in both directions. The zero
// value is as fast as this process can carry packets.
type LinkOptions struct {
	// RTT is added to the round-trip time of the two ends, one half in each
	// direction. The carrying itself costs about 0.1 ms a round trip.
	RTT time.Duration
	// Rate is in bit/s of IP packets; 0 means no limit.
	Rate float64
	// Queue is how many bytes may wait for the link to be free; a packet that
	// finds more is lost. 0 means DefaultQueue, more than the windows of a few
	// TCP connections.
	Queue int
	// Varies allows the round-trip time and the rate to be set anew while the link is open, by [Link.Set].
	// Rate is then the least rate, and determines the largest packet.
	Varies bool
}

// Check returns an error that names the option that is out of range.
func (o LinkOptions) Check() error {
	switch {
	case o.RTT < 0 || o.RTT > MaxRTT:
		return fmt.Errorf("a round-trip time of %v is not between 0 and %v", o.RTT, MaxRTT)
	case o.Rate != 0 && !(o.Rate >= MinRate && o.Rate <= MaxRate):
		return fmt.Errorf("a rate of %g bit/s is not between %g and %g", o.Rate, float64(MinRate), float64(MaxRate))
	case o.Queue < 0:
		return fmt.Errorf("a queue of %d bytes", o.Queue)
	}
	return nil
}

// MTU returns the largest packet of the link. Larger packets are cheaper to
// carry, and a smaller part of them is headers, but they stand longer in the way
// of others: 4000 bytes, of which TCP and IP take 1.3 %, or as many as the link
// carries in 0.12 ms if that is more.
func (o LinkOptions) MTU() int {
	const least, most = 4000, 65000
	if o.Rate == 0 {
		return most
	}
	return min(max(least, int(o.Rate*0.12e-3/8)), most)
}

// Stats counts the traffic of one direction.
type Stats struct {
	Packets, Bytes int64
	Lost           int64 // packets that found the queue full
}

// A Link carries packets between two namespaces until Close.
type Link struct {
	stop   [2]int // a pipe that ends the pumps when its end for writing is closed
	tuns   [2]int
	pumps  [2]*pump
	wg     sync.WaitGroup
	closed sync.Once
}

// Open joins a and b: from a, the other end has the address AddrB, and from b,
// AddrA.
func Open(a, b *Namespace, opts LinkOptions) (*Link, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	if opts.Queue == 0 {
		opts.Queue = DefaultQueue
	}
	l := &Link{tuns: [2]int{-1, -1}, stop: [2]int{-1, -1}}
	for i, end := range []struct {
		ns          *Namespace
		local, peer netip.Addr
	}{{a, AddrA, AddrB}, {b, AddrB, AddrA}} {
		err := end.ns.Do(func() (err error) {
			if l.tuns[i], err = openTUN(Device); err != nil {
				return err
			}
			return configure(Device, end.local, end.peer, opts.MTU())
		})
		if err != nil {
			return nil, errors.Join(err, l.free())
		}
	}
	if err := unix.Pipe2(l.stop[:], unix.O_CLOEXEC); err != nil {
		return nil, errors.Join(fmt.Errorf("%w", err), l.free())
	}
	for i := range l.pumps {
		p := newPump(l.tuns[i], l.tuns[1-i], l.stop[0], opts)
		l.pumps[i] = p
		p.start(&l.wg)
	}
	return l, nil
}

// Set changes the round-trip time and the rate of a link that varies. Packets that wait for the link go
// on at the new rate; packets that have left it arrive at the time set before.
func (l *Link) Set(rtt time.Duration, rate float64) error {
	o := LinkOptions{RTT: rtt, Rate: rate}
	if err := o.Check(); err != nil {
		return err
	}
	for _, p := range l.pumps {
		if !p.varies {
			return errors.New("the link was opened as one that does not vary")
		}
		p.set(rate, rtt/2)
	}
	return nil
}

// free closes all descriptors.
func (l *Link) free() error {
	var errs []error
	for _, fd := range append(l.tuns[:], l.stop[:]...) {
		if fd >= 0 {
			errs = append(errs, unix.Close(fd))
		}
	}
	return errors.Join(errs...)
}

// Stats returns the traffic from a to b and from b to a.
func (l *Link) Stats() (ab, ba Stats) { return l.pumps[0].stats(), l.pumps[1].stats() }

// Close ends the link and its devices. Packets that are under way are lost.
func (l *Link) Close() error {
	var err error
	l.closed.Do(func() {
		err = unix.Close(l.stop[1])
		l.stop[1] = -1
		l.wg.Wait()
		err = errors.Join(err, l.free())
	})
	return err
}
