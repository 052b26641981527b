package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
	"github.com/assay-run/assay/internal/worker"
	"github.com/assay-run/assay/spec"
)

// blobPath is the route of blobs. Their bodies are as large as the quota allows.
const blobPath = prefix + "/blobs/{hash}"

// errNoBlobs is the answer of a server that keeps no files.
var errNoBlobs = assay.Errorf(assay.ClassNotFound, "this server keeps no files")

// blobIn names a blob.
type blobIn struct {
	Hash string `path:"hash" pattern:"^[0-9a-f]{64}$" doc:"the SHA-256 of its bytes"`
}

// octets documents a body of any bytes.
func octets() map[string]*huma.MediaType {
	bytes := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	return map[string]*huma.MediaType{"application/octet-stream": {Schema: bytes}}
}

// fileRoutes answer requests for the files of runs.
type fileRoutes struct{ *Server }

func (s fileRoutes) getBlob(ctx context.Context, in *blobIn) (*huma.StreamResponse, error) {
	if s.o.Blobs == nil {
		return nil, errNoBlobs
	}
	if err := s.mayFetch(ctx, in.Hash); err != nil {
		return nil, err
	}
	return stream(func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodHead { // the client is about to name it
			if _, err := s.o.Blobs.Size(in.Hash); err != nil {
				return err
			}
		}
		return s.send(w, r, in.Hash)
	}), nil
}

// putIn is a blob to keep.
type putIn struct {
	Hash  string `path:"hash" pattern:"^[0-9a-f]{64}$" doc:"the SHA-256 of the bytes of the body"`
	Study string `query:"study" minLength:"1" maxLength:"1024" doc:"of a worker: the study of the run"`
	Files string `query:"files" pattern:"^[0-9a-f]{64}$" doc:"of a worker: the list that names it; none for a list"`
}

func (s fileRoutes) putBlob(ctx context.Context, in *putIn) (*huma.StreamResponse, error) {
	if s.o.Blobs == nil {
		return nil, errNoBlobs
	}
	return stream(func(w http.ResponseWriter, r *http.Request) error {
		if who := whoOf(ctx); who.Role == Machine {
			if err := s.mayKeep(ctx, in.Hash, in.Study, in.Files, r.ContentLength); err != nil {
				return err
			}
		}
		news, err := s.o.Blobs.Put(ctx, in.Hash, r.ContentLength, &patient{r.Body, http.NewResponseController(w)})
		if err != nil {
			return err
		}
		if !news {
			w.Header().Set("Connection", "close") // the rest of the body is not read
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}), nil
}

// keepsBlob documents a request whose body is a blob.
func keepsBlob(op *huma.Operation) {
	op.Description = "A blob may be stored again, and its body is not needed then. An incomplete body, or one with " +
		"another hash, is refused with 422; a body that exceeds the quota with 507."
	op.RequestBody = &huma.RequestBody{Description: "the bytes of the blob", Content: octets()}
	op.DefaultStatus = http.StatusNoContent
	op.Responses = map[string]*huma.Response{"204": {Description: "the blob is there"}}
}

// sends documents an answer that is a file.
func sends(op *huma.Operation) {
	op.Description = "A Range is answered with a part, 206. With Cache-Control: no-cache the server compares the bytes " +
		"with their hash again."
	op.Errors = append(op.Errors, http.StatusRequestedRangeNotSatisfiable)
	op.Responses = map[string]*huma.Response{
		"200": {Description: "the bytes", Content: octets()}, "206": {Description: "some of the bytes", Content: octets()},
		"304": {Description: "the client's copy is current"}, "412": {Description: "the condition does not hold"},
	}
}

// stream returns a streamed response. An error before the first byte becomes the response.
func stream(do func(w http.ResponseWriter, r *http.Request) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		if err := do(w, r); err != nil {
			answer(w, r, problem(err))
		}
	}}
}

