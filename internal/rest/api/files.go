package api

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// An Output is the output of a run of a trial.
type Output struct {
	Study   string  `json:"study"`
	Trial   int64   `json:"trial"`
	State   string  `json:"state" enum:"waiting,running,ended"`
	Attempt int     `json:"attempt" doc:"0 if none is known"`
	Worker  string  `json:"worker" doc:"the machine of the run, by its name"`
	Elapsed float64 `json:"elapsed_s"`
	Silent  float64 `json:"silent_s" doc:"of a running trial: time since the last heartbeat of its worker"`
	Stdout  Text    `json:"stdout"`
	Stderr  Text    `json:"stderr"`
}

// A Text is the known part of an output stream.
type Text struct {
	Text string `json:"text" doc:"bytes that are not UTF-8 are replaced"`
	// Part is the part of the output that Text has.
	Part string `json:"part" enum:"whole,ends,head,tail" doc:"ends: the middle is left out; tail: also while running"`
}

// Files are the files kept of a run.
type Files struct {
	Study   string     `json:"study"`
	Trial   int64      `json:"trial"`
	Attempt int        `json:"attempt" doc:"0 if none is known"`
	Worker  string     `json:"worker" doc:"the machine of the run, by its name"`
	Staged  float64    `json:"staged_s" doc:"how long it took to bring the inputs: no part of the time of the run"`
	State   string     `json:"state" enum:"none,coming,here" doc:"coming: the worker is still sending; here: complete"`
	Files   []File     `json:"files" nullable:"false"`
	Left    []LeftFile `json:"left" nullable:"false" doc:"files that fit and were not kept"`
	More    int        `json:"more" doc:"how many more were not kept"`
}

// A File is one of a run.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Here   bool   `json:"here" doc:"false while the worker has not sent it"`
}

// A LeftFile is a file that was not kept.
type LeftFile struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// trialPath names a trial in a path.
type trialPath struct {
	Study string `path:"study" minLength:"1" maxLength:"1024" doc:"the name of the study"`
	Trial int64  `path:"trial" minimum:"1" doc:"the id of the trial"`
}

const aboutOutput = "whole: all that the run has printed. ends: a line replaces the middle. head, tail: the part " +
	"that was asked for, or, of a running run, the end that is known."

const aboutFiles = "none: no file was kept. coming: the worker has not sent all of them yet. here: all are there."

type outputIn struct {
	Study string `path:"study" minLength:"1" maxLength:"1024" doc:"the name of the study"`
	Trial int64  `path:"trial" minimum:"1" doc:"the id of the trial"`
	Head  int64  `query:"head" minimum:"1" maximum:"4194304" doc:"only the first head bytes of each"`
	Tail  int64  `query:"tail" minimum:"1" maximum:"4194304" doc:"only the last tail bytes of each"`
}

func (s fileRoutes) getOutput(ctx context.Context, in *outputIn) (*plain[Output], error) {
	o, err := s.output(ctx, in.Study, in.Trial)
	if err != nil {
		return nil, err
	}
	for _, t := range []*Text{&o.Stdout, &o.Stderr} {
		t.limit(in.Head, in.Tail)
	}
	return &plain[Output]{o}, nil
}

func (s fileRoutes) getFiles(ctx context.Context, in *trialPath) (*plain[Files], error) {
	f, _, err := s.filesOf(ctx, in.Study, in.Trial)
	return &plain[Files]{f}, err
}

type fileIn struct {
	Study string `path:"study" minLength:"1" maxLength:"1024" doc:"the name of the study"`
	Trial int64  `path:"trial" minimum:"1" doc:"the id of the trial"`
	Name  string `path:"name" minLength:"1" maxLength:"1024" doc:"the name of the file, its slashes as %2F"`
}

func (s fileRoutes) getFile(ctx context.Context, in *fileIn) (*huma.StreamResponse, error) {
	f, m, err := s.filesOf(ctx, in.Study, in.Trial)
	if err != nil {
		return nil, err
	}
	if m == nil && f.State == "coming" {
		return nil, assay.Errorf(assay.ClassUnavailable,
			"worker %s has not sent the files of trial %d yet", f.Worker, in.Trial)
	}
	k, ok := files.Kept{}, false
	if m != nil {
		k, ok = m.File(in.Name)
	}
	if !ok {
		return nil, assay.Errorf(assay.ClassNotFound, "no file %.200q was kept of trial %d", in.Name, in.Trial)
	}
	if _, err := s.o.Blobs.Size(k.SHA256); errors.Is(err, fs.ErrNotExist) {
		return nil, assay.Errorf(assay.ClassUnavailable, "worker %s has not sent %.200q yet", f.Worker, in.Name)
	}
	return stream(func(w http.ResponseWriter, r *http.Request) error {
		name := mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(k.Name)})
		w.Header().Set("Content-Disposition", name)
		return s.send(w, r, k.SHA256)
	}), nil
}

// trial returns a trial of a study that the request may see.
func (s fileRoutes) trial(ctx context.Context, study string, id int64) (assay.Trial, error) {
	if _, err := s.see(ctx, study); err != nil {
		return assay.Trial{}, err
	}
	for row, err := range s.o.Store.Trials(ctx, study, id-1, 1) {
		if err != nil {
			return assay.Trial{}, err
		}
		if row.Trial.ID == id {
			return row.Trial, nil
		}
	}
	return assay.Trial{}, assay.Errorf(assay.ClassNotFound, "study %q has no trial %d", study, id)
}

