package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/files"
)

// ErrDenied is the error of a token that is wrong, revoked or expired. It does not reveal which.
var ErrDenied = assay.Errorf(assay.ClassUsage, "the token is not valid")

const (
	secretLen = 43 // 256 bits in base64
	// freshFor is the interval of checks of the file of tokens: a token that another process has revoked stays valid no
	// longer than that.
	freshFor = 2 * time.Second
	version  = 1
)

// A file is the file of tokens.
type file struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

// Tokens are the tokens of a server: a file that only its owner can read. Several processes may have
// it open. It is safe for concurrent use.
type Tokens struct {
	path  string
	audit *Audit
	wrong limiter

	mu     sync.Mutex
	byName map[string]Token
	looked time.Time
	stamp  stamp
}

// A stamp identifies the version of the file that was read.
type stamp struct {
	inode uint64
	size  int64
	time  time.Time
}

// OpenTokens opens the tokens of a file, which is created with the first token. A file that others can read is an
// error. The [Audit] of its changes is in the same directory.
func OpenTokens(path string) (*Tokens, error) {
	t := &Tokens{path: path, audit: OpenAudit(filepath.Join(filepath.Dir(path), AuditFile))}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t, t.load()
}

// load reads the file if it has changed. The lock is held. The tokens stay the same after an
// error.
func (t *Tokens) load() error {
	t.looked = time.Now()
	info, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		t.byName, t.stamp = map[string]Token{}, stamp{}
		return nil
	}
	if err != nil {
		return err
	}
	now := stamp{size: info.Size(), time: info.ModTime()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		now.inode = s.Ino
	}
	if now == t.stamp && t.byName != nil {
		return nil
	}
	if info.Mode().Perm()&0o077 != 0 {
		return assay.WithHint(usagef("%s can be read by other users (mode %04o)", t.path, info.Mode().Perm()),
			"chmod 600 "+t.path)
	}
	b, err := os.ReadFile(t.path)
	if err != nil {
		return err
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return usagef("%s: %w", t.path, err)
	}
	if f.Version != version {
		return usagef("%s is of version %d, which this assay does not know", t.path, f.Version)
	}
	t.byName = map[string]Token{}
	for _, tok := range f.Tokens {
		t.byName[tok.Name] = tok
	}
	t.stamp = now
	return nil
}

// change changes the tokens, and writes the file. Processes take turns. f returns the entry for the audit, which is
// written first: every change is on record.
func (t *Tokens) change(f func() (*Decision, error)) error {
	lock, err := os.OpenFile(t.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(); err != nil {
		return err
	}
	before := t.byName
	t.byName = make(map[string]Token, len(before)+1)
	for name, tok := range before {
		t.byName[name] = tok
	}
	e, err := f()
	if err == nil && e != nil {
		err = t.audit.Add(*e)
	}
	if err == nil && e != nil {
		b, _ := json.MarshalIndent(file{version, t.list()}, "", "  ") // of texts and times
		err = files.WriteFile(t.path, append(b, '\n'), 0o600)
	}
	if err != nil {
		t.byName = before
		return err
	}
	t.stamp = stamp{} // read again at the next look
	return nil
}

// Add makes a token, of which name, role, scope, applications, end and maker are taken, and returns
// its secret, which is kept nowhere. A name that is in use is a conflict.
func (t *Tokens) Add(tok Token) (secret string, err error) {
	now := time.Now()
	if err := tok.check(now); err != nil {
		return "", err
	}
	var random [32]byte
	rand.Read(random[:])
	secret = base64.RawURLEncoding.EncodeToString(random[:])
	tok.Made, tok.Revoked, tok.SHA256 = now.UTC().Truncate(time.Second), time.Time{}, hash(secret)
	err = t.change(func() (*Decision, error) {
		if old, ok := t.byName[tok.Name]; ok && old.Ended(now) == "" {
			return nil, assay.WithHint(assay.Errorf(assay.ClassConflict, "there is a token %s already", tok.Name),
				"assay token revoke "+tok.Name)
		}
		t.byName[tok.Name] = tok
		e := &Decision{By: tok.By, Do: TokenAdded, On: tok.Name, Role: tok.Role, Studies: tok.Scope, Apps: tok.Apps}
		if !tok.Expires.IsZero() {
			e.Expires = &tok.Expires
		}
		return e, nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Revoke ends a token. An ended token stays ended. by is the name of the caller.
func (t *Tokens) Revoke(name, by string) error {
	return t.change(func() (*Decision, error) {
		tok, ok := t.byName[name]
		if !ok {
			return nil, assay.Errorf(assay.ClassNotFound, "there is no token %s", name)
		}
		if !tok.Revoked.IsZero() {
			return nil, nil
		}
		tok.Revoked = time.Now().UTC().Truncate(time.Second)
		t.byName[name] = tok
		return &Decision{By: by, Do: TokenRevoked, On: name, Role: tok.Role}, nil
	})
}

// List returns all tokens, those that have ended too, by name.
func (t *Tokens) List() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.load()
	return t.list(), err
}

func (t *Tokens) list() []Token {
	all := make([]Token, 0, len(t.byName))
	for _, tok := range t.byName {
		all = append(all, tok)
	}
	slices.SortFunc(all, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Check returns the token of "NAME.SECRET". Wrong tokens are delayed per source: 10 are answered in a second, and
// further ones queue up to a limit, beyond which they are refused, unread, as unavailable. The error of a wrong token
// is [ErrDenied].
func (t *Tokens) Check(ctx context.Context, bearer, from string) (Token, error) {
	if err := t.wrong.blocked(from); err != nil {
		return Token{}, err
	}
	tok, ok := t.find(bearer)
	if ok {
		return tok, nil
	}
	if err := t.wrong.wait(ctx, from); err != nil {
		return Token{}, err
	}
	return Token{}, ErrDenied
}

// find looks a token up. It takes the same time whether the name or the secret is wrong, and however
// much of the secret is right.
func (t *Tokens) find(bearer string) (Token, bool) {
	name, secret, _ := strings.Cut(bearer, ".")
	t.mu.Lock()
	if time.Since(t.looked) >= freshFor {
		_ = t.load() // a damaged file changes nothing: the next start reports it
	}
	tok, known := t.byName[name]
	t.mu.Unlock()
	if !known {
		tok.SHA256 = hash("nobody's")
	}
	same := subtle.ConstantTimeCompare([]byte(hash(secret)), []byte(tok.SHA256)) == 1
	return tok, same && known && tok.Ended(time.Now()) == ""
}

// Watch calls ended with the name of each token that ends from now on, within a few seconds, until ctx is done. The
// caller then closes the connections of that token.
func (t *Tokens) Watch(ctx context.Context, ended func(name string)) {
	type key struct{ name, sum string }
	look := func() (valid, over map[key]bool) {
		all, _ := t.List()
		now := time.Now()
		valid, over = map[key]bool{}, map[key]bool{}
		for _, tok := range all {
			if tok.Ended(now) == "" {
				valid[key{tok.Name, tok.SHA256}] = true
			} else {
				over[key{tok.Name, tok.SHA256}] = true
			}
		}
		return valid, over
	}
	tick := time.NewTicker(freshFor)
	defer tick.Stop()
	for valid, over := look(); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		stillValid, nowOver := look()
		for k := range valid {
			if !stillValid[k] && !nowOver[k] { // another token has its name
				ended(k.name)
			}
		}
		for k := range nowOver { // including a token that was made and revoked between two looks
			if !over[k] {
				ended(k.name)
			}
		}
		valid, over = stillValid, nowOver
	}
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
