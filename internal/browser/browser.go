// Package browser lets tests look at pages as a person does, in a chromium of the machine. A test binary
// has one browser, and each test a tab with cookies of its own. A test without a browser is skipped,
// with the reason. Only tests use it.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/assay-run/assay/internal/testbed"
)

// Keys that have no character, for [Tab.Key].
const (
	Enter      = kb.Enter
	Escape     = kb.Escape
	TabKey     = kb.Tab
	End        = kb.End
	Home       = kb.Home
	ArrowLeft  = kb.ArrowLeft
	ArrowRight = kb.ArrowRight
	ArrowUp    = kb.ArrowUp
	ArrowDown  = kb.ArrowDown
)

// within is how long a tab lasts, and patience how long it waits for one thing.
const (
	within   = 20 * time.Minute
	patience = 2 * time.Minute
)

// one is the browser of this process.
var one struct {
	once sync.Once
	path string
	dir  string
	ctx  context.Context
	stop context.CancelFunc
	err  error
}

// Main runs the tests of a package, and ends the browser after them: func TestMain(m *testing.M) {
// browser.Main(m) }. It calls the functions after in the end.
func Main(m *testing.M, after ...func()) {
	testbed.Main(m, append(after, Close)...)
}

// Close ends the browser, for a package whose tests are run by something else than Main.
func Close() {
	if one.ctx != nil {
		_ = chromedp.Cancel(one.ctx)
		one.stop()
	}
	if one.dir != "" {
		_ = os.RemoveAll(one.dir)
	}
}

// start starts the browser.
func start() {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			one.path = p
			break
		}
	}
	if one.path == "" {
		return
	}
	if one.dir, one.err = os.MkdirTemp("", "assay-browser-*"); one.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(one.path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(one.dir), chromedp.Env("HOME="+one.dir),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-software-rasterizer", true),
		chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	one.stop = stop
	one.ctx, _ = chromedp.NewContext(ctx)
	_, one.err = chromedp.Run(one.ctx, chromedp.Navigate("about:blank"))
}

// A Tab is a tab of the browser that records the faults in it: an exception, anything on the console, a
// violation of the page's policy, a dialog. When its test ends, each of them is an error of the test.
type Tab struct {
	t       testing.TB
	ctx     context.Context
	mu      sync.Mutex
	bad     []string
	ignored []string
	asked   []string
}

// Open opens a tab with cookies of its own. It skips the test if there is no browser.
func Open(t testing.TB) *Tab {
	t.Helper()
	testbed.Outside(t)
	one.once.Do(start)
	if one.path == "" {
		testbed.Lacks(t, "chromium")
	}
	if one.err != nil {
		t.Fatalf("the browser does not start: %v", one.err)
	}
	ctx, cancel := context.WithTimeout(one.ctx, within)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &Tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if x := e.ExceptionDetails.Exception; x != nil {
				text += " " + x.Description
			}
			b.wrong("exception: " + text)
		case *runtime.EventConsoleAPICalled:
			b.wrong(fmt.Sprintf("console: %s %v", e.Type, e.Args))
		case *log.EventEntryAdded:
			// An information is no fault: a field that a test already types into takes no focus by itself.
			if e.Entry.Level != log.EntryLevelInfo && e.Entry.Level != log.EntryLevelVerbose {
				b.wrong("log: " + e.Entry.Text + " " + e.Entry.URL)
			}
		case *page.EventJavascriptDialogOpening:
			b.wrong("a dialog: " + e.Message)
		case *network.EventRequestWillBeSent:
			b.mu.Lock()
			b.asked = append(b.asked, e.Request.URL)
			b.mu.Unlock()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Clean) // before the tab is closed
	return b
}

// For has the tab report to a subtest until that ends: opening a tab costs as much as a page.
func (b *Tab) For(t testing.TB) *Tab {
	t.Helper()
	parent, ignored := b.t, b.ignored
	b.t = t
	t.Cleanup(func() {
		b.Clean()
		b.t, b.ignored = parent, ignored
	})
	return b
}

func (b *Tab) wrong(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, part := range b.ignored {
		if strings.Contains(text, part) {
			return
		}
	}
	b.bad = append(b.bad, text)
}

// Allow exempts messages that contain a text from now on: messages of the browser about a server that
// the test itself has killed, or an intended refusal.
func (b *Tab) Allow(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ignored = append(b.ignored, text)
}

// Wrong returns the faults so far, which are no errors of the test then.
func (b *Tab) Wrong() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	bad := b.bad
	b.bad = nil
	return bad
}

// Asked returns the addresses that the pages have asked for since it was called last.
func (b *Tab) Asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

// Clean fails the test if something has gone wrong in the tab so far. It is called at the end of
// the test by itself.
func (b *Tab) Clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.bad {
		b.t.Errorf("the browser reports: %s", text)
	}
	b.bad = nil
}

