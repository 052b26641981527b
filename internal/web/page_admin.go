package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/access"
	"github.com/assay-run/assay/internal/report"
	"github.com/assay-run/assay/internal/rest/api"
)

// mostAudit is how many entries of the audit a page shows.
const mostAudit = 500

type adminPage struct {
	About    api.About
	Tokens   []api.Token
	NoTokens string // why none are listed
	Roles    []access.Role
	Filter   string
	Audit    []api.Decision // the latest first
	Commands []Act
}

// admin shows the tokens of the server, and who made and ended them.
func (s *site) admin(v *visit) error {
	p := adminPage{Filter: strings.TrimSpace(v.r.URL.Query().Get("q"))}
	var err error
	if p.About, err = v.API.Server(v.ctx); err != nil {
		return err
	}
	p.Roles = []access.Role{access.Viewer, access.Operator, access.Author, access.Admin, access.Worker}
	if p.Tokens, err = v.API.Tokens(v.ctx); assay.ClassOf(err) == assay.ClassUsage {
		p.NoTokens = err.Error() // it listens to its owner alone
	} else if err != nil {
		return err
	}
	slices.SortFunc(p.Tokens, func(a, b api.Token) int { return strings.Compare(a.Name, b.Name) })
	all, err := v.API.Audit(v.ctx, 100_000)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(all) {
		if len(p.Audit) < mostAudit && says(e, p.Filter) {
			p.Audit = append(p.Audit, e)
		}
	}
	p.Commands = []Act{
		tokenAct(api.NewToken{Name: "NAME", Role: access.Viewer}, ""),
		revokeAct("NAME"),
		{"assay token audit", http.MethodGet, "/api/v1/audit", ""},
	}
	return v.render("admin.html", "Admin", p)
}

// says reports whether an audit entry contains a text.
func says(e api.Decision, text string) bool {
	all := strings.Join([]string{
		e.By, e.Do, e.On, string(e.Role), strings.Join(e.Studies, " "), strings.Join(e.Apps, " "),
		e.At.Local().Format("2006-01-02 15:04:05"),
	}, " ")
	return strings.Contains(strings.ToLower(all), strings.ToLower(text))
}

// tokenAct is the creation of a token as a command and as a request. lasts is as typed.
func tokenAct(t api.NewToken, lasts string) Act {
	words := []string{"assay", "token", "add", "--name", t.Name, "--role", string(t.Role)}
	for flag, list := range map[string][]string{"--studies": t.Studies, "--apps": t.Apps} {
		if len(list) > 0 {
			words = append(words, flag, strings.Join(list, ","))
		}
	}
	if lasts != "" {
		words = append(words, "--expires", lasts)
	}
	return Act{report.ShellQuote(words), http.MethodPost, "/api/v1/tokens", jsonOf(t)}
}

func revokeAct(name string) Act {
	command := report.ShellQuote([]string{"assay", "token", "revoke", name})
	return Act{command, http.MethodDelete, "/api/v1/tokens/" + url.PathEscape(name), ""}
}

// A madePage shows a token, once.
type madePage struct {
	Token  api.Token
	Secret string
	File   string
	Act    Act
}

// addToken makes a token and shows its secret on the answer itself: no other page ever does.
func (s *site) addToken(v *visit) error {
	t := api.NewToken{
		Name: strings.TrimSpace(v.r.PostFormValue("name")), Role: access.Role(v.r.PostFormValue("role")),
		Studies: words(v.r.PostFormValue("studies")), Apps: words(v.r.PostFormValue("apps")),
	}
	lasts := strings.TrimSpace(v.r.PostFormValue("days"))
	if lasts != "" {
		days, err := strconv.Atoi(lasts)
		if err != nil || days < 1 || days > 36500 {
			return assay.Errorf(assay.ClassUsage, "%.40q is no number of days from 1 to 36500", lasts)
		}
		t.Lasts, lasts = api.Int(days*24*60*60), lasts+"d"
	}
	made, err := v.API.AddToken(v.ctx, t)
	if err != nil {
		return err
	}
	return v.render("token.html", "A token", madePage{
		made.Token, made.Secret, made.Token.Name + ".token", tokenAct(t, lasts),
	})
}

// words splits a list typed by a user.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\n\r", r) })
}

// revoke ends a token after it has asked.
func (s *site) revoke(v *visit) error {
	name := v.r.PostFormValue("name")
	if v.r.PostFormValue("sure") == "" {
		return v.render("confirm.html", "Revoke", confirmPage{
			Question: "Revoke the token?", Items: []string{name}, To: "/admin/revoke", Button: "× revoke", Back: "/admin",
			Note:   "Its clients are refused within seconds, and their connections are closed. It cannot be undone.",
			Fields: [][2]string{{"name", name}, {"sure", "yes"}}, Act: revokeAct(name),
		})
	}
	if err := v.API.Revoke(v.ctx, name); err != nil {
		return err
	}
	return v.did("/admin", cmp.Or(name, "the token")+" is revoked", revokeAct(name).Command)
}
