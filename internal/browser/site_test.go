package browser_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assay-run/assay/internal/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }

// The site that was built is found by its search and asks for nothing elsewhere: as files without a server, and from a
// server.
func TestSearchOffline(t *testing.T) {
	dir, err := filepath.Abs("../../dist/site")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Skip("SKIPPED: the site is not built: make site builds it and runs this test")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	for name, root := range map[string]string{"files": "file://" + dir, "server": server.URL} {
		t.Run(name, func(t *testing.T) {
			b := browser.Open(t)
			b.Visit(root + "/tutorials/ci.html")
			b.Wait(`document.querySelector("[data-md-component=search-query]")`)
			b.Wait(`document.readyState === "complete"`)
			for words, page := range map[string]string{
				"walltime": "slurm.html", "hypervolume": "results/front.html", "involuntary_switches": "reference/metrics.html",
				"Idempotency-Key": "reference/rest.html",
			} {
				browser.Eval[bool](b, `(() => {
					const field = document.querySelector("[data-md-component=search-query]");
					field.focus();
					field.value = `+"`"+words+"`"+`;
					field.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
					field.dispatchEvent(new InputEvent("input", {bubbles: true}));
					return true;
				})()`)
				b.Wait(`[...document.querySelectorAll(".md-search-result__link")].some((a) => a.href.includes("/` + page + `"))`)
			}
			browser.Eval[bool](b, `(document.querySelector(".md-search-result__link").click(), true)`)
			b.Wait(`document.readyState === "complete" && !location.pathname.endsWith("/tutorials/ci.html") && ` +
				`document.querySelector("article h1")`)
			for _, address := range b.Asked() {
				u, err := url.Parse(address)
				if err != nil || !strings.HasPrefix(address, root) &&
					!slices.Contains([]string{"data", "blob", "about"}, u.Scheme) {
					t.Errorf("it asks for %s", address)
				}
			}
		})
	}
}
