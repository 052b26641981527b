package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"
)

// A record is one row of the events table. Record 0 of a study is its
// [creation]; the others are events, numbered from 1 without gaps.
type record struct {
	study, seq int64
	payload    []byte
	crc        uint32
	hash       []byte // of this record and all before it; see link
}

// A creation is the payload of record 0.
type creation struct {
	Study   string    `json:"study"`
	Spec    []byte    `json:"spec"`
	Created time.Time `json:"created"`
}

func (c creation) encode() ([]byte, error) { return json.Marshal(c) }

func decodeCreation(b []byte) (c creation, err error) {
	if err := json.Unmarshal(b, &c); err != nil {
		return creation{}, fmt.Errorf("creation: %w", err)
	}
	return c, checkName(c.Study)
}

// checksum returns the CRC-32C of the study's number and seq, 8 bytes each,
// little endian, and the payload. It tells a damaged record alone, without its
// neighbours.
func checksum(study, seq int64, payload []byte) uint32 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(study))
	binary.LittleEndian.PutUint64(b[8:], uint64(seq))
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[:], table), table, payload)
}

// link returns the hash of a record: the SHA-256 of the hash of the record
// before it (32 zero bytes for record 0), its seq in 8 bytes, little endian,
// and its payload. It does not depend on the study's number, which differs
// between files.
func link(prev []byte, seq int64, payload []byte) []byte {
	h := sha256.New()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(seq))
	h.Write(prev)
	h.Write(b[:])
	h.Write(payload)
	return h.Sum(nil)
}

// genesis stands for the hash of the record before the first.
func genesis() []byte { return make([]byte, sha256.Size) }

// newRecord returns the record that follows one with the hash prev.
func newRecord(prev []byte, study, seq int64, payload []byte) record {
	return record{study, seq, payload, checksum(study, seq, payload), link(prev, seq, payload)}
}

// A verifier checks that the records of one study are what was appended, in
// order. It starts with record 0, or with any other, whose hash it believes.
type verifier struct {
	next int64  // seq of the next record
	hash []byte // of the last one; nil if the next is the first, and not record 0
}

// newVerifier returns a verifier that starts with the record of that number.
func newVerifier(first int64) *verifier {
	if first > 0 {
		return &verifier{next: first}
	}
	return &verifier{hash: genesis()}
}

// check returns an error that matches [ErrDamaged] unless r is the next record.
// It then goes on behind r, so that one fault is reported once.
func (v *verifier) check(r record) error {
	want := v.next
	prev := v.hash
	v.next, v.hash = r.seq+1, r.hash
	switch {
	case r.seq != want:
		return fmt.Errorf("%w: record %d follows record %d", ErrDamaged, r.seq, want-1)
	case r.crc != checksum(r.study, r.seq, r.payload):
		return fmt.Errorf("%w: record %d has a wrong checksum", ErrDamaged, r.seq)
	case prev != nil && !bytes.Equal(r.hash, link(prev, r.seq, r.payload)):
		return fmt.Errorf("%w: record %d has a wrong hash", ErrDamaged, r.seq)
	}
	return nil
}
