// Package link emulates a network link between two network namespaces of this
// machine: a round-trip time and a rate.
//
// [NewNamespace] makes a namespace that has no name: it is gone when nobody holds
// it, so that nothing is left of it after a crash. [Open] joins two of them by a
// TUN device in each, between which this process carries the packets, as the
// shells of Mahimahi do (Netravali et al., ATC 2015, §3.2). That needs
// /dev/net/tun and CAP_NET_ADMIN over the namespaces, and nothing of the kernel's
// traffic control.
//
// A packet first waits for the link to be free (rate), then for half of the
// round-trip time (delay). There is no jitter and no loss but by a full queue.
package link
