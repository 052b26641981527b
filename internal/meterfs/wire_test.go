package meterfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

func anyRequest(t *rapid.T) request {
	number := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, math.MinInt64}))
	q := request{
		tag: rapid.Uint32().Draw(t, "tag"), op: op(rapid.IntRange(1, int(opEnd)-1).Draw(t, "op")),
		path: rapid.String().Draw(t, "path"), other: rapid.String().Draw(t, "other"),
		data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
	}
	for _, f := range q.fields() {
		*f = number.Draw(t, "field")
	}
	return q
}

// A request that is written is read again, and a frame that is cut anywhere is refused or is
// another request, never a crash.
func TestRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := anyRequest(t)
		wire := append(q.appendHeader(nil), q.data...)
		frame, err := readFrame(bytes.NewReader(wire), nil, maxRequest)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseRequest(frame)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.data) == 0 && len(q.data) == 0 {
			got.data, q.data = nil, nil
		}
		if !reflect.DeepEqual(got, q) {
			t.Fatalf("got %+v, want %+v", got, q)
		}
		cut := rapid.IntRange(0, len(wire)-1).Draw(t, "cut")
		if _, err := readFrame(bytes.NewReader(wire[:cut]), nil, maxRequest); err == nil {
			t.Fatalf("a frame that is cut at %d was read", cut)
		}
	})
}

func TestFrameLimits(t *testing.T) {
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:], maxRequest+1)
	if _, err := readFrame(bytes.NewReader(b[:]), nil, maxRequest); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a long frame: %v", err)
	}
	if _, err := parseRequest([]byte{1, 2, 3}); err == nil {
		t.Error("three bytes are a request")
	}
	if _, err := parseRequest(append([]byte{1, 2, 3, 4, byte(opEnd)}, make([]byte, 20)...)); err == nil {
		t.Error("an unknown op is a request")
	}
}

func TestReplyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := replyHead{
			tag: rapid.Uint32().Draw(t, "tag"), errno: syscall.Errno(rapid.IntRange(0, 133).Draw(t, "errno")),
			service: rapid.Int64Range(0, math.MaxInt64).Draw(t, "service"),
		}
		if h.errno == 0 {
			h.size = rapid.IntRange(0, maxData).Draw(t, "size")
		}
		var b [replyHeader]byte
		h.put(b[:])
		if got, err := parseReplyHead(b[:]); err != nil || got != h {
			t.Fatalf("got %+v, %v, want %+v", got, err, h)
		}
		var a attr
		for _, f := range a.fields() {
			*f = rapid.Int64().Draw(t, "field")
		}
		var again attr
		if rest, err := again.parse(a.append(nil)); err != nil || len(rest) > 0 || again != a {
			t.Fatalf("got %+v, %v, want %+v", again, err, a)
		}
		es := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) entry {
			return entry{rapid.String().Draw(t, "name"), rapid.Int64().Draw(t, "ino"), rapid.Int64().Draw(t, "mode")}
		}), 0, 5).Draw(t, "entries")
		var wire []byte
		for _, e := range es {
			wire = appendEntry(wire, e)
		}
		if got, err := parseEntries(wire); err != nil || !slices.Equal(got, es) {
			t.Fatalf("got %+v, %v, want %+v", got, err, es)
		}
	})
}

func FuzzRequest(f *testing.F) {
	q := request{tag: 1, op: opWrite, path: "a/b", handle: 3, off: 1 << 40, data: []byte("data")}
	f.Add(append(q.appendHeader(nil), q.data...)[4:])
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := parseRequest(b)
		if err != nil {
			return
		}
		wire := append(q.appendHeader(nil), q.data...)
		again, err := parseRequest(wire[4:])
		if err != nil || !reflect.DeepEqual(q, again) {
			t.Errorf("%+v is read as %+v, %v", q, again, err)
		}
	})
}

func FuzzReply(f *testing.F) {
	var b [replyHeader]byte
	replyHead{tag: 7, service: 12, size: 30}.put(b[:])
	f.Add(b[:], appendEntry(nil, entry{"name", 1, 2}))
	f.Add(b[:], (&attr{size: 5, mode: 0o100644}).append(nil))
	f.Fuzz(func(t *testing.T, head, body []byte) {
		if len(head) >= replyHeader {
			if h, err := parseReplyHead(head); err == nil {
				if h.size < 0 || h.size > maxReply || h.service < 0 {
					t.Errorf("%+v", h)
				}
				var b [replyHeader]byte
				if h.put(b[:]); !bytes.Equal(b[:], head[:replyHeader]) {
					t.Errorf("%x is written as %x", head, b)
				}
			}
		}
		var a attr
		if rest, err := a.parse(body); err == nil && len(rest) > len(body)-12 {
			t.Errorf("an attr of %d bytes", len(body)-len(rest))
		}
		var s statfs
		_, _ = s.parse(body)
		if es, err := parseEntries(body); err == nil && len(es) > len(body)/3 {
			t.Errorf("%d entries in %d bytes", len(es), len(body))
		}
	})
}
