package meterfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// On the wire is a sequence of frames each way. All fixed numbers are
// little-endian.
//
//	request  length u32 (of the rest), tag u32, op u8, fields, data
//	reply    length u32 (of the rest), tag u32, errno u32, service time u64 in ns, body
//
// The fields of a request are zig-zag varints, and texts that are preceded by
// their length as a varint, in the order of [request.fields]; the data is the
// rest. The body of a reply depends on the op: data or a text as it is, an attr,
// an attr and a handle, entries, or nothing. It is empty if errno is not 0.
const (
	requestHeader = 4 + 4 + 1
	replyHeader   = 4 + 4 + 4 + 8

	// maxData is the most data of one read or write.
	maxData = 1 << 20
	// maxRequest bounds a request: its data, two paths and the numbers.
	maxRequest = maxData + 1<<16
	// maxReply bounds a reply: a directory of about a million entries.
	maxReply = 64 << 20
)

// An op is the operation of a request.
type op uint8

const (
	opStat op = iota + 1
	opReaddir
	opOpen
	opCreate
	opRead
	opWrite
	opFlush
	opFsync
	opRelease
	opSetattr
	opMkdir
	opMknod
	opSymlink
	opReadlink
	opLink
	opUnlink
	opRmdir
	opRename
	opStatfs
	opAllocate
	opSeek
	opSyncdir
	opEnd // no op
)

// A request is one call of the server. Which fields count depends on op.
type request struct {
	tag    uint32
	op     op
	path   string // relative to the root, "" is the root
	other  string // of rename and link: the other path; of symlink: the target
	handle int64  // of an open file, or 0 to go by path
	off    int64
	size   int64
	flags  int64
	mode   int64
	uid    int64
	gid    int64
	valid  int64 // of setattr: which values count, set* below
	atime  int64 // ns since 1970
	mtime  int64
	data   []byte
}

// Bits of request.valid.
const (
	setMode = 1 << iota
	setUID
	setGID
	setSize
	setAtime
	setMtime
)

var errFrame = errors.New("malformed frame")

// texts and fields list the fields of a request on the wire.
func (q *request) texts() [2]*string { return [2]*string{&q.path, &q.other} }

func (q *request) fields() [10]*int64 {
	return [10]*int64{&q.handle, &q.off, &q.size, &q.flags, &q.mode, &q.uid, &q.gid, &q.valid, &q.atime, &q.mtime}
}

// appendHeader appends the frame of the request without its data.
func (q *request) appendHeader(b []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, q.tag)
	b = append(b, byte(q.op))
	for _, n := range q.fields() {
		b = binary.AppendVarint(b, *n)
	}
	for _, s := range q.texts() {
		b = binary.AppendUvarint(b, uint64(len(*s)))
		b = append(b, *s...)
	}
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-4+len(q.data)))
	return b
}

// parseRequest reads a frame without its length. The data is a part of b.
func parseRequest(b []byte) (request, error) {
	var q request
	if len(b) < requestHeader-4 {
		return q, errFrame
	}
	q.tag, q.op = binary.LittleEndian.Uint32(b), op(b[4])
	if q.op == 0 || q.op >= opEnd {
		return q, fmt.Errorf("unknown op %d", q.op)
	}
	b = b[requestHeader-4:]
	for _, n := range q.fields() {
		v, k := binary.Varint(b)
		if k <= 0 {
			return q, errFrame
		}
		*n, b = v, b[k:]
	}
	for _, s := range q.texts() {
		v, k := binary.Uvarint(b)
		if k <= 0 || v > uint64(len(b)-k) {
			return q, errFrame
		}
		*s, b = string(b[k:k+int(v)]), b[k+int(v):]
	}
	q.data = b
	return q, nil
}

// readFrame reads a frame without its length, into buf if it fits.
func readFrame(r io.Reader, buf []byte, limit uint32) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > limit {
		return nil, fmt.Errorf("a frame of %d bytes is longer than %d", n, limit)
	}
	if uint32(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(r, buf)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return buf, err
}

