package rest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxSocket is the longest path of a Unix socket.
const maxSocket = 107

// ListenUnix listens on a Unix socket that only this user can use: its directory is created with mode 0700 and must
// belong to this user and be closed to others, and a process of another user is refused by its user ID, whatever the
// modes. A socket without a listener is replaced; a socket in use is an error that matches fs.ErrExist.
func ListenUnix(path string) (net.Listener, error) {
	if len(path) > maxSocket {
		return nil, fmt.Errorf("the path of a socket has at most %d bytes, not %d: %s", maxSocket, len(path), path)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); info.Mode().Perm()&0o077 != 0 || ok && int(st.Uid) != os.Getuid() {
		return nil, fmt.Errorf("the directory of a socket must be yours and closed to others (chmod 700): %s", dir)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("%s is no socket: %w", path, fs.ErrExist)
		}
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("another server answers at %s: %w", path, fs.ErrExist)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("%w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("%w", errors.Join(err, l.Close()))
	}
	return &ownListener{l.(*net.UnixListener), os.Getuid()}, nil
}

// An ownListener accepts connections of one user.
type ownListener struct {
	*net.UnixListener
	uid int
}

// Accept implements [net.Listener].
func (l *ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := peer(c); err == nil && uid == l.uid {
			return c, nil
		}
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = c.Write([]byte("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
		c.Close()
	}
}

// peer returns the user ID of the process at the other end.
func peer(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var cerr error
	err = raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, cerr); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// ListenLoopback listens on a TCP address of this machine, such as 127.0.0.1:0.
// It refuses any other. All users of the machine can reach it: use a token.
func ListenLoopback(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s is not a loopback address (127.0.0.1:PORT or [::1]:PORT)", address)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	return l, nil
}