// send answers with a blob, or the requested part of it.
func (s fileRoutes) send(w http.ResponseWriter, r *http.Request, hash string) error {
	f, err := s.o.Blobs.Open(hash, r.Header.Get("Cache-Control") == "no-cache")
	if errors.Is(err, files.ErrDamaged) && s.o.Log != nil {
		s.o.Log.Warn(err.Error())
	}
	if err != nil {
		return err
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("ETag", `"`+hash+`"`)
	if h.Get("Content-Disposition") == "" {
		h.Set("Content-Disposition", "attachment")
	}
	http.ServeContent(&slow{ResponseWriter: w, rc: http.NewResponseController(w)}, r, "", time.Time{}, f)
	return nil
}

// A patient reads a body as long as more of it keeps arriving.
type patient struct {
	io.Reader
	rc *http.ResponseController
}

// Read implements [io.Reader].
func (p *patient) Read(b []byte) (int, error) {
	_ = p.rc.SetReadDeadline(time.Now().Add(answerTimeout)) // without deadlines, there is no slow client
	_ = p.rc.SetWriteDeadline(time.Now().Add(2 * answerTimeout))
	return p.Reader.Read(b)
}

// A slow writer extends the deadline of a response as long as its client reads. It replaces error responses of the file
// server by problems of this API.
type slow struct {
	http.ResponseWriter
	rc      *http.ResponseController
	refused int
}

// WriteHeader implements [http.ResponseWriter].
func (s *slow) WriteHeader(status int) {
	if status < http.StatusBadRequest || s.refused != 0 {
		s.ResponseWriter.WriteHeader(status)
		return
	}
	s.refused = status
	p := refuse(status, "%s", http.StatusText(status))
	if status == http.StatusRequestedRangeNotSatisfiable {
		p.Detail = "the file has no such range: " + s.Header().Get("Content-Range")
	}
	s.Header().Del("Content-Disposition")
	s.Header().Del("Content-Length")
	answer(s.ResponseWriter, &http.Request{ProtoMajor: 2}, p)
}

// Write implements [io.Writer].
func (s *slow) Write(b []byte) (int, error) {
	if s.refused != 0 {
		return len(b), nil
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(answerTimeout))
	return s.ResponseWriter.Write(b)
}

// mayFetch returns an error if the caller may not read a blob. A worker reads the inputs of its running runs.
// A person whose token is limited to some studies reads none, since a blob has no study.
func (s fileRoutes) mayFetch(ctx context.Context, hash string) error {
	who := whoOf(ctx)
	switch {
	case who.Role == Machine:
		err := s.o.Runs.Needs(hash, func(id string) bool { return worker.IDHasPrefix(id, who.Name) })
		if err != nil && assay.ClassOf(err) != assay.ClassUnavailable {
			return errBlob(hash)
		}
		return err
	case who.Role != Admin && len(who.Scope) > 0:
		return errBlob(hash)
	}
	return nil
}

// errBlob returns the error for a blob that does not exist, or that the caller may not see.
func errBlob(hash string) error {
	return assay.Errorf(assay.ClassNotFound, "there is no blob %s: %w", hash, fs.ErrNotExist)
}

// mayKeep returns an error if a worker may not store a blob: it is neither a list of the record, nor named by
// one.
func (s fileRoutes) mayKeep(ctx context.Context, hash, study, list string, size int64) error {
	denied := refuse(http.StatusForbidden,
		"a worker may store only files that are on record of its runs: blob %.12s... is not", hash)
	if study == "" {
		return denied
	}
	of, err := s.kept.of(ctx, s.o.Store, study)
	if err != nil {
		if assay.ClassOf(err) == assay.ClassNotFound || errors.Is(err, fs.ErrNotExist) {
			return denied
		}
		return err
	}
	if list == "" {
		if !of.lists[hash] || size > files.MaxManifest {
			return denied
		}
		return nil
	}
	if !of.lists[list] {
		return denied
	}
	m, err := s.list(list)
	if err != nil {
		return err
	}
	for _, k := range m.All() {
		if k.SHA256 == hash && k.Size == size {
			return nil
		}
	}
	return denied
}

// list returns the manifest of the files kept of a run, once its worker has sent it.
func (s fileRoutes) list(hash string) (*files.Manifest, error) {
	if s.o.Blobs == nil {
		return nil, errNoBlobs
	}
	f, err := s.o.Blobs.Open(hash, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, files.MaxManifest+1))
	if err != nil {
		return nil, err
	}
	return files.ParseManifest(b)
}

