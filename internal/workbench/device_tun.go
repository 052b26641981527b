package workbench

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// openTUN makes a device of that name in the namespace of the calling thread and
// returns its descriptor, with which the device goes.
func openTUN(name string) (int, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("/dev/net/tun: %w", err)
	}
	ifr, err := unix.NewIfreq(name)
	if err == nil {
		ifr.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, ifr)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("device %s: %w", name, err)
	}
	return fd, nil
}

// withSocket calls f with a socket for the settings of devices.
func withSocket(f func(fd int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%w", err)
	}
	defer unix.Close(fd)
	return f(fd)
}

// setDevice makes one setting of a device.
func setDevice(fd int, name string, request uint, value func(*unix.Ifreq) error) error {
	ifr, err := unix.NewIfreq(name)
	if err == nil {
		err = value(ifr)
	}
	if err == nil {
		err = unix.IoctlIfreq(fd, request, ifr)
	}
	if err != nil {
		return fmt.Errorf("setting up %s: %w", name, err)
	}
	return nil
}

// up brings up a device in the namespace of the calling thread.
func up(name string) error {
	return withSocket(func(fd int) error {
		return setDevice(fd, name, unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error {
			r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
			return nil
		})
	})
}

// configure gives a point-to-point device its addresses and brings it up.
func configure(name string, local, peer netip.Addr, mtu int) error {
	address := func(a netip.Addr) func(*unix.Ifreq) error {
		return func(r *unix.Ifreq) error { return r.SetInet4Addr(a.AsSlice()) }
	}
	return withSocket(func(fd int) error {
		for _, s := range []struct {
			request uint
			value   func(*unix.Ifreq) error
		}{
			{unix.SIOCSIFADDR, address(local)},
			{unix.SIOCSIFDSTADDR, address(peer)},
			{unix.SIOCSIFNETMASK, address(netip.AddrFrom4([4]byte{255, 255, 255, 255}))},
			{unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(uint32(mtu)); return nil }},
			{unix.SIOCSIFTXQLEN, func(r *unix.Ifreq) error { r.SetUint32(txQueue); return nil }},
			{unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error {
				r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_POINTOPOINT | unix.IFF_NOARP)
				return nil
			}},
		} {
			err := setDevice(fd, name, s.request, s.value)
			// In a user namespace the length of the queue stays 500.
			if err != nil && !(s.request == unix.SIOCSIFTXQLEN && errors.Is(err, unix.EPERM)) {
				return err
			}
		}
		return nil
	})
}

// txQueue is how many packets may wait in a device for us to read them: enough
// for every window that TCP opens, so that none is lost before our own queue even
// if we are slow.
const txQueue = 10000
