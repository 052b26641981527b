package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/store"
)

// Bounds of the delay before a client requests events again.
const (
	firstWait = 200 * time.Millisecond
	mostWait  = 5 * time.Second
)

// A Numbered is an event with its place on record.
type Numbered struct {
	assay.Event
	Seq int64 // from 1
}

// An eventStream reads the events of a study on a server.
type eventStream struct {
	client *Client
	study  string
	after  int64        // number of the last event that was yielded
	lacks  func(string) // receives the reason why no worker can run the open trials, and "" when one can; may be nil
}

// follow yields the events after the position of the stream, and then new ones as they arrive, each once and without a
// gap, until ctx is done. It retries while the server is unreachable. The function away, which may be nil, receives
// each error, and nil when the server is back. The loop ends with an error if the study does not exist or is not
// visible to the caller.
func (s *eventStream) follow(ctx context.Context, away func(error)) iter.Seq2[Numbered, error] {
	return func(yield func(Numbered, error) bool) {
		wait := firstWait
		gone := false
		for {
			before := s.after
			err := s.read(ctx, func(n Numbered) bool {
				if gone && away != nil {
					away(nil)
				}
				gone, wait = false, firstWait
				return yield(n, nil)
			})
			switch {
			case errors.Is(err, errEnough) || ctx.Err() != nil:
				return
			case err != nil && assay.ClassOf(err) != assay.ClassUnavailable:
				yield(Numbered{}, err)
				return
			case err != nil && away != nil && !gone:
				gone = true
				away(err)
			}
			if err == nil && s.after > before {
				continue // the stream ended
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait/2 + rand.N(wait)):
			}
			wait = min(2*wait, mostWait)
		}
	}
}

// errEnough ends an iteration that its consumer has left.
var errEnough = errors.New("enough")

// read reads events until the server ends the response.
func (s *eventStream) read(ctx context.Context, yield func(Numbered) bool) error {
	c := s.client
	in := &eventsIn{StudyPath: StudyPath{s.study}, Last: strconv.FormatInt(s.after, 10)}
	resp, err := send(ctx, c, c.stream, studyRoutes.getEvents, in, func(r *http.Request) {
		r.Header.Set("Accept", "text/event-stream")
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	var id int64
	var kind, data string
	for {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return assay.Errorf(assay.ClassUnavailable, "the events of %s broke off: %w", c.address, err)
		}
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
		switch {
		case key == "id":
			id, _ = strconv.ParseInt(value, 10, 64) // 0 is not the number of an event
		case key == "event":
			kind = value
		case key == "data":
			data = value
		case line == "\n":
			text := ""
			if kind == lacksKind && s.lacks != nil && json.Unmarshal([]byte(data), &text) == nil {
				s.lacks(text)
			}
			if id == s.after+1 && data != "" {
				e, err := store.DecodeEvent([]byte(data))
				if err != nil {
					return err
				}
				s.after = id
				if !yield(Numbered{e, id}) {
					return errEnough
				}
			}
			id, kind, data = 0, "", ""
		}
	}
}