// output returns the known outputs of a trial.
func (s fileRoutes) output(ctx context.Context, study string, id int64) (Output, error) {
	t, err := s.trial(ctx, study, id)
	if err != nil {
		return Output{}, err
	}
	none := textOfBytes(nil, "whole")
	o := Output{Study: study, Trial: id, State: "ended", Stdout: none, Stderr: none}
	if l, ok := s.o.Runs.Live(study, id); ok {
		o.State, o.Attempt, o.Worker = "waiting", l.ID.Attempt, l.Worker
		if l.State == "placed" {
			o.State, o.Elapsed, o.Silent = "running", l.So.Elapsed.Seconds(), l.Silent.Seconds()
			o.Stdout, o.Stderr = textOfBytes(l.Stdout, "tail"), textOfBytes(l.Stderr, "tail")
		}
		return o, nil
	}
	if !t.State.Final() {
		o.State = "waiting"
		return o, nil
	}
	o.Elapsed = t.Measurement.Elapsed.Seconds()
	of, err := s.kept.of(ctx, s.o.Store, study)
	if err != nil {
		return o, err
	}
	m := &files.Manifest{}
	if b, ok := of.best(id); ok {
		o.Attempt, o.Worker = b.Attempt, b.Worker
		if b.Files != "" {
			if m, err = s.list(b.Files); err != nil { // it may still arrive, and the shorter form is available
				m = &files.Manifest{}
			}
		}
	}
	for _, x := range []struct {
		to   *Text
		kept *files.Kept
		name string
	}{{&o.Stdout, m.Stdout, "stdout"}, {&o.Stderr, m.Stderr, "stderr"}} {
		b, err := s.stream(ctx, study, id, x.name, x.kept)
		if err != nil {
			return o, err
		}
		part := "whole"
		if cutMark(b) {
			part = "ends"
		}
		*x.to = textOfBytes(b, part)
	}
	return o, nil
}

// stream returns the kept output of a finished run: the file that its worker uploaded, or else the text in the outcome.
func (s fileRoutes) stream(ctx context.Context, study string, id int64, name string, k *files.Kept) ([]byte, error) {
	if k != nil {
		if f, err := s.o.Blobs.Open(k.SHA256, false); err == nil {
			defer f.Close()
			return io.ReadAll(f)
		}
	}
	r, err := s.o.Store.Output(ctx, study, id, name)
	if err != nil {
		if assay.ClassOf(err) == assay.ClassUsage { // a store that keeps none
			err = nil
		}
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, files.MaxStream))
}

// cutMark reports whether an output has the line that marks a cut in its middle.
func cutMark(b []byte) bool {
	for _, mark := range []string{" bytes cut ...]\n", " bytes are left out ...\n"} {
		if strings.Contains(string(b), mark) {
			return true
		}
	}
	return false
}

// textOfBytes returns an output as text. A rune that was cut off at either end of a tail is left out.
func textOfBytes(b []byte, part string) Text {
	if part == "tail" {
		for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
			b = b[1:]
		}
	}
	return Text{strings.ToValidUTF8(string(b), "\uFFFD"), part}
}

// limit cuts a text to the requested head and tail.
func (t *Text) limit(head, tail int64) {
	switch n := int64(len(t.Text)); {
	case head > 0 && tail > 0 && head+tail < n:
		*t = Text{strings.ToValidUTF8(t.Text[:head], "") + "\n[...]\n" + strings.ToValidUTF8(t.Text[n-tail:], ""), "ends"}
	case head > 0 && tail > 0:
	case head > 0 && head < n:
		*t = Text{strings.ToValidUTF8(t.Text[:head], ""), "head"}
	case tail > 0 && tail < n:
		*t = Text{strings.ToValidUTF8(t.Text[n-tail:], ""), "tail"}
	}
}

// filesOf returns the files kept of a trial and their manifest, which is nil if it has not arrived.
func (s fileRoutes) filesOf(ctx context.Context, study string, id int64) (f Files, m *files.Manifest, err error) {
	f = Files{Study: study, Trial: id, State: "none", Files: []File{}, Left: []LeftFile{}}
	if _, err := s.trial(ctx, study, id); err != nil {
		return f, nil, err
	}
	of, err := s.kept.of(ctx, s.o.Store, study)
	if err != nil {
		return f, nil, err
	}
	b, ok := of.best(id)
	if !ok {
		return f, nil, nil
	}
	f.Attempt, f.Worker, f.Staged = b.Attempt, b.Worker, b.Staged.Seconds()
	if b.Files == "" {
		return f, nil, nil
	}
	f.State = "coming"
	m, err = s.list(b.Files)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil, nil
	}
	if err != nil {
		return f, nil, err
	}
	f.State, f.More = "here", m.More
	for _, k := range m.Files {
		_, err := s.o.Blobs.Size(k.SHA256)
		if err != nil {
			f.State = "coming"
		}
		f.Files = append(f.Files, File{k.Name, k.Size, k.SHA256, err == nil})
	}
	for _, l := range m.Left {
		f.Left = append(f.Left, LeftFile(l))
	}
	return f, m, nil
}

// Output returns the output of a run of a trial: the last tail bytes of each stream, or all if tail is 0.
func (c *Client) Output(ctx context.Context, study string, trial, tail int64) (Output, error) {
	return body(call(ctx, c, fileRoutes.getOutput, &outputIn{Study: study, Trial: trial, Tail: tail}))
}

// Files returns the list of files kept from a trial.
func (c *Client) Files(ctx context.Context, study string, trial int64) (Files, error) {
	return body(call(ctx, c, fileRoutes.getFiles, &trialPath{study, trial}))
}

// File opens a file kept from a trial.
func (c *Client) File(ctx context.Context, study string, trial int64, name string) (io.ReadCloser, error) {
	resp, err := send(ctx, c, c.stream, fileRoutes.getFile, &fileIn{study, trial, name})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
