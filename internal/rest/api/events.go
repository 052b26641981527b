package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/assay-run/assay"
)

// aliveEvery is the interval of keep-alives on a stream without events, and of the checks whether its client is still
// authorized.
const aliveEvery = 5 * time.Second

// lacksKind is the kind of a message with the reason why no worker can run the open trials of a study. An empty text
// withdraws it.
const lacksKind = "lacks"

// rowsKind is the kind of a piece that has rows of trials in place of events.
const rowsKind = "rows"

// mostCaughtUp is the largest number of events in one piece of rows for a client that is behind.
const mostCaughtUp = 1000

type eventsIn struct {
	StudyPath
	After int64  `query:"after" minimum:"0" doc:"the number of the event before the first that is sent"`
	Rows  bool   `query:"rows" doc:"send the rows that change in place of the events"`
	Last  string `header:"Last-Event-ID" pattern:"^[0-9]{0,18}$" doc:"in place of after"`
}

func (s studyRoutes) getEvents(ctx context.Context, in *eventsIn) (*huma.StreamResponse, error) {
	i, err := s.see(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	at := in.After
	if in.Last != "" {
		if at, err = strconv.ParseInt(in.Last, 10, 64); err != nil {
			return nil, assay.Errorf(assay.ClassUsage, "Last-Event-ID %s: not the number of an event", in.Last)
		}
	}
	encode := encoder(eventNote)
	if in.Rows {
		if encode, err = s.tallies.rowNotes(ctx, in.Study); err != nil {
			return nil, err
		}
	}
	h, leave, err := s.hubs.join(followed{in.Study, in.Rows}, assay.Position(i.Events), encode)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "text/event-stream")
		f := &feed{s: s.Server, hub: h, study: in.Study, rows: in.Rows, at: at, r: r}
		if r.Method != http.MethodHead && f.takeOver(w, leave) {
			return
		}
		defer leave()
		w.WriteHeader(http.StatusOK)
		if r.Method == http.MethodHead {
			return
		}
		f.w = framed{w, http.NewResponseController(w)}
		f.run(ctx)
	}}, nil
}

// streamsEvents documents the stream of events.
func streamsEvents(op *huma.Operation) {
	op.Description = "Each event has its number as its id and its kind as its event; its data is the event as it is on " +
		"record. With rows=true each piece has the number of its last event as its id and " + rowsKind + " as its event; " +
		"its data is an Update: the rows of the trials that have changed, as columns. A stream ends after a while; a " +
		"client that comes back with Last-Event-ID misses none. One of the kind " +
		lacksKind + " has no number: its data is the reason why no worker can run the open trials, or the empty text."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "server-sent events",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Description: "an event"}}},
	}}
}

// errRevoked is the end of a stream whose client may no longer have it.
var errRevoked = errors.New("the right to the stream has ended")

// A feed is one stream.
type feed struct {
	s     *Server
	hub   *hub
	study string
	rows  bool  // it has rows in place of events
	at    int64 // number of the event that was sent last
	w     wire
	r     *http.Request
	lacks string // the last text sent of it
}

// A wire takes the pieces of a stream at once.
type wire interface {
	io.Writer
	SetWriteDeadline(at time.Time) error
}

// A framed stream is the wire of a stream in an answer that net/http writes, as over HTTP/2.
type framed struct {
	http.ResponseWriter
	*http.ResponseController
}

func (a framed) Write(b []byte) (int, error) {
	n, err := a.ResponseWriter.Write(b)
	if err == nil {
		err = a.Flush()
	}
	return n, err
}

// takeOver hijacks the connection from net/http where that is possible, sends the head of the response and continues
// the stream in its own goroutine, which calls leave at its end. A watcher then costs the server a connection and a
// small stack, and no buffers: a third of the memory. The connection closes with the stream.
func (f *feed) takeOver(w http.ResponseWriter, leave func()) bool {
	head := w.Header().Clone()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	head.Set("Connection", "close")
	head.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\n")
	_ = head.Write(&b) // into memory
	b.WriteString("\r\n")
	f.w = conn
	go func() {
		defer leave()
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Time{}) // nothing is read; the stream has no deadline
		if f.send(b.Bytes()) == nil {
			// The request's context ends with the handler. The stream keeps its values; the server's end and a time limit still
			// apply.
			f.run(context.WithoutCancel(f.r.Context()))
		}
	}()
	return true
}

// run sends events until the client has gone or may no longer have them, the stream has
// lasted for long enough, or the server ends.
func (f *feed) run(ctx context.Context) {
	over := time.NewTimer(f.s.o.Stream)
	defer over.Stop()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	if a, ok := f.w.(framed); ok {
		_ = a.SetReadDeadline(time.Time{}) // the body is read; the stream lasts
	}
	err := f.send([]byte(": events of this study\n\n"))
	if err == nil {
		err = f.lack()
	}
	for err == nil {
		notes, behind, moved, ended := f.hub.behind(f.at)
		switch {
		case behind:
			// A store needs a deep stack, which this goroutine would keep.
			caught := make(chan error)
			go func() { caught <- f.catchUp(ctx) }()
			err = <-caught
		case len(notes) > 0:
			err = f.notes(notes)
		case ended != nil:
			// The client asks again, and the answer has the reason.
			_ = f.send([]byte("event: end\ndata: " + strconv.Quote(ended.Error()) + "\n\n"))
			return
		default:
			select {
			case <-moved:
			case <-alive.C:
				err = f.alive()
			case <-over.C:
				return
			case <-f.s.hubs.done:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// alive keeps the stream of a client that may still have it alive.
func (f *feed) alive() error {
	if who, ok := f.s.guard.who(f.r); !ok || !may(who.Role, Viewer) || !who.sees(f.study) {
		return errRevoked
	}
	if err := f.send([]byte(": alive\n\n")); err != nil {
		return err
	}
	return f.lack()
}

// lack sends the lacksKind message when its text has changed. The message is not an event and has no number.
func (f *feed) lack() error {
	now := f.s.o.Fleet.Unschedulable(f.study)
	if now == f.lacks {
		return nil
	}
	f.lacks = now
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return f.send([]byte("event: " + lacksKind + "\ndata: " + string(text) + "\n\n"))
}

// catchUp sends the events on record behind the position of the feed.
func (f *feed) catchUp(ctx context.Context) error {
	most := 1
	if f.rows {
		most = mostCaughtUp
	}
	var events []assay.Event
	pass := func() error {
		n, err := f.hub.encode(ctx, f.at+int64(len(events)), events)
		if events = events[:0]; err != nil {
			return err
		}
		return f.notes([]note{n})
	}
	for e, err := range f.s.o.Store.Events(ctx, f.study, assay.Position(f.at)) {
		if err != nil {
			return err
		}
		if events = append(events, e); len(events) < most {
			continue
		}
		if err := pass(); err != nil {
			return err
		}
	}
	if len(events) == 0 {
		return nil
	}
	return pass()
}

// notes sends encoded events, which all watchers share.
func (f *feed) notes(notes []note) error {
	sent := notes[0].sent
	if len(notes) > 1 {
		sent = nil
		for _, n := range notes {
			sent = append(sent, n.sent...)
		}
	}
	if err := f.send(sent); err != nil {
		return err
	}
	f.at = notes[len(notes)-1].seq
	return nil
}

// send writes a piece of the stream. A client that does not take it in time has gone.
func (f *feed) send(text []byte) error {
	_ = f.w.SetWriteDeadline(time.Now().Add(answerTimeout))
	_, err := f.w.Write(text)
	return err
}
