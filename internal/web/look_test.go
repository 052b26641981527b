package web_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/browser"
	"github.com/assay-run/assay/internal/testbed"
)

// Pages fit their window from a telephone to a wall, in light and in dark; every chart is drawn when
// it is looked at, and the console stays empty.
func TestStudyAtAllSizes(t *testing.T) {
	testbed.System(t)
	t.Parallel()
	store := memory(t)
	r := newRecord(t, store, "encoder")
	r.run(300)
	newRecord(t, store, "a study with a rather long name that says what it is about").run(40)
	p, asked := r.ask()
	asked.At = time.Now().Add(-20 * time.Second)
	_, second := r.ask()
	second.At = time.Now().Add(-31 * time.Second)
	r.append(asked, second, assay.Event{
		At: asked.At, Spent: r.spent,
		Started: &assay.Start{RunID: assay.RunID{Trial: p.ID}, Worker: "rack2-07", MachineClass: "a"},
	})
	url := ui(t, store)
	b := browser.Open(t)
	b.Visit(url)
	b.Wait(`document.title === "Studies - assay"`)
	for _, width := range []int64{320, 1280, 3840} {
		for _, dark := range []bool{false, true} {
			if dark != (width == 1280) && os.Getenv("ASSAY_SOAK") == "" && os.Getenv("ASSAY_PICTURES") == "" {
				continue // each width in one theme: TestAllPages has both at two of them
			}
			b.Size(width, max(width*9/16, 700))
			b.Theme(dark)
			for name, path := range map[string]string{"studies": "/", "study": "/s/encoder"} {
				b.Go(base(url) + path)
				if name == "study" {
					b.Wait(`document.documentElement.dataset.drawn === "true"`)
					for _, chart := range []string{"parallel", "space", "front", "noise", "table", "importance"} {
						browser.Eval[bool](b, `document.querySelector("[data-draw=`+chart+`]").scrollIntoView({block: "center"}), true`)
						if chart == "importance" {
							b.Wait(`document.querySelector("[data-draw=importance] .bars")`)
						} else {
							b.Wait(`document.querySelector("[data-draw=` + chart + `] > *")`)
						}
						b.Frame()
					}
					browser.Eval[bool](b, `scrollTo(0, 0), true`)
					b.Frame()
					drawn := 0
					for _, c := range b.Canvases() {
						if c.Share > 0.01 && c.Colors >= 10 {
							drawn++
						}
					}
					if drawn < 5 {
						t.Errorf("%d wide, dark %v: %d charts are drawn: %+v", width, dark, drawn, b.Canvases())
					}
				}
				if w := browser.Eval[int64](b, `document.documentElement.scrollWidth`); w > width {
					t.Errorf("%s is %d wide, the window %d", name, w, width)
				}
				b.Picture(fmt.Sprintf("%s-%d-%s", name, width, map[bool]string{true: "dark", false: "light"}[dark]))
			}
		}
	}
}
