package meterfs

import (
	"encoding/binary"
	"syscall"
)

// attrCall sends a request whose reply begins with an attr, and returns the rest of the reply.
func (c *Client) attrCall(q *request) (a attr, rest []byte, errno syscall.Errno) {
	body, errno := c.call(q, nil)
	if errno != 0 {
		return a, nil, errno
	}
	rest, err := a.parse(body)
	if err != nil {
		return a, nil, syscall.EIO
	}
	return a, rest, 0
}

// stat returns the attributes of a path.
func (c *Client) stat(path string) (attr, syscall.Errno) {
	a, _, errno := c.attrCall(&request{op: opStat, path: path})
	return a, errno
}

// open opens, or with opCreate creates, a file.
func (c *Client) open(q *request) (a attr, handle int64, errno syscall.Errno) {
	a, rest, errno := c.attrCall(q)
	if errno != 0 {
		return a, 0, errno
	}
	handle, k := binary.Varint(rest)
	if k <= 0 || handle <= 0 {
		return a, 0, syscall.EIO
	}
	return a, handle, 0
}

// readdir returns the entries of a directory but "." and "..".
func (c *Client) readdir(path string) ([]entry, syscall.Errno) {
	body, errno := c.call(&request{op: opReaddir, path: path}, nil)
	if errno != 0 {
		return nil, errno
	}
	es, err := parseEntries(body)
	if err != nil {
		return nil, syscall.EIO
	}
	return es, 0
}

// do sends a request whose reply has no body that matters.
func (c *Client) do(q *request) syscall.Errno {
	_, errno := c.call(q, nil)
	return errno
}

// read reads at most len(dst) bytes; less means the end of the file.
func (c *Client) read(handle int64, dst []byte, off int64) (n int, errno syscall.Errno) {
	for n < len(dst) {
		part := dst[n:min(len(dst), n+maxData)]
		body, errno := c.call(&request{op: opRead, handle: handle, off: off + int64(n), size: int64(len(part))}, part)
		if errno != 0 {
			return n, errno
		}
		n += len(body)
		if len(body) < len(part) {
			break
		}
	}
	return n, 0
}

// write writes all of data.
func (c *Client) write(handle int64, data []byte, off int64) (n int, errno syscall.Errno) {
	for n < len(data) {
		part := data[n:min(len(data), n+maxData)]
		if errno := c.do(&request{op: opWrite, handle: handle, off: off + int64(n), data: part}); errno != 0 {
			return n, errno
		}
		n += len(part)
	}
	return n, 0
}
