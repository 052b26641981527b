package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/assay-run/assay/internal/pages"
)

//go:embed static templates
var embedded embed.FS

// files are the modules and styles. They are at addresses with a hash of all of them, so that a
// browser keeps them for ever and never mixes two versions.
type files struct {
	hash string
	all  map[string]file
}

type file struct {
	kind          string
	plain, packed []byte
}

// kinds are the kinds of files that are sent.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// newFiles reads the files of package pages and of this package.
func newFiles() (*files, error) {
	own, err := fs.Sub(embedded, "static")
	if err != nil {
		return nil, err
	}
	f := &files{all: map[string]file{}}
	for _, from := range []fs.FS{pages.Files(), own} {
		list, err := fs.ReadDir(from, ".")
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			kind := kinds[path.Ext(e.Name())]
			if kind == "" || e.Name() == "report.js" { // the entry of a report
				continue
			}
			if _, twice := f.all[e.Name()]; twice {
				return nil, fmt.Errorf("web: two files are called %s", e.Name())
			}
			b, err := fs.ReadFile(from, e.Name())
			if err != nil {
				return nil, err
			}
			f.all[e.Name()] = file{kind, b, pack(b)}
		}
	}
	sum := sha256.New()
	for _, name := range f.names() {
		fmt.Fprintf(sum, "%s %d\n%s", name, len(f.all[name].plain), f.all[name].plain)
	}
	f.hash = hex.EncodeToString(sum.Sum(nil))[:16]
	return f, nil
}

func (f *files) names() (names []string) {
	for name := range f.all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// url returns the URL of a file.
func (f *files) url(name string) (string, error) {
	if _, ok := f.all[name]; !ok {
		return "", fmt.Errorf("web: there is no file %s", name)
	}
	return "/static/" + f.hash + "/" + name, nil
}

// ServeHTTP implements [http.Handler].
func (f *files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one, ok := f.all[r.PathValue("name")]
	if !ok || r.PathValue("hash") != f.hash {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", one.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := one.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = one.packed
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	_, _ = w.Write(body) // the client has gone, if this fails
}

func pack(b []byte) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // of a buffer
	}
	return out.Bytes()
}