// Do does an action of chromedp in the tab.
func Do[T any](b *Tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// Eval returns the value of an expression in the page.
func Eval[T any](b *Tab, expression string) T {
	b.t.Helper()
	return Do(b, chromedp.Evaluate[T](expression))
}

// Await returns the value of a promise, an expression in the page.
func Await[T any](b *Tab, expression string) T {
	b.t.Helper()
	return Do(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Page shows a page from a file, as a person opens it, and waits until it reports that it is ready.
func (b *Tab) Page(page []byte) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.Go("file://" + file)
}

// Go visits an address, and waits until the page reports that it is ready.
func (b *Tab) Go(address string) {
	b.t.Helper()
	b.Visit(address)
	b.Ready()
}

// Visit visits an address, whether it loads or not.
func (b *Tab) Visit(address string) {
	b.t.Helper()
	Do(b, chromedp.Navigate(address))
}

// Ready waits until the page reports that it is ready: data-ready of its root is true.
func (b *Tab) Ready() {
	b.t.Helper()
	b.Wait(`document.documentElement?.dataset.ready === "true"`)
}

// Wait waits until an expression is true, on this page or on one that comes after it.
func (b *Tab) Wait(expression string) {
	b.t.Helper()
	until := time.Now().Add(patience)
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && ok {
			return
		}
		if time.Now().After(until) || b.ctx.Err() != nil {
			b.Clean()
			b.t.Fatalf("%s: not so within %s (%v)", expression, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Frame waits until the requested frame is drawn.
func (b *Tab) Frame() {
	b.t.Helper()
	Await[bool](b, `new Promise((ok) => requestAnimationFrame(() => requestAnimationFrame(() => ok(true))))`)
}

// Click clicks on the first element of a selector.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	Do(b, chromedp.Click(chromedp.CSS(selector)))
}

// Type types a text into the first element of a selector.
func (b *Tab) Type(selector, text string) {
	b.t.Helper()
	Do(b, chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Key presses keys where the focus is.
func (b *Tab) Key(keys string) {
	b.t.Helper()
	Do(b, chromedp.KeyEvent(keys))
}

// Text returns the text of the first element of a selector, "" without one.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return Eval[string](b, fmt.Sprintf(`(document.querySelector(%s)?.textContent ?? "").trim()`, Quote(selector)))
}

// Size sets the size of the window in CSS pixels.
func (b *Tab) Size(width, height int64) {
	b.t.Helper()
	Do(b, chromedp.EmulateViewport(width, height))
}

// Theme sets whether the system of the browser is dark.
func (b *Tab) Theme(dark bool) {
	b.t.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	f := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}}
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: f})
	b.Frame()
}

// Scripts sets whether the pages that are visited next may run scripts.
func (b *Tab) Scripts(on bool) {
	b.t.Helper()
	Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// Forget clears the browser's caches of visited pages, but for their cookies.
func (b *Tab) Forget() {
	b.t.Helper()
	Call(b, network.ClearBrowserCache, cdp.Empty{})
}

// Trust has the browser take any certificate.
func (b *Tab) Trust() {
	b.t.Helper()
	Call(b, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
}

// Mouse sends an event of the left button at a place of the window.
func (b *Tab) Mouse(kind input.DispatchMouseEventType, x, y float64) {
	b.t.Helper()
	Do(b, chromedp.MouseEvent(kind, x, y, chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1)))
}

// Call calls a command of the browser's protocol.
func Call[P, R any](b *Tab, command cdp.Command[P, R], p P) R {
	b.t.Helper()
	var out R
	Do(b, chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		out, err = cdp.Call(ctx, t, command, p)
		return err
	}))
	return out
}

// Picture saves a picture of the whole page to the directory $ASSAY_PICTURES, if it is set.
func (b *Tab) Picture(name string) {
	b.t.Helper()
	dir := os.Getenv("ASSAY_PICTURES")
	if dir == "" {
		return
	}
	png := Do(b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// A Drawn describes the content of a canvas: the share of its pixels that have a colour, and the number
// of colours.
type Drawn struct {
	Label  string
	Share  float64
	Colors int
	Box    Box
}

// A Box is where an element is, in CSS pixels of the page.
type Box struct{ X, Y, Width, Height float64 }

const canvases = `[...document.querySelectorAll("canvas[role=img]")].map((c) => {
	const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, colors = new Set();
	let n = 0;
	for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 0) { n++; colors.add(d[i] << 16 | d[i+1] << 8 | d[i+2]); }
	const r = c.getBoundingClientRect();
	return {Label: c.getAttribute("aria-label"), Share: n / (d.length / 4), Colors: colors.size,
		Box: {X: r.x, Y: r.y + scrollY, Width: r.width, Height: r.height}};
})`

// Canvases returns the contents of the charts of the page.
func (b *Tab) Canvases() []Drawn {
	b.t.Helper()
	return Eval[[]Drawn](b, canvases)
}

// Place returns where the first element of a selector is in the window.
func (b *Tab) Place(selector string) Box {
	b.t.Helper()
	b.Frame()
	return Eval[Box](b, fmt.Sprintf(`(() => { const r = document.querySelector(%s).getBoundingClientRect();
		return {X: r.x, Y: r.y, Width: r.width, Height: r.height}; })()`, Quote(selector)))
}

// Quote returns a value as JavaScript.
func Quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
