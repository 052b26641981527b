package api

import (
	"context"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// prefix begins the paths of all routes of the first version.
const prefix = "/api/v1"

// A Route is a request that a server answers, and the least role that may make it.
type Route struct {
	Method, Path string
	Least        Role
	// Text is the summary, in one line.
	Text string

	handler  string // name of the function that answers it; a client names the route by it
	register func(*Server, Route)
	edit     []func(*huma.Operation)
	most     int64 // bytes that a body has at most; 0 if the quota of files limits it
	computes bool  // it changes nothing, though its method is not GET
}

// Routes is the one table of requests: a row has the method, the path, the least role, the summary, and
// the method of a group that answers, whose types are the input and the output. The mux, the OpenAPI
// document, the checks of roles and sizes, the calls of [Client] and the reference follow from it.
// A definition may need a greater role than its route: see [executes].
var Routes = []Route{
	outside(row("GET /healthz", Nobody, "whether the server is up", adminRoutes.getHealth)),
	documentAt("GET /openapi.json", "this document", (*Server).OpenAPI),
	documentAt("GET /openapi.yaml", "this document in YAML", (*Server).openAPIInYAML),

	metricsAt("GET /metrics", "the metrics of the server, in the text format of Prometheus"),

	row("GET /me", Viewer, "the name and the role of the caller", adminRoutes.getMe),
	row("GET /studies", Viewer, "the studies, by name", studyRoutes.getStudies),
	row("GET /studies/{study}", Viewer, "a study: its definition, state and best trial",
		studyRoutes.getStudy, notModified),
	row("GET /studies/{study}/trials", Viewer, "the trials, by id", studyRoutes.getTrials, notModified),
	row("GET /studies/{study}/trials/{trial}", Viewer, "one trial: its attempts, their reports, decisions about it",
		studyRoutes.getTrial, notes(aboutTrials)),
	row("GET /studies/{study}/events", Viewer, "a stream of events, from any position",
		studyRoutes.getEvents, streamsEvents),
	row("GET /studies/{study}/answer", Viewer, "the result so far: best trial, gain, time, final runs",
		lookRoutes.getAnswer, notModified),
	row("GET /studies/{study}/trials/{trial}/output", Viewer, "the output of a run, also while it is running",
		fileRoutes.getOutput, notes(aboutOutput)),
	row("GET /studies/{study}/trials/{trial}/files", Viewer, "the files kept from a run",
		fileRoutes.getFiles, notes(aboutFiles)),
	row("GET /studies/{study}/trials/{trial}/files/{name}", Viewer, "a file kept from a run",
		fileRoutes.getFile, sends),
	row("GET /studies/{study}/explain", Viewer, "the effect of each parameter on the objective",
		lookRoutes.getExplain, notModified, conflicts),
	row("GET /studies/{study}/noise", Viewer, "the noise of repeated runs", lookRoutes.getNoise, notModified, conflicts),
	row("GET /studies/{study}/similar", Viewer, "the most similar studies", lookRoutes.getSimilar, notModified, conflicts),
	row("GET /studies/{study}/pruned", Viewer, "the part of its space that earlier studies would leave out, and the risk",
		lookRoutes.getPruned, conflicts),
	row("GET /studies/{study}/report", Viewer, "a report as one HTML file",
		lookRoutes.getReport, notModified, conflicts, page),
	row("GET /studies/{study}/model", Viewer, "the cost model fitted to its runs",
		lookRoutes.getModel, notModified, conflicts),
	row("POST /studies/{study}/predict", Viewer, "predict run times on given resources by its cost model",
		lookRoutes.postPredict, computes, notes(aboutMachines)),
	row("GET /studies/{study}/asked", Viewer, "the trials of an external study that wait for results", askRoutes.getAsked),
	row("GET /compare", Viewer, "studies side by side",
		lookRoutes.getCompare, finds, notes("The others are compared with the first.")),
	row("GET /knowledge", Viewer, "groups of comparable studies", lookRoutes.getKnowledge),
	row("POST /plan", Viewer, "predict the time and the price of a workflow for numbers of slots",
		lookRoutes.postPlan, computes, largest(maxPlan)),
	row("GET /queue", Viewer, "waiting and running runs, in the order of claims", fleetRoutes.getQueue),
	row("GET /workers", Viewer, "the workers", fleetRoutes.getWorkers),

	row("POST /check", Operator, "check a definition without creating a study", lookRoutes.postCheck),
	// A definition that sets the program to execute needs an author.
	row("POST /studies", Operator, "create and run a study, or resume it", studyRoutes.postStudy),
	row("POST /studies/{study}/ask", Operator, "take trials of an external study", askRoutes.postAsk),
	row("POST /studies/{study}/tell", Operator, "report results of an external study",
		askRoutes.postTell, notes(aboutResults)),
	row("POST /studies/{study}/recall", Operator, "withdraw trials of an external study that got no result in time",
		askRoutes.postRecall),
	row("POST /studies/{study}/trials", Operator, "run given configurations", commandRoutes.postTrials),
	row("PATCH /studies/{study}/state", Operator, "run, pause or stop a study", commandRoutes.patchState),
	row("PATCH /studies/{study}/priority", Operator, "set the priority of a study", commandRoutes.patchPriority),
	row("PATCH /studies/{study}/budget", Operator, "change the limits of a study", commandRoutes.patchBudget),
	row("PATCH /queue/{study}", Operator, "run trials first, discard or restore them",
		commandRoutes.patchQueue, notes(aboutMoves)),
	row("PATCH /queue/{study}/{trial}", Operator, "run a trial first, discard or restore it",
		commandRoutes.patchQueued, notes(aboutMoves)),
	row("POST /workers/{worker}/resume", Operator, "let a worker take runs again", fleetRoutes.resumeWorker),
	row("POST /workers/{worker}/drain", Operator, "let a worker take no more runs", fleetRoutes.drainWorker),
	row("POST /workers/{worker}/evict", Operator, "let a worker take no more runs, and end its running ones",
		fleetRoutes.evictWorker),

	// A worker gets the inputs of its runs, and stores the files that the record of a run lists.
	row("GET /blobs/{hash}", AuthorOrWorker, "a file, by the SHA-256 of its bytes", fileRoutes.getBlob, sends, anySize),
	row("PUT /blobs/{hash}", AuthorOrWorker, "store a file, by the SHA-256 of its bytes",
		fileRoutes.putBlob, keepsBlob, anySize),

	row("GET /server", Admin, "the server: version, store, addresses", adminRoutes.getServer),
	row("GET /tokens", Admin, "the tokens, without their secrets", adminRoutes.getTokens),
	row("POST /tokens", Admin, "create a token", adminRoutes.postToken),
	row("GET /audit", Admin, "decisions about tokens, and the applications that workers offered", adminRoutes.getAudit),
	row("DELETE /tokens/{token}", Admin, "revoke a token", adminRoutes.deleteToken),
}

// A group has the handlers of one kind of resource, and shares the server with the other groups.
type group interface{ ~struct{ *Server } }

// A handler answers a request whose path, query, headers and body are an I with an O.
type handler[G group, I, O any] func(G, context.Context, *I) (*O, error)

// row returns a route of the first version. A pattern is "METHOD /path".
func row[G group, I, O any](
	pattern string, least Role, text string, do handler[G, I, O], edit ...func(*huma.Operation),
) Route {
	method, path, _ := strings.Cut(pattern, " ")
	r := Route{Method: method, Path: prefix + path, Least: least, Text: text, handler: nameOf(do), edit: edit}
	op := r.operation()
	r.most, r.computes = op.MaxBodyBytes, op.Metadata[computing] == true
	r.register = func(s *Server, r Route) {
		huma.Register(s.api, r.operation(), func(ctx context.Context, in *I) (*O, error) {
			out, err := do(G{s}, ctx, in)
			if err != nil {
				return nil, problem(err)
			}
			return out, nil
		})
	}
	return r
}

// outside returns a route that is the same in all versions.
func outside(r Route) Route {
	r.Path = strings.TrimPrefix(r.Path, prefix)
	return r
}

// documentAt returns the route of a text that describes the routes. It is made at the first request.
func documentAt(pattern, text string, make func(*Server) ([]byte, error)) Route {
	method, path, _ := strings.Cut(pattern, " ")
	return Route{Method: method, Path: path, Least: Viewer, Text: text, most: maxBody, register: func(s *Server, _ Route) {
		made := sync.OnceValues(func() ([]byte, error) { return make(s) })
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			b, err := made()
			if err != nil {
				answer(w, r, problem(err))
				return
			}
			w.Header().Set("Content-Type", "application/openapi+"+strings.TrimPrefix(path, "/openapi."))
			_, _ = w.Write(b) // the client has gone, if this fails
		})
	}}
}

