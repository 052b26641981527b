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

// Bounds of how long a client waits before it asks again for events.
const (
	firstWait = 200 * time.Millisecond
	mostWait  = 5 * time.Second
)

// A Numbered is an event with its place on record.
type Numbered struct {
	assay.Event
	Seq int64 // from 1
}

// Events yields the events of a study behind a position, and goes on with those that come,
// each once and without a gap, until ctx is done. A server that is away is asked again and
// again; away, which may be nil, is told of the error each time, and of nil when the server
// is back. The loop ends with an error if the study is not there, or may not be seen.
func (c *Client) Events(ctx context.Context, study string, after int64, away func(error)) iter.Seq2[Numbered, error] {
	return c.follow(ctx, study, after, away, func(string) {})
}

// follow is Events; lacks is told what no worker has, and "" when one has it.
func (c *Client) follow(
	ctx context.Context, study string, after int64, away func(error), lacks func(string),
) iter.Seq2[Numbered, error] {
	return func(yield func(Numbered, error) bool) {
		wait := firstWait
		gone := false
		for {
			before := after
			err := c.events(ctx, study, &after, lacks, func(n Numbered) bool {
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
			if err == nil && after > before {
				continue // the stream came to its end
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

// errEnough says that nobody wants more events.
var errEnough = errors.New("enough")

// events reads one stream. after is the number of the last event that was yielded.
func (c *Client) events(
	ctx context.Context, study string, after *int64, lacks func(string), yield func(Numbered) bool,
) error {
	in := &eventsIn{StudyPath: StudyPath{study}, Last: strconv.FormatInt(*after, 10)}
	resp, err := send(ctx, c, c.stream, (*Server).getEvents, in, func(r *http.Request) {
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
			id, _ = strconv.ParseInt(value, 10, 64) // 0 is no number of an event
		case key == "event":
			kind = value
		case key == "data":
			data = value
		case line == "\n":
			if text := ""; kind == lacksKind && json.Unmarshal([]byte(data), &text) == nil {
				lacks(text)
			}
			if id == *after+1 && data != "" {
				e, err := store.DecodeEvent([]byte(data))
				if err != nil {
					return err
				}
				*after = id
				if !yield(Numbered{e, id}) {
					return errEnough
				}
			}
			id, kind, data = 0, "", ""
		}
	}
}
