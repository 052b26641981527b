package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assay-run/assay/docs"
	"github.com/assay-run/assay/internal/report"
)

// Options are the settings of a server.
type Options struct {
	Version string
	// Place are the flags of the commands that name where studies are kept: --store, or --server and --token-file.
	Place []string
	// Hosted is set if Place names a server: its studies go on without this session, and several may run at once.
	Hosted bool
}

// instructions are for the agent, at the start of a session.
const instructions = `assay measures commands and finds their best parameters in few runs.
Write a study file (see the resource ` + prefix + `format/study.md) and check it. Start the study ` +
	`within a budget, wait until it ends, and read the answer. ` +
	`A gain is real only if answer.shown is true; answer.gain has its interval. ` +
	`Report the interval with the gain. If no gain is shown, keep the default. ` +
	`Compare two versions of a program with compare, never by single runs: only verdict and outcome count.`

// prefix begins the addresses of resources.
const prefix = "assay://"

// Serve serves one client until it leaves or ctx is done, and then ends all runs of the session.
func Serve(ctx context.Context, o Options, t sdk.Transport) error {
	ctx, cancel := context.WithCancel(ctx)
	a := &session{Options: o, ctx: ctx, runs: map[string]*run{}}
	defer a.ends.Wait()
	defer cancel()
	return a.server().Run(ctx, t)
}

// Stdio is the transport of a pair of streams, which stay open.
func Stdio(in io.Reader, out io.Writer) sdk.Transport {
	return &sdk.IOTransport{Reader: io.NopCloser(in), Writer: kept{out}}
}

type kept struct{ io.Writer }

func (kept) Close() error { return nil }

// server returns the tools and the resources.
func (a *session) server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "assay", Version: a.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{},
	})
	reads, acts := &sdk.ToolAnnotations{ReadOnlyHint: true}, &sdk.ToolAnnotations{}
	tool(s, acts, "start", "Start a new study in the background, within a budget of time or trials.", a.start)
	tool(s, acts, "resume", "Resume a study on record with its file, within a budget that counts earlier trials.",
		a.resume)
	tool(s, acts, "compare", "Start a comparison of two commands in the background, within a budget of time or pairs. "+
		"Its result has the verdict, the change with its interval and, with fail_if, the outcome of the gate.", a.compare)
	tool(s, acts, "stop", "End a study or a comparison now. Finished trials are on record.", a.stop)
	tool(s, reads, "check", "Check a study file and show the plan; nothing runs.", a.check)
	tool(s, reads, "wait", "Wait until a study or a comparison ends, and return its result, or its progress after the "+
		"longest wait.", a.wait)
	tool(s, reads, "answer", "The answer of a study: keep or change the default, the gain with its interval, and whether "+
		"the gain is shown.", a.answer)
	tool(s, reads, "trials", "The trials of a study in order.", a.trials)
	tool(s, reads, "explain", "The effect of each parameter on the objective.", a.explain)
	for _, page := range docs.Pages() {
		s.AddResource(&sdk.Resource{URI: prefix + page.Name, Name: page.Name, MIMEType: "text/markdown"},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return text(prefix+page.Name, "text/markdown", page.Text), nil
			})
	}
	help := prefix + "help/"
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: help + "{command}", Name: "help", MIMEType: "text/plain",
		Description: "the help of a command, such as " + help + "study%20show",
	}, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		words, err := url.PathUnescape(strings.TrimPrefix(r.Params.URI, help))
		if err != nil {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		out, _, err := a.read(ctx, append([]string{"help", "--"}, strings.Fields(words)...)...)
		if err != nil {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		return text(r.Params.URI, "text/plain", out), nil
	})
	return s
}

func text(uri, kind, content string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: content}}}
}

// A request is a call of a tool. progress reports to a client that asked for it; at grows from call to call.
type request struct {
	context.Context
	progress func(at float64, message string)
}

// tool adds a tool. Its errors are results that the agent reads. An output that is a JSON object is the structured
// content of the result, too.
func tool[In any](
	s *sdk.Server, hints *sdk.ToolAnnotations, name, about string, do func(request, In) (out, note string, err error),
) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: about, Annotations: hints},
		func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			token := r.Params.GetProgressToken()
			out, note, err := do(request{ctx, func(at float64, message string) {
				if token != nil {
					_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ // the call may be over
						ProgressToken: token, Progress: at, Message: report.Visible(message),
					})
				}
			}}, in)
			if err != nil {
				return nil, nil, fmt.Errorf("%s", report.VisibleLines(err.Error()))
			}
			res := &sdk.CallToolResult{}
			for _, part := range []string{out, note} {
				if part != "" {
					res.Content = append(res.Content, &sdk.TextContent{Text: report.VisibleLines(part)})
				}
			}
			if data := json.RawMessage(out); strings.HasPrefix(out, "{") && json.Valid(data) {
				return res, data, nil
			}
			return res, nil, nil
		})
}
