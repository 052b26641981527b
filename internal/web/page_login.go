package web

import (
	"net/http"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
)

// A loginPage is the form by which a browser gets a session.
type loginPage struct {
	Next  string
	Open  bool // a code is asked for, not a token
	Wrong string
}

// loginForm shows the form. A module of the page sends a code that is in the fragment of the address, because browsers
// do not send fragments to servers.
func (s *site) loginForm(w http.ResponseWriter, r *http.Request) {
	s.showLogin(w, r, loginPage{Next: local(r.URL.Query().Get("next")), Open: s.o.Open}, http.StatusOK)
}

func (s *site) showLogin(w http.ResponseWriter, r *http.Request, data loginPage, status int) {
	_ = s.write(w, "login.html", shown{
		Title: "Log in", Page: "login", Modules: s.modules("login"), Theme: themeOf(r), Version: s.o.Version, Data: data,
	}, status)
}

// login creates a session for a code, or for a token if tokens exist.
func (s *site) login(w http.ResponseWriter, r *http.Request) {
	data := loginPage{Next: local(r.PostFormValue("next")), Open: s.o.Open}
	given := strings.TrimSpace(r.PostFormValue("code"))
	if _, code, ok := strings.Cut(given, "#code="); ok {
		given = code // the whole address
	}
	token, ok := s.sessions.redeem(given)
	if !ok && !s.o.Open {
		token = given
		if c, err := access.ParseCredential(given); err == nil {
			token = c.Bearer()
		}
		ok = token != "" && len(token) < 256 && !strings.ContainsAny(token, " \r\n\t")
	}
	status := http.StatusUnauthorized
	if ok {
		id := s.sessions.begin(token)
		one, _ := s.sessions.find(id)
		r2 := r.WithContext(as(r.Context(), one))
		_, err := s.client.Me(r2.Context())
		if err == nil {
			s.setCookie(w, id)
			to := data.Next
			if to == "" {
				to = "/"
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		s.sessions.end(id)
		data.Wrong = "the token is wrong, expired or revoked, or belongs to a worker"
		if assay.ClassOf(err) == assay.ClassUnavailable {
			data.Wrong, status = err.Error(), http.StatusServiceUnavailable
		}
	} else if data.Wrong = "this is no token"; s.o.Open {
		data.Wrong = "the code is wrong, was used, or is older than ten minutes: start assay ui again"
	}
	s.showLogin(w, r, data, status)
}

// logout ends the session.
func (s *site) logout(v *visit) error {
	s.sessions.end(cookieOf(v.r, s.cookie))
	s.setCookie(v.w, "")
	http.Redirect(v.w, v.r, "/login", http.StatusSeeOther)
	return nil
}

// themeCookie stores the colours that a browser shows. The server puts them into the page, so that no page flashes in
// other colours first.
const themeCookie = "assay-theme"

// themeOf returns the colours of a browser, "" for the system's colours.
func themeOf(r *http.Request) string {
	switch t := cookieOf(r, themeCookie); t {
	case "light", "dark":
		return t
	}
	return ""
}

// theme chooses colours.
func (s *site) theme(v *visit) error {
	to := v.r.PostFormValue("theme")
	if to != "light" && to != "dark" {
		to = ""
	}
	c := &http.Cookie{
		Name: themeCookie, Value: to, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: !s.o.Open,
		MaxAge: int(lastsFor.Seconds()),
	}
	if to == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
	return v.done("/", "")
}
