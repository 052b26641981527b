package web

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/rest/api"
)

// A visit is one request for a page, from a user who has logged in.
type visit struct {
	s   *site
	w   http.ResponseWriter
	r   *http.Request
	ctx context.Context // of the request, with the user's session

	// API is a client with the rights of the user.
	API     *api.Client
	Me      api.Me
	session *session
}

// A shown is the data of a template: its own, and the layout's.
type shown struct {
	Title   string
	Page    string // the name of the template, as a class of the page
	Modules []string
	Tabs    []tab
	At      string // the path of the tab that this page belongs to
	Me      api.Me
	// Acts is true if acts are offered at all.
	Acts     bool
	ReadOnly bool
	CSRF     string
	Theme    string
	Flash    *flash
	Back     string
	Version  string
	Data     any
}

// May reports whether acts that need a role are offered.
func (s shown) May(role access.Role) bool { return !s.ReadOnly && s.Me.Role.Includes(role) }

// page returns the handler of a page: it requires a session, and shows errors as pages.
func (s *site) page(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		one, ok := s.session(r)
		if !ok {
			// The browser keeps the fragment, in which a code may be.
			http.Redirect(w, r, "/login"+next(r), http.StatusSeeOther)
			return
		}
		v := &visit{s: s, w: w, r: r, ctx: as(r.Context(), one), API: s.client, session: one}
		var err error
		if v.Me, err = v.API.Me(v.ctx); err != nil {
			if assay.ClassOf(err) == assay.ClassUnavailable {
				v.fail(err)
				return
			}
			s.sessions.end(cookieOf(r, s.cookie)) // its token is good no more
			http.Redirect(w, r, "/login"+next(r), http.StatusSeeOther)
			return
		}
		if r.Method == http.MethodPost {
			err = v.checkForm(p)
		} else {
			err = v.may(p.least)
		}
		if err == nil {
			err = p.answer(s, v)
		}
		if err != nil {
			v.fail(err)
		}
	}
}

// next returns the query that brings who logs in back to the page.
func next(r *http.Request) string {
	if r.Method != http.MethodGet || r.URL.Path == "/" {
		return ""
	}
	return "?next=" + url.QueryEscape(r.URL.RequestURI())
}

func cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// checkForm returns why a form is not acted upon.
func (v *visit) checkForm(p page) error {
	// The form is smaller than the memory limit, so no part of it is written to disk.
	err := v.r.ParseMultipartForm(2 * maxPlan)
	if errors.Is(err, http.ErrNotMultipart) {
		err = v.r.ParseForm()
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refusal{http.StatusRequestEntityTooLarge, "the form is too large"}
	}
	if err != nil {
		return assay.Errorf(assay.ClassUsage, "the form cannot be read: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(v.r.PostFormValue("csrf")), []byte(v.session.csrf)) != 1 {
		return refusal{http.StatusForbidden, "the form is of another session: load the page again, and send it from there"}
	}
	return v.may(p.least)
}

// may returns the reason why the user lacks a role, or nil.
func (v *visit) may(least access.Role) error {
	if least == access.Viewer {
		return nil
	}
	if v.s.o.ReadOnly {
		return refusal{http.StatusMethodNotAllowed, "these pages only look: no server runs the studies of this store"}
	}
	if !v.Me.Role.Includes(least) {
		return refusal{http.StatusForbidden, fmt.Sprintf("that is for the role %s; %s is %s", least, v.Me.Name, v.Me.Role)}
	}
	return nil
}

// A refusal is an error with its own status.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

func notFound(path string) error {
	return assay.Errorf(assay.ClassNotFound, "there is no page %.200s: %w", path, fs.ErrNotExist)
}

// statuses are the statuses of error pages.
var statuses = map[assay.Class]int{
	assay.ClassUsage: http.StatusUnprocessableEntity, assay.ClassNotFound: http.StatusNotFound,
	assay.ClassConflict: http.StatusConflict, assay.ClassLocked: http.StatusConflict,
	assay.ClassUnavailable: http.StatusServiceUnavailable, assay.ClassIO: http.StatusInsufficientStorage,
}

// fail shows an error: after an act as a message on the page of its form, otherwise as a page.
func (v *visit) fail(err error) {
	if r, ok := err.(refusal); ok {
		_ = v.show("error.html", "Refused", errorPage{Text: r.text}, r.status)
		return
	}
	if back := v.back(); v.r.Method == http.MethodPost && back != "" {
		v.session.say(&flash{Text: text(err), Bad: true})
		http.Redirect(v.w, v.r, back, http.StatusSeeOther)
		return
	}
	status := statuses[assay.ClassOf(err)]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	_ = v.show("error.html", "Not shown", errorPage{Text: err.Error(), Hint: assay.HintOf(err)}, status)
}

type errorPage struct{ Text, Hint string }

// text returns the text of an error with its hint.
func text(err error) string {
	if hint := assay.HintOf(err); hint != "" {
		return err.Error() + " (" + hint + ")"
	}
	return err.Error()
}

// back returns the path of the page that a form was on, "" if the form lacks it.
func (v *visit) back() string { return local(v.r.PostFormValue("back")) }

// local returns to if it is a path on this server, and "" otherwise.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") ||
		u.Host != "" || u.Scheme != "" {
		return ""
	}
	return to
}

