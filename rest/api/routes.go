package api

import (
	"net/http"
	"strings"
)

// prefix is that of all routes of the first version.
const prefix = "/api/v1"

// A Route is a request that a server answers, and the least role that may make it.
type Route struct {
	Method, Path string
	Least        Role
	// Text says what it does, in one line.
	Text string
}

// Routes is who may do what: the one table. What a definition may hold depends on the
// role too: see [spec.Study.Executes].
var Routes = []Route{
	{http.MethodGet, "/healthz", Nobody, "whether the server answers"},
	{http.MethodGet, "/openapi.json", Viewer, "this document"},
	{http.MethodGet, "/openapi.yaml", Viewer, "this document in YAML"},

	{http.MethodGet, prefix + "/me", Viewer, "who asks, and what the server lets them do"},
	{http.MethodGet, prefix + "/studies", Viewer, "the studies, by their names"},
	{http.MethodGet, prefix + "/studies/{study}", Viewer, "what a study is, and what it has come to"},
	{http.MethodGet, prefix + "/studies/{study}/trials", Viewer, "the trials in order of their ids"},
	{http.MethodGet, prefix + "/studies/{study}/trials/{trial}", Viewer, "one trial: its attempts, what they reported, what was decided"},
	{http.MethodGet, prefix + "/studies/{study}/events", Viewer, "the events as they come, from any place"},
	{http.MethodGet, prefix + "/studies/{study}/answer", Viewer, "what it has come to: the best, the gain, time, and the runs at the end"},
	{http.MethodGet, prefix + "/studies/{study}/trials/{trial}/output", Viewer, "what a run has printed, also while it goes on"},
	{http.MethodGet, prefix + "/studies/{study}/trials/{trial}/files", Viewer, "the files that were kept of a run"},
	{http.MethodGet, prefix + "/studies/{study}/trials/{trial}/files/{name}", Viewer, "a file that was kept of a run"},
	{http.MethodGet, prefix + "/studies/{study}/explain", Viewer, "which parameter pushes the objective where"},
	{http.MethodGet, prefix + "/studies/{study}/noise", Viewer, "how noisy the runs are"},
	{http.MethodGet, prefix + "/studies/{study}/similar", Viewer, "the studies that are most like it"},
	{http.MethodGet, prefix + "/studies/{study}/pruned", Viewer, "what others would leave out of its space, and the risk"},
	{http.MethodGet, prefix + "/studies/{study}/report", Viewer, "a page of one file"},
	{http.MethodGet, prefix + "/studies/{study}/model", Viewer, "what it costs on which resources: the model of its runs"},
	{http.MethodPost, prefix + "/studies/{study}/predict", Viewer, "how long a run takes on resources, by its model"},
	{http.MethodGet, prefix + "/studies/{study}/asked", Viewer, "the trials that were asked and not told"},
	{http.MethodGet, prefix + "/compare", Viewer, "studies side by side"},
	{http.MethodGet, prefix + "/knowledge", Viewer, "which studies are alike"},
	{http.MethodPost, prefix + "/plan", Viewer, "how long a workflow takes on how many slots, for how much money"},
	{http.MethodGet, prefix + "/queue", Viewer, "what waits and what runs, in the order of claims"},
	{http.MethodGet, prefix + "/workers", Viewer, "the machines that make the runs"},

	{http.MethodPost, prefix + "/check", Operator, "what a definition of a study would be, or where it is wrong; nothing is made"},
	// A definition that says what is executed needs an author.
	{http.MethodPost, prefix + "/studies", Operator, "make a study and run it, or go on with it"},
	{http.MethodPost, prefix + "/studies/{study}/ask", Operator, "have trials handed out of a study whose runs somebody else makes"},
	{http.MethodPost, prefix + "/studies/{study}/tell", Operator, "say what trials came to that were asked"},
	{http.MethodPost, prefix + "/studies/{study}/recall", Operator, "take trials back that were asked long ago and never told"},
	{http.MethodPost, prefix + "/studies/{study}/trials", Operator, "have configurations run"},
	{http.MethodPatch, prefix + "/studies/{study}/state", Operator, "run, pause or stop a study"},
	{http.MethodPatch, prefix + "/studies/{study}/priority", Operator, "say which study goes first"},
	{http.MethodPatch, prefix + "/studies/{study}/budget", Operator, "change the limits of a study"},
	{http.MethodPatch, prefix + "/queue/{study}", Operator, "run trials first, or take them back"},
	{http.MethodPatch, prefix + "/queue/{study}/{trial}", Operator, "run a trial first, or take it back"},
	{http.MethodPost, prefix + "/workers/{worker}/resume", Operator, "have a worker go on"},
	{http.MethodPost, prefix + "/workers/{worker}/drain", Operator, "have a worker take nothing more"},
	{http.MethodPost, prefix + "/workers/{worker}/evict", Operator, "have a worker end what runs, too"},

	// A worker has the inputs of its runs, and puts what is on record of them.
	{http.MethodGet, blobPath, Porter, "a file by the SHA-256 of its bytes"},
	{http.MethodPut, blobPath, Porter, "have a file kept, by the SHA-256 of its bytes"},

	{http.MethodGet, prefix + "/server", Admin, "what the server is"},
	{http.MethodGet, prefix + "/tokens", Admin, "the tokens, without their secrets"},
	{http.MethodPost, prefix + "/tokens", Admin, "make a token"},
	{http.MethodGet, prefix + "/audit", Admin, "who made and ended tokens, and which applications workers offered"},
	{http.MethodDelete, prefix + "/tokens/{token}", Admin, "end a token"},
}

// most returns how many bytes a body of the route has at most; 0 if its quota says.
func (r Route) most() int64 {
	switch r.Path {
	case blobPath:
		return 0
	case prefix + "/plan":
		return maxPlan
	}
	return maxBody
}

// Changes reports whether a request is one that may change something: all are but those that look,
// and those that send what is to be computed with.
func Changes(r *http.Request) bool {
	computes := r.URL.Path == prefix+"/plan" ||
		strings.HasPrefix(r.URL.Path, prefix+"/studies/") && strings.HasSuffix(r.URL.Path, "/predict")
	return r.Method != http.MethodGet && r.Method != http.MethodHead && !(r.Method == http.MethodPost && computes)
}

// routeOf returns the row of a method and a path as it is registered.
func routeOf(method, path string) (Route, bool) {
	for _, r := range Routes {
		if r.Method == method && r.Path == path {
			return r, true
		}
	}
	return Route{}, false
}

// ofPattern returns the row of a pattern of the mux, "GET /path". A HEAD is let through to
// what answers GET.
func ofPattern(pattern string) (Route, bool) {
	method, path, _ := strings.Cut(pattern, " ")
	return routeOf(method, path)
}
