package meterfs

import (
	"context"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A node is a file, directory or link of a mount. It is known to the server by
// its path.
type node struct {
	fs.Inode
	client *Client
}

// The abilities of a node.
var (
	_ fs.NodeLookuper   = (*node)(nil)
	_ fs.NodeGetattrer  = (*node)(nil)
	_ fs.NodeSetattrer  = (*node)(nil)
	_ fs.NodeReaddirer  = (*node)(nil)
	_ fs.NodeOpener     = (*node)(nil)
	_ fs.NodeCreater    = (*node)(nil)
	_ fs.NodeMkdirer    = (*node)(nil)
	_ fs.NodeMknoder    = (*node)(nil)
	_ fs.NodeSymlinker  = (*node)(nil)
	_ fs.NodeReadlinker = (*node)(nil)
	_ fs.NodeLinker     = (*node)(nil)
	_ fs.NodeUnlinker   = (*node)(nil)
	_ fs.NodeRmdirer    = (*node)(nil)
	_ fs.NodeRenamer    = (*node)(nil)
	_ fs.NodeStatfser   = (*node)(nil)
	_ fs.NodeFsyncer    = (*node)(nil)
)

// pathOf returns the path of a node, or gone if it is in no directory any more.
// (Inode.Path(nil) would return "", the root, for it.)
func pathOf(n *fs.Inode) string {
	p := n.Path(n.Root())
	if strings.HasPrefix(p, ".go-fuse.") { // the library's mark; see Inode.Path
		return gone
	}
	return p
}

func (n *node) path() string             { return pathOf(n.EmbeddedInode()) }
func (n *node) child(name string) string { return path.Join(n.path(), name) }

// request returns a request for a path in the name of the caller.
func (n *node) request(ctx context.Context, o op, path string) *request {
	q := &request{op: o, path: path}
	if c, ok := fuse.FromContext(ctx); ok {
		q.uid, q.gid = int64(c.Uid), int64(c.Gid)
	}
	return q
}

// fill translates a to the kernel's form.
func (a *attr) fill(out *fuse.Attr) {
	set := func(ns int64) (uint64, uint32) {
		t := time.Unix(0, ns)
		return uint64(t.Unix()), uint32(t.Nanosecond())
	}
	out.Ino, out.Size, out.Blocks = uint64(a.ino), uint64(a.size), uint64(a.blocks)
	out.Atime, out.Atimensec = set(a.atime)
	out.Mtime, out.Mtimensec = set(a.mtime)
	out.Ctime, out.Ctimensec = set(a.ctime)
	out.Mode, out.Nlink = uint32(a.mode), uint32(a.nlink)
	out.Uid, out.Gid, out.Rdev, out.Blksize = uint32(a.uid), uint32(a.gid), uint32(a.rdev), uint32(a.blksize)
}

// add makes the node of a file that the server has reported.
func (n *node) add(ctx context.Context, a *attr, out *fuse.EntryOut) *fs.Inode {
	a.fill(&out.Attr)
	stable := fs.StableAttr{Mode: uint32(a.mode) & syscall.S_IFMT, Ino: uint64(a.ino)}
	return n.NewInode(ctx, &node{client: n.client}, stable)
}

// entry sends a request whose reply is the attr of a new name.
func (n *node) entry(ctx context.Context, q *request, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	a, _, errno := n.client.attrCall(q)
	if errno != 0 {
		return nil, errno
	}
	return n.add(ctx, &a, out), 0
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.entry(ctx, &request{op: opStat, path: n.child(name)}, out)
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	q := n.request(ctx, opMkdir, n.child(name))
	q.mode = int64(mode)
	return n.entry(ctx, q, out)
}

func (n *node) Mknod(
	ctx context.Context, name string, mode, dev uint32, out *fuse.EntryOut,
) (*fs.Inode, syscall.Errno) {
	q := n.request(ctx, opMknod, n.child(name))
	q.mode, q.size = int64(mode), int64(dev)
	return n.entry(ctx, q, out)
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	q := n.request(ctx, opSymlink, n.child(name))
	q.other = target
	return n.entry(ctx, q, out)
}

func (n *node) Link(
	ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut,
) (*fs.Inode, syscall.Errno) {
	q := &request{op: opLink, path: n.child(name), other: pathOf(target.EmbeddedInode())}
	return n.entry(ctx, q, out)
}

func (n *node) Readlink(ctx context.Context) ([]byte, syscall.Errno) {
	return n.client.call(&request{op: opReadlink, path: n.path()}, nil)
}

func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.client.do(&request{op: opUnlink, path: n.child(name)})
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.client.do(&request{op: opRmdir, path: n.child(name)})
}

func (n *node) Rename(
	ctx context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32,
) syscall.Errno {
	to := path.Join(pathOf(parent.EmbeddedInode()), newName)
	return n.client.do(&request{op: opRename, path: n.child(name), other: to, flags: int64(flags)})
}

func (n *node) Readdir(ctx context.Context) (fs.DirStream, syscall.Errno) {
	es, errno := n.client.readdir(n.path())
	if errno != 0 {
		return nil, errno
	}
	list := make([]fuse.DirEntry, len(es))
	for i, e := range es {
		list[i] = fuse.DirEntry{Name: e.name, Mode: uint32(e.mode), Ino: uint64(e.ino)}
	}
	return fs.NewListDirStream(list), 0
}

func (n *node) Statfs(ctx context.Context, out *fuse.StatfsOut) syscall.Errno {
	body, errno := n.client.call(&request{op: opStatfs}, nil)
	if errno != 0 {
		return errno
	}
	var s statfs
	if _, err := s.parse(body); err != nil {
		return syscall.EIO
	}
	out.Blocks, out.Bfree, out.Bavail = uint64(s.blocks), uint64(s.bfree), uint64(s.bavail)
	out.Files, out.Ffree = uint64(s.files), uint64(s.ffree)
	out.Bsize, out.NameLen, out.Frsize = uint32(s.bsize), uint32(s.namelen), uint32(s.frsize)
	return 0
}

// handleOf returns the handle of an open file, or 0.
func handleOf(f fs.FileHandle) int64 {
	if f, ok := f.(*handle); ok && f != nil {
		return f.id
	}
	return 0
}

func (n *node) Getattr(ctx context.Context, f fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	a, _, errno := n.client.attrCall(&request{op: opStat, path: n.path(), handle: handleOf(f)})
	if errno == 0 {
		a.fill(&out.Attr)
	}
	return errno
}

func (n *node) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	q := &request{op: opSetattr, path: n.path(), handle: handleOf(f)}
	if v, ok := in.GetMode(); ok {
		q.mode, q.valid = int64(v), q.valid|setMode
	}
	if v, ok := in.GetUID(); ok {
		q.uid, q.valid = int64(v), q.valid|setUID
	}
	if v, ok := in.GetGID(); ok {
		q.gid, q.valid = int64(v), q.valid|setGID
	}
	if v, ok := in.GetSize(); ok {
		q.size, q.valid = int64(v), q.valid|setSize
	}
	if v, ok := in.GetATime(); ok {
		q.atime, q.valid = v.UnixNano(), q.valid|setAtime
	}
	if v, ok := in.GetMTime(); ok {
		q.mtime, q.valid = v.UnixNano(), q.valid|setMtime
	}
	a, _, errno := n.client.attrCall(q)
	if errno == 0 {
		a.fill(&out.Attr)
	}
	return errno
}