// A replyHead is the fixed part of a reply.
type replyHead struct {
	tag     uint32
	errno   syscall.Errno
	service int64 // ns
	size    int   // of the body
}

// put writes the head of a reply to b, which has room for it.
func (h replyHead) put(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(replyHeader-4+h.size))
	binary.LittleEndian.PutUint32(b[4:], h.tag)
	binary.LittleEndian.PutUint32(b[8:], uint32(h.errno))
	binary.LittleEndian.PutUint64(b[12:], uint64(h.service))
}

// parseReplyHead reads the head of a reply, length included.
func parseReplyHead(b []byte) (replyHead, error) {
	n := binary.LittleEndian.Uint32(b)
	if n < replyHeader-4 || n > maxReply {
		return replyHead{}, fmt.Errorf("a reply of %d bytes", n)
	}
	h := replyHead{
		tag:     binary.LittleEndian.Uint32(b[4:]),
		errno:   syscall.Errno(binary.LittleEndian.Uint32(b[8:])),
		service: int64(binary.LittleEndian.Uint64(b[12:])),
		size:    int(n) - (replyHeader - 4),
	}
	if h.service < 0 || h.errno > 4095 || h.errno != 0 && h.size > 0 {
		return h, errFrame
	}
	return h, nil
}

// An attr holds the result of stat(2) for a file.
type attr struct {
	ino, size, blocks   int64
	atime, mtime, ctime int64 // ns since 1970
	mode, nlink         int64
	uid, gid, rdev      int64
	blksize             int64
}

func (a *attr) fields() [12]*int64 {
	return [12]*int64{
		&a.ino, &a.size, &a.blocks, &a.atime, &a.mtime, &a.ctime,
		&a.mode, &a.nlink, &a.uid, &a.gid, &a.rdev, &a.blksize,
	}
}

func (a *attr) append(b []byte) []byte { return appendNumbers(b, a.fields()) }

func (a *attr) parse(b []byte) ([]byte, error) { return parseNumbers(b, a.fields()) }

// A statfs holds the result of statfs(2) for a file system.
type statfs struct {
	blocks, bfree, bavail, files, ffree, bsize, namelen, frsize int64
}

func (s *statfs) fields() [12]*int64 {
	var none [4]int64
	return [12]*int64{
		&s.blocks, &s.bfree, &s.bavail, &s.files, &s.ffree, &s.bsize, &s.namelen, &s.frsize,
		&none[0], &none[1], &none[2], &none[3],
	}
}

func (s *statfs) append(b []byte) []byte { return appendNumbers(b, s.fields()) }

func (s *statfs) parse(b []byte) ([]byte, error) { return parseNumbers(b, s.fields()) }

func appendNumbers(b []byte, ns [12]*int64) []byte {
	for _, n := range ns {
		b = binary.AppendVarint(b, *n)
	}
	return b
}

func parseNumbers(b []byte, ns [12]*int64) ([]byte, error) {
	for _, n := range ns {
		v, k := binary.Varint(b)
		if k <= 0 {
			return nil, errFrame
		}
		*n, b = v, b[k:]
	}
	return b, nil
}

// An entry is a name in a directory.
type entry struct {
	name string
	ino  int64
	mode int64 // the type only
}

func appendEntry(b []byte, e entry) []byte {
	b = binary.AppendVarint(b, e.ino)
	b = binary.AppendVarint(b, e.mode)
	b = binary.AppendUvarint(b, uint64(len(e.name)))
	return append(b, e.name...)
}

// parseEntries reads the output of appendEntry.
func parseEntries(b []byte) ([]entry, error) {
	var es []entry
	for len(b) > 0 {
		var e entry
		for _, n := range []*int64{&e.ino, &e.mode} {
			v, k := binary.Varint(b)
			if k <= 0 {
				return nil, errFrame
			}
			*n, b = v, b[k:]
		}
		v, k := binary.Uvarint(b)
		if k <= 0 || v > uint64(len(b)-k) {
			return nil, errFrame
		}
		e.name, b = string(b[k:k+int(v)]), b[k+int(v):]
		es = append(es, e)
	}
	return es, nil
}
