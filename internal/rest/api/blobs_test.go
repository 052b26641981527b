package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

func hashOf(t testing.TB, b []byte) string {
	t.Helper()
	hash, _, err := files.Sum(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// get reads an answer into v.
func (r *rig) get(t testing.TB, role Role, path string, v any) {
	t.Helper()
	got := r.do(t, role, http.MethodGet, path, "", nil)
	if got.status != 200 {
		t.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	if err := json.Unmarshal([]byte(got.body), v); err != nil {
		t.Fatal(err)
	}
}

// withRoom has a server keep blobs of more than a body has.
func withRoom(t testing.TB, quota int64) func(*Options) {
	return func(o *Options) {
		b, err := files.Open(t.TempDir(), quota)
		if err != nil {
			t.Fatal(err)
		}
		o.Blobs = b
	}
}

// A blob is put once, however large, and read whole or in part.
func TestBlobs(t *testing.T) {
	r := newRig(t, withRoom(t, 8<<20))
	data := bytes.Repeat([]byte("0123456789abcdef"), 200_000) // 3.2 MB: more than a body of the other routes has
	at := prefix + "/blobs/" + hashOf(t, data)
	for _, want := range []int{204, 204} {
		if got := r.do(t, Author, http.MethodPut, at, string(data), nil); got.status != want {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	got := r.do(t, Author, http.MethodGet, at, "", nil)
	if got.status != 200 || got.body != string(data) || got.header.Get("Content-Disposition") != "attachment" {
		t.Errorf("%d, %d bytes, %v", got.status, len(got.body), got.header)
	}
	for asked, want := range map[string]struct {
		status int
		body   string
	}{
		"bytes=3199990-":    {206, "6789abcdef"},
		"bytes=2-4":         {206, "234"},
		"bytes=-3":          {206, "def"},
		"bytes=99999999-":   {416, ""},
		"bytes=nonsense":    {416, ""},
		"lines=1-2":         {416, ""},
		"bytes=0-1,100-101": {206, ""},
	} {
		got := r.do(t, Author, http.MethodGet, at, "", http.Header{"Range": {asked}})
		if got.status != want.status || want.body != "" && got.body != want.body {
			t.Errorf("%s: %d %.80s", asked, got.status, got.body)
		}
		isProblem := got.header.Get("Content-Type") == problemType && strings.Contains(got.body, `"status":416`)
		if want.status == 416 && !isProblem {
			t.Errorf("%s: %v %s", asked, got.header, got.body)
		}
	}
	head := r.do(t, Author, http.MethodHead, at, "", nil)
	if head.status != 200 || head.header.Get("Content-Length") != fmt.Sprint(len(data)) {
		t.Errorf("%d %v", head.status, head.header)
	}
	// Flaws of a blob that is put.
	for name, tt := range map[string]struct {
		path, body, says string
		status           int
	}{
		"another hash": {
			prefix + "/blobs/" + strings.Repeat("a", 64), "hello", "the bytes have the SHA-256 " + heldHash, 422,
		},
		"no hash": {prefix + "/blobs/..%2f..%2fetc", "hello", "", 422},
		"too large": {
			prefix + "/blobs/" + hashOf(t, bytes.Repeat([]byte("x"), 6<<20)), strings.Repeat("x", 6<<20),
			"full: 3.1 MiB of 8.0 MiB are taken, and this one has 6.0 MiB", 507,
		},
	} {
		got := r.do(t, Author, http.MethodPut, tt.path, tt.body, nil)
		if got.status != tt.status || !strings.Contains(got.body, tt.says) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	// One that is damaged on the disk is never sent.
	path := filepath.Join(r.o.Blobs.Dir(), hashOf(t, data)[:2], hashOf(t, data))
	data[77] ^= 1
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	got = r.do(t, Author, http.MethodGet, at, "", nil)
	if got.status != 507 || !strings.Contains(got.body, "is damaged on the disk of the server") {
		t.Errorf("%d %.200s", got.status, got.body)
	}
}

// Half an upload is nothing, and the server goes on.
func TestHalfUpload(t *testing.T) {
	r := newRig(t)
	data := []byte(strings.Repeat("y", 100_000))
	hash := hashOf(t, data)
	u, err := url.Parse(r.at.URL)
	if err != nil {
		t.Fatal(err)
	}
	used, _ := r.blobs.Used()
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT %s/blobs/%s HTTP/1.1\r\nHost: localhost\r\n"+
		"Authorization: Bearer secret-%s\r\nContent-Length: %d\r\n\r\n",
		prefix, hash, Author, len(data))
	if _, err := conn.Write(data[:50_000]); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(answer), "the blob broke off after 50000 of 100000 bytes") {
		t.Errorf("%s, %v", answer, err)
	}
	conn.Close()
	if got := r.do(t, Author, http.MethodHead, prefix+"/blobs/"+hash, "", nil); got.status != 404 {
		t.Errorf("half of it is there: %d", got.status)
	}
	if now, _ := r.blobs.Used(); now != used {
		t.Errorf("%d bytes are taken, %d before", now, used)
	}
	if got := r.do(t, Author, http.MethodPut, prefix+"/blobs/"+hash, string(data), nil); got.status != 204 {
		t.Errorf("the whole: %d %s", got.status, got.body)
	}
}

// A worker has the inputs of its runs, and puts the files on record of them: nothing else.
func TestWorkersBlobs(t *testing.T) {
	r := newRig(t)
	kept := []byte("what a run left")
	m := &files.Manifest{Files: []files.Kept{{Name: "x.log", SHA256: hashOf(t, kept), Size: int64(len(kept))}}}
	list, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	listHash := hashOf(t, list)
	put := func(body []byte, query string) int {
		t.Helper()
		return r.do(t, Machine, http.MethodPut, prefix+"/blobs/"+hashOf(t, body)+query, string(body), nil).status
	}
	of := "?study=tuned&files=" + listHash
	for what, got := range map[string]int{
		"a list that is not on record": put(list, "?study=tuned"), "without a study": put(list, ""),
		"of no study":                            put(list, "?study=nothing"),
		"a file of a list that is not on record": put(kept, of), "anything": put([]byte("evil"), "?study=tuned"),
	} {
		if got != 403 {
			t.Errorf("%s: %d", what, got)
		}
	}
	r.keep(t, 3, listHash)
	if got := put(kept, of); got != 404 {
		t.Errorf("before its list: %d", got)
	}
	for what, got := range map[string]int{
		"the list": put(list, "?study=tuned"), "the list again": put(list, "?study=tuned"), "the file": put(kept, of),
	} {
		if got != 204 {
			t.Errorf("%s: %d", what, got)
		}
	}
	if got := put([]byte("evil"), of); got != 403 {
		t.Errorf("what is not on the list: %d", got)
	}
	get := func(role Role, hash string) int {
		return r.do(t, role, http.MethodGet, prefix+"/blobs/"+hash, "", nil).status
	}
	if a, b := get(Machine, heldHash), get(Machine, listHash); a != 200 || b != 404 {
		t.Errorf("a worker has its input: %d, and %d", a, b)
	}
	for _, role := range []Role{Viewer, Operator} {
		if got := get(role, heldHash); got != 403 {
			t.Errorf("%s: %d", role, got)
		}
	}
	// A token for some studies only has no blob by its hash: the hash names no study.
	r.keys.all[string(Author)] = Token{Name: string(Author), Role: Author, Studies: []string{"tuned"}}
	if got := get(Author, heldHash); got != 404 {
		t.Errorf("with a scope: %d", got)
	}
}

// The output of a run, while it goes on and afterwards.
func TestOutput(t *testing.T) {
	r := newRig(t)
	r.store.Outputs = t.TempDir()
	dir := filepath.Join(r.store.Outputs, "study-tuned")
	long := []byte("head\n[... 9 bytes cut ...]\n" + strings.Repeat("z", 3000) + "\x1b[31mend\xff")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "1.stdout"), []byte("short"), 0o600),
		os.WriteFile(filepath.Join(dir, "4.stdout"), []byte("cut here"), 0o600)); err != nil {
		t.Fatal(err)
	}
	get := func(trial int, query string) (o Output) {
		t.Helper()
		r.get(t, Viewer, fmt.Sprintf("%s/studies/tuned/trials/%d/output%s", prefix, trial, query), &o)
		return o
	}
	if o := get(2, ""); o.State != "running" || o.Worker != "rack" || o.Stdout != (Text{"so far\n", "tail"}) ||
		o.Stderr.Text != "warned" || o.Elapsed != 3 || o.Silent != 1 {
		t.Errorf("%+v", o)
	}
	if o := get(1, ""); o.State != "ended" || o.Stdout != (Text{"short", "whole"}) || o.Stderr != (Text{"", "whole"}) ||
		o.Worker != "rack" {
		t.Errorf("%+v", o)
	}
	// The files that the worker sends replace the output in the outcome.
	m := &files.Manifest{Stdout: &files.Kept{SHA256: hashOf(t, long), Size: int64(len(long))}}
	list, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r.keep(t, 4, hashOf(t, list))
	if o := get(4, ""); o.Stdout.Text != "cut here" {
		t.Errorf("%+v", o)
	}
	for _, b := range [][]byte{list, long} {
		if _, err := r.blobs.Put(t.Context(), hashOf(t, b), int64(len(b)), bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
	}
	if o := get(4, ""); o.Stdout.Part != "ends" || !strings.HasPrefix(o.Stdout.Text, "head\n") ||
		!strings.HasSuffix(o.Stdout.Text, "end\uFFFD") {
		t.Errorf("%+v", o)
	}
	if o := get(4, "?head=4"); o.Stdout != (Text{"head", "head"}) {
		t.Errorf("%+v", o)
	}
	if o := get(4, "?tail=6"); o.Stdout != (Text{"end\uFFFD", "tail"}) {
		t.Errorf("%+v", o)
	}
	if o := get(4, "?head=4&tail=6"); o.Stdout != (Text{"head\n[...]\nend\uFFFD", "ends"}) {
		t.Errorf("%+v", o)
	}
	for path, want := range map[string]int{
		"tuned/trials/9/output": 404, "tuned/trials/0/output": 422, "nothing/trials/1/output": 404,
		"tuned/trials/1/output?tail=0": 422,
		"tuned/trials/9/files":         404, "nothing/trials/1/files": 404,
	} {
		if got := r.do(t, Viewer, http.MethodGet, prefix+"/studies/"+path, "", nil); got.status != want {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// The files kept of a run, and those that have not come yet.
func TestFiles(t *testing.T) {
	r := newRig(t)
	deep := []byte("deep")
	m := &files.Manifest{
		Files: []files.Kept{
			{Name: "a.log", SHA256: heldHash, Size: 5}, {Name: "sub/b é.log", SHA256: hashOf(t, deep), Size: 4},
		},
		Left: []files.Left{{Name: "x", Why: "it is a link"}}, More: 2,
	}
	list, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	get := func(trial int) (f Files) {
		t.Helper()
		r.get(t, Viewer, fmt.Sprintf("%s/studies/tuned/trials/%d/files", prefix, trial), &f)
		return f
	}
	file := func(name string) reply {
		return r.do(t, Viewer, http.MethodGet, prefix+"/studies/tuned/trials/3/files/"+url.PathEscape(name), "", nil)
	}
	if f := get(3); f.State != "none" || len(f.Files) > 0 {
		t.Errorf("%+v", f)
	}
	if got := file("a.log"); got.status != 404 {
		t.Errorf("%d", got.status)
	}
	r.keep(t, 3, hashOf(t, list))
	if f := get(3); f.State != "coming" || f.Worker != "rack" || f.Staged != 2 || f.Attempt != 1 {
		t.Errorf("%+v", f)
	}
	got := file("a.log")
	if got.status != 503 || !strings.Contains(got.body, "worker rack has not sent the files of trial 3 yet") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if _, err := r.blobs.Put(t.Context(), hashOf(t, list), int64(len(list)), bytes.NewReader(list)); err != nil {
		t.Fatal(err)
	}
	if f := get(3); f.State != "coming" || !f.Files[0].Here || f.Files[1].Here || f.More != 2 ||
		f.Left[0].Why != "it is a link" {
		t.Errorf("%+v", f)
	}
	if got := file("sub/b é.log"); got.status != 503 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if _, err := r.blobs.Put(t.Context(), hashOf(t, deep), 4, bytes.NewReader(deep)); err != nil {
		t.Fatal(err)
	}
	if f := get(3); f.State != "here" {
		t.Errorf("%+v", f)
	}
	if got := file("sub/b é.log"); got.status != 200 || got.body != "deep" ||
		!strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment; filename") {
		t.Errorf("%d %s %v", got.status, got.body, got.header)
	}
	for _, name := range []string{
		"../a.log", "sub/../a.log", "/etc/passwd", "b", "%2e%2e", "..\\a.log", "A.LOG", "a.log\x00",
	} {
		if got := file(name); got.status != 404 && got.status != 400 {
			t.Errorf("%q: %d %s", name, got.status, got.body)
		}
	}
}

// A study with inputs is made when they are there.
func TestSubmitInputs(t *testing.T) {
	r := newRig(t)
	submit := func(staged string) reply {
		spec := `{"version":1,"command":["cat","in","{n}"],"parameters":[{"name":"n","type":"int","min":1,"max":9}],` +
			`"objective":{"metric":"elapsed"},"inputs":["in"]` + staged + `}`
		return r.do(t, Author, http.MethodPost, prefix+"/studies", `{"name":"files","spec":`+spec+`}`, nil)
	}
	one := func(name, hash string, size int) string {
		return fmt.Sprintf(`,"staged":{"inputs":[{"name":%q,"sha256":%q,"size":%d}]}`, name, hash, size)
	}
	for says, got := range map[string]reply{
		"the inputs of the study are not on the server": submit(""),
		"is not on the server":                          submit(one("in", strings.Repeat("a", 64), 5)),
		"has 7 bytes, and blob":                         submit(one("in", heldHash, 7)),
		"it is not a plain path":                        submit(one("../in", heldHash, 5)),
		"has no SHA-256 or no size":                     submit(one("in", "../../tokens.json", 5)),
		"the inputs are not those that the study":       submit(`,"staged":{}`),
	} {
		if got.status != 422 && got.status != 409 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", says, got.status, got.body)
		}
	}
	if got := submit(one("in", heldHash, 5)); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	file := "command: [cat, \"{n}\"]\nparameters: {n: 1..3}\nshared: /data\n"
	got := r.do(t, Author, http.MethodPost, prefix+"/studies", fmt.Sprintf(`{"name":"shared","file":%q}`, file), nil)
	if got.status != 200 || !strings.Contains(got.body, `"shared":[{"path":"/data","size":-1}]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if _, err := r.store.Spec(t.Context(), "files"); err != nil {
		t.Error(err)
	}
}

// The client: a blob is put once, and fetched from any byte on.
func TestBlobClient(t *testing.T) {
	r := newRig(t, withRoom(t, 8<<20))
	c := r.client(t, string(Author))
	data := []byte(strings.Repeat("q", 2<<20) + "end")
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	hash := hashOf(t, data)
	for i := range 2 {
		if has, err := hasBlob(t.Context(), c, hash); err != nil || has != (i > 0) {
			t.Errorf("%v, %v", has, err)
		}
		if err := c.PutBlob(t.Context(), hash, path, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	b, err := c.Blob(t.Context(), hash, int64(len(data))-3, false)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if end, err := io.ReadAll(b); err != nil || string(end) != "end" {
		t.Errorf("%q, %v", end, err)
	}
	// A file that has changed since it was read is not the promised one.
	data[0] = 'Q'
	other := hashOf(t, data)
	err = c.PutBlob(t.Context(), other, path, "", "")
	if assay.ClassOf(err) != assay.ClassUsage || !strings.Contains(err.Error(), "the bytes have the SHA-256") {
		t.Errorf("%v", err)
	}
	f, err := c.Files(t.Context(), "tuned", 1)
	if err != nil || f.State != "coming" { // its blobs are of another store here
		t.Errorf("%+v, %v", f, err)
	}
	if o, err := c.Output(t.Context(), "tuned", 2, 3); err != nil || o.Stdout.Text != "ar\n" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := c.File(t.Context(), "tuned", 1, "gone"); assay.ClassOf(err) != assay.ClassUnavailable {
		t.Errorf("%v", err)
	}
}
