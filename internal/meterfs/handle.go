package meterfs

import (
	"context"
	"encoding/binary"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A handle is an open file of a mount.
type handle struct {
	client *Client
	id     int64 // of the server
}

var (
	_ fs.FileReader    = (*handle)(nil)
	_ fs.FileWriter    = (*handle)(nil)
	_ fs.FileFlusher   = (*handle)(nil)
	_ fs.FileFsyncer   = (*handle)(nil)
	_ fs.FileReleaser  = (*handle)(nil)
	_ fs.FileAllocater = (*handle)(nil)
	_ fs.FileLseeker   = (*handle)(nil)
	_ fs.FileGetattrer = (*handle)(nil)
)

// openFlags are the flags that the server needs. O_APPEND is not sent, because the kernel gives the
// offset of each write.
const openFlags = syscall.O_ACCMODE | syscall.O_TRUNC | syscall.O_EXCL

func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	q := n.request(ctx, opOpen, n.path())
	q.flags = int64(flags & openFlags)
	_, id, errno := n.client.open(q)
	if errno != 0 {
		return nil, 0, errno
	}
	return &handle{n.client, id}, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Create(
	ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut,
) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	q := n.request(ctx, opCreate, n.child(name))
	q.flags, q.mode = int64(flags&openFlags), int64(mode)
	a, id, errno := n.client.open(q)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return n.add(ctx, &a, out), &handle{n.client, id}, fuse.FOPEN_KEEP_CACHE, 0
}

func (h *handle) Read(ctx context.Context, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	n, errno := h.client.read(h.id, dest, off)
	return fuse.ReadResultData(dest[:n]), errno
}

func (h *handle) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	n, errno := h.client.write(h.id, data, off)
	return uint32(n), errno
}

func (h *handle) Flush(ctx context.Context) syscall.Errno {
	return h.client.do(&request{op: opFlush, handle: h.id})
}

// Fsync makes the names in a directory durable; of files, handles do that.
func (n *node) Fsync(ctx context.Context, f fs.FileHandle, flags uint32) syscall.Errno {
	if h, ok := f.(*handle); ok && h != nil {
		return h.Fsync(ctx, flags)
	}
	return n.client.do(&request{op: opSyncdir, path: n.path()})
}

func (h *handle) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	return h.client.do(&request{op: opFsync, handle: h.id, flags: int64(flags & 1)})
}

func (h *handle) Release(ctx context.Context) syscall.Errno {
	return h.client.do(&request{op: opRelease, handle: h.id})
}

func (h *handle) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	return h.client.do(&request{op: opAllocate, handle: h.id, off: int64(off), size: int64(size), mode: int64(mode)})
}

func (h *handle) Lseek(ctx context.Context, off uint64, whence uint32) (uint64, syscall.Errno) {
	body, errno := h.client.call(&request{op: opSeek, handle: h.id, off: int64(off), flags: int64(whence)}, nil)
	if errno != 0 {
		return 0, errno
	}
	n, k := binary.Varint(body)
	if k <= 0 {
		return 0, syscall.EIO
	}
	return uint64(n), 0
}

func (h *handle) Getattr(ctx context.Context, out *fuse.AttrOut) syscall.Errno {
	a, _, errno := h.client.attrCall(&request{op: opStat, handle: h.id})
	if errno == 0 {
		a.fill(&out.Attr)
	}
	return errno
}