// done redirects after a successful act; the next page shows text.
func (v *visit) done(to, text string) error {
	if text != "" {
		v.session.say(&flash{Text: text})
	}
	if back := v.back(); back != "" {
		to = back
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// did is done with the command that does the same.
func (v *visit) did(to, text, command string) error {
	if err := v.done(to, ""); err != nil {
		return err
	}
	v.session.say(&flash{Text: text, Command: command})
	return nil
}

// render shows a page: a template of templates/ with its data.
func (v *visit) render(name, title string, data any) error {
	return v.show(name, title, data, http.StatusOK)
}

func (v *visit) show(name, title string, data any, status int) error {
	at := "/" + strings.SplitN(strings.TrimPrefix(v.r.URL.Path, "/"), "/", 2)[0]
	if at == "/s" || at == "/compare" || at == "/new" {
		at = "/"
	}
	p := shown{
		Title: title, Page: strings.TrimSuffix(name, ".html"), At: at, Me: v.Me, ReadOnly: v.s.o.ReadOnly,
		CSRF: v.session.csrf, Theme: themeOf(v.r), Back: v.r.URL.RequestURI(), Version: v.s.o.Version, Data: data,
		Flash: v.session.said(),
	}
	p.Acts = p.May(access.Operator)
	for _, t := range v.s.tabs {
		if v.Me.Role.Includes(t.least) {
			p.Tabs = append(p.Tabs, t)
		}
	}
	p.Modules = v.s.modules(p.Page)
	return v.s.write(v.w, name, p, status)
}

// modules returns the entry modules of a page: the common one, and the page's own if it has one.
func (s *site) modules(page string) []string {
	list := []string{"site.js"}
	if _, ok := s.files.all["page_"+page+".js"]; ok {
		list = append(list, "page_"+page+".js")
	}
	return list
}

// write fills a template, and sends it if that succeeds.
func (s *site) write(w http.ResponseWriter, name string, p shown, status int) error {
	var b bytes.Buffer
	if err := s.views[name].ExecuteTemplate(&b, "layout.html", p); err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return nil
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client has gone, if this fails
	return nil
}

// views are the templates of pages, each with the layout.
type views map[string]*template.Template

func newViews(f *files) (views, error) {
	list, err := fs.Glob(embedded, "templates/*.html")
	if err != nil {
		return nil, err
	}
	vs := views{}
	funcs := template.FuncMap{"static": f.url}
	for _, name := range list {
		base := path.Base(name)
		if base == "layout.html" {
			continue
		}
		t, err := template.New(base).Funcs(functions).Funcs(funcs).ParseFS(embedded, "templates/layout.html", name)
		if err != nil {
			return nil, err
		}
		vs[base] = t
	}
	return vs, nil
}