// staged returns an error if the files that a study reads are not here.
func (s *Server) staged(def *spec.Study) error {
	if len(def.Inputs) == 0 && len(def.Shared) == 0 {
		return nil
	}
	if def.Staged == nil && len(def.Inputs) > 0 {
		return assay.Errorf(assay.ClassUsage, "the inputs of the study are not on the server: a client stores them with "+
			"PUT %s and lists them in staged of its spec, as assay tune --on fleet does", blobPath)
	}
	if def.Staged == nil {
		def.Staged = &spec.Staged{}
		for _, path := range def.Shared {
			def.Staged.Shared = append(def.Staged.Shared, assay.Shared{Path: path, Size: -1})
		}
		return nil
	}
	for _, in := range def.Staged.Inputs {
		if s.o.Blobs == nil {
			return errNoBlobs
		}
		size, err := s.o.Blobs.Size(in.SHA256)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return assay.WithHint(
				assay.Errorf(assay.ClassConflict, "input %s is not on the server: blob %s is missing", in.Name, in.SHA256),
				"PUT "+blobPath+" puts it there")
		case err != nil:
			return err
		case size != in.Size:
			return assay.Errorf(assay.ClassUsage, "input %s has %d bytes, and blob %s has %d", in.Name, in.Size, in.SHA256, size)
		}
	}
	return nil
}

// hasBlob reports whether the server has a blob.
func hasBlob(ctx context.Context, c *Client, hash string) (bool, error) {
	head := func(r *http.Request) { r.Method = http.MethodHead }
	resp, err := send(ctx, c, c.http, fileRoutes.getBlob, &blobIn{hash}, head)
	if err != nil {
		if class := assay.ClassOf(err); class == assay.ClassNotFound || statusOf(err) == http.StatusInsufficientStorage {
			err = nil // a damaged blob is put again
		}
		return false, err
	}
	resp.Body.Close()
	return true, nil
}

// statusOf returns the HTTP status of the response behind an error, or 0 if err has none.
func statusOf(err error) int {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Status
	}
	return 0
}

// PutBlob uploads a file unless the server has it. A file that has changed meanwhile is an error of class usage. A
// worker passes the study of its run, and the hash of the manifest on record that names the blob, or "" if the blob is
// itself a manifest.
func (c *Client) PutBlob(ctx context.Context, hash, path, study, files string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	resp, err := send(ctx, c, c.stream, fileRoutes.putBlob, &putIn{hash, study, files}, func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(f), info.Size()
		if r.ContentLength == 0 {
			r.Body = http.NoBody
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		r.Header.Set("Expect", "100-continue") // a body that the server has, or refuses, is not sent
	})
	if err != nil {
		// A server that already has the blob closes the connection if the body is sent anyway.
		if statusOf(err) == 0 && ctx.Err() == nil {
			if has, e := hasBlob(ctx, c, hash); e == nil && has {
				return nil
			}
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return resp.Body.Close()
}

// Blob opens a blob of the server, from a byte on. If again is set, the server first compares its bytes with
// their hash.
func (c *Client) Blob(ctx context.Context, hash string, from int64, again bool) (io.ReadCloser, error) {
	resp, err := send(ctx, c, c.stream, fileRoutes.getBlob, &blobIn{hash}, func(r *http.Request) {
		if from > 0 {
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		}
		if again {
			r.Header.Set("Cache-Control", "no-cache")
		}
	})
	if err != nil {
		return nil, err
	}
	if from > 0 && resp.StatusCode != http.StatusPartialContent {
		resp.Body.Close()
		return nil, assay.Errorf(assay.ClassUnavailable,
			"%s sends blob %s from its beginning, not from byte %d on", c.address, hash, from)
	}
	return resp.Body, nil
}