// metricsAt returns the route of the metrics. It is no JSON, and no part of the document.
func metricsAt(pattern, text string) Route {
	method, path, _ := strings.Cut(pattern, " ")
	return Route{Method: method, Path: path, Least: Viewer, Text: text, most: maxBody, register: func(s *Server, _ Route) {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if s.o.Metrics == nil {
				answer(w, r, refuse(http.StatusNotFound, "this server has no metrics"))
				return
			}
			s.o.Metrics.ServeHTTP(w, r)
		})
	}}
}

// common are the refusals that any request may meet.
var common = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
	http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusServiceUnavailable, http.StatusInsufficientStorage,
}

// operation returns a route as the OpenAPI document has it.
func (r Route) operation() huma.Operation {
	op := huma.Operation{
		OperationID: operationID(r.Method, r.Path), Method: r.Method, Path: r.Path, Summary: r.Text,
		MaxBodyBytes: maxBody, BodyReadTimeout: answerTimeout, Errors: common[:len(common):len(common)],
		Extensions: map[string]any{"x-role": r.Least},
	}
	if r.Least != Nobody {
		op.Security = []map[string][]string{{"token": {}}}
	}
	if strings.Contains(r.Path, "{") {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	if r.Method != http.MethodGet {
		op.Errors = append(op.Errors, http.StatusConflict, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType, http.StatusRequestTimeout)
	}
	for _, e := range r.edit {
		e(&op)
	}
	return op
}

// operationID returns a name of a route: get-studies-study-trials.
func operationID(method, path string) string {
	path = strings.TrimPrefix(strings.TrimPrefix(path, prefix), "/")
	return strings.ToLower(method) + "-" + strings.NewReplacer("/", "-", "{", "", "}", "").Replace(path)
}

// computing is the mark of a route that only computes.
const computing = "computes"

// computes marks a request that sends data to compute with, and changes nothing.
func computes(op *huma.Operation) { op.Metadata = map[string]any{computing: true} }

// largest limits the body of a request to n bytes.
func largest(n int64) func(*huma.Operation) {
	return func(op *huma.Operation) { op.MaxBodyBytes = n }
}

// anySize leaves the size of a body to the quota of files.
func anySize(op *huma.Operation) { op.MaxBodyBytes = 0 }

// notes documents more of a request than its summary.
func notes(text string) func(*huma.Operation) {
	return func(op *huma.Operation) { op.Description = text }
}

// conflicts documents that the state of the study can be in the way of an answer.
func conflicts(op *huma.Operation) { op.Errors = append(op.Errors, http.StatusConflict) }

// finds documents that the query can name a study that does not exist.
func finds(op *huma.Operation) { op.Errors = append(op.Errors, http.StatusNotFound) }

// nameOf returns the name of a handler, by which a row is found. A method has only one.
func nameOf(method any) string {
	return runtime.FuncForPC(reflect.ValueOf(method).Pointer()).Name()
}

// byHandler are the rows by the names of their handlers.
var byHandler = sync.OnceValue(func() map[string]Route {
	all := make(map[string]Route, len(Routes))
	for _, r := range Routes {
		if _, twice := all[r.handler]; twice && r.handler != "" {
			panic("api: " + r.handler + " answers two routes")
		}
		all[r.handler] = r
	}
	return all
})

// routeTo returns the row of a handler. One without a row is a mistake of the program.
func routeTo[G group, I, O any](do handler[G, I, O]) Route {
	r, ok := byHandler()[nameOf(do)]
	if !ok {
		panic("api: " + nameOf(do) + " has no row in Routes")
	}
	return r
}

// Changes reports whether a request may change something. A route that computes does not.
func Changes(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	for _, row := range Routes {
		if row.computes && row.Method == r.Method && row.matches(r.URL.EscapedPath()) {
			return false
		}
	}
	return true
}

// matches reports whether a path is one of the route.
func (r Route) matches(path string) bool {
	pattern, parts := strings.Split(r.Path, "/"), strings.Split(path, "/")
	if len(pattern) != len(parts) {
		return false
	}
	for i, p := range pattern {
		if p != parts[i] && (!strings.HasPrefix(p, "{") || parts[i] == "") {
			return false
		}
	}
	return true
}

// routeOf returns the row of a registered method and path.
func routeOf(method, path string) (Route, bool) {
	for _, r := range Routes {
		if r.Method == method && r.Path == path {
			return r, true
		}
	}
	return Route{}, false
}

// ofPattern returns the row of a pattern of the mux, "GET /path". A HEAD is let through to the handler
// of GET.
func ofPattern(pattern string) (Route, bool) {
	method, path, _ := strings.Cut(pattern, " ")
	return routeOf(method, path)
}
