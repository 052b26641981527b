package api

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/result"
	"github.com/assay-run/assay/setup"
	"github.com/assay-run/assay/spec"
	"github.com/assay-run/assay/view"
)

// A Detail is a study with its definition.
type Detail struct {
	Study view.Study      `json:"study"`
	Spec  json.RawMessage `json:"spec" doc:"the definition, as it is on record"`
	// These are derived from the definition.
	Objective  result.Objective    `json:"objective"`
	Objectives []result.Objective  `json:"objectives,omitempty" nullable:"false" doc:"all, if there are several"`
	Params     []result.WholeParam `json:"params" nullable:"false"`
	Units      map[string]string   `json:"units" doc:"of metrics"`
	Learns     bool                `json:"learns,omitempty" doc:"its searcher learns a cost model"`
	Simulated  bool                `json:"simulated,omitempty" doc:"the times are from a recorded table"`
	Default    bool                `json:"default" doc:"the first trial is the configuration that the program has now"`
	// Resumed is of the answer to a submission.
	Resumed bool `json:"resumed,omitempty" doc:"it was there before"`
}

// study returns the entry of a study in a list.
func (s *Server) study(ctx context.Context, i Info) (view.Study, error) {
	out, err := s.brief(ctx, i)
	if err != nil {
		return out, err
	}
	known, err := s.savings.of(ctx, i.Summary)
	if err != nil {
		return out, err
	}
	out.Owner, out.Saved = known.owner, known.saved.Seconds()
	if a := known.answer; a != nil {
		out.Best, out.BestTrial, out.BestRuns, out.Gain, out.Keep = &a.Value, a.Trial, a.Runs, a.Gain, a.Keep
	}
	def, err := s.o.Store.Definition(ctx, i.Study)
	if err != nil {
		return out, err
	}
	goal, err := def.Goal()
	if err != nil {
		return out, err
	}
	for _, v := range known.curve {
		out.Curve = append(out.Curve, goal.Show(v))
	}
	return out, nil
}

// brief is study without the fields that require reading all trials: Saved is 0.
func (s *Server) brief(ctx context.Context, i Info) (view.Study, error) {
	def, err := s.o.Store.Definition(ctx, i.Study)
	if err != nil {
		return view.Study{}, err
	}
	goal, err := def.Goal()
	if err != nil {
		return view.Study{}, err
	}
	out := result.Study(i.Summary, goal)
	out.State, out.Priority, out.App, out.MachineClass = i.State, i.Priority, i.App, i.Class
	out.Running, out.Lost, out.Why, out.Lacks = i.Running, i.Lost.Seconds(), i.Why, i.Lacks
	// The fleet knows these of a running study; the class is then the class of its first machine.
	out.MachineClass = cmp.Or(out.MachineClass, def.Placement.Class)
	if out.App == "" || def.Asked {
		out.App = def.Application()
	}
	return out, nil
}

// detail returns a study with its definition.
func (s *Server) detail(ctx context.Context, i Info, brief bool) (d Detail, err error) {
	of := s.study
	if brief {
		of = s.brief
	}
	if d.Study, err = of(ctx, i); err != nil {
		return d, err
	}
	if d.Spec, err = s.o.Store.Spec(ctx, i.Study); err != nil {
		return d, err
	}
	r, err := result.Read(ctx, s.o.Store, i.Study)
	if err != nil {
		return d, err
	}
	d.Objective, d.Params, d.Units = result.NewObjective(r.Goal), result.NewParams(r.Params), r.Definition.Units()
	if r.Goal.Several() {
		d.Objectives = result.NewObjectives(r.Goal)
	}
	d.Learns = r.Definition.Search.Name == setup.LearningSearcher
	d.Simulated, d.Default = r.Definition.Replay != nil, r.Definition.HasDefault()
	return d, nil
}

// StudyPath names a study in a path.
type StudyPath struct {
	Study string `path:"study" minLength:"1" maxLength:"1024" doc:"the name of the study"`
}

// Cached has the validators of a conditional request.
type Cached struct {
	IfNoneMatch string `header:"If-None-Match" maxLength:"100" doc:"the ETag of the client's copy"`
}

// Written has the parameters common to all writes.
type Written struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"200" doc:"the same key within an hour is the same write"`
}

// tag returns the ETag of a study with that many events.
func tag(events int64) string { return strconv.Quote(strconv.FormatInt(events, 10)) }

// unchanged returns the not-modified response if the client is up to date, or nil.
func (c Cached) unchanged(events int64) error {
	for t := range strings.SplitSeq(c.IfNoneMatch, ",") {
		if t = strings.TrimPrefix(strings.TrimSpace(t), "W/"); t == tag(events) || t == "*" {
			return refuse(http.StatusNotModified, "")
		}
	}
	return nil
}

// see returns the study of a name if the request may see it.
func (s *Server) see(ctx context.Context, study string) (Info, error) {
	if !whoOf(ctx).sees(study) {
		return Info{}, noStudy(study)
	}
	i, err := s.o.Studies.Info(ctx, study)
	if err != nil && assay.ClassOf(err) == assay.ClassNotFound {
		err = noStudy(study)
	}
	return i, err
}

// noStudy returns the error for a study that does not exist, or that the caller may not see.
func noStudy(study string) error {
	return assay.Errorf(assay.ClassNotFound, "no study %q: %w", study, fs.ErrNotExist)
}

type listIn struct {
	After string `query:"after" minLength:"1" maxLength:"1024" doc:"the name before the first that is returned"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type listOut struct {
	Body struct {
		Studies []view.Study `json:"studies" nullable:"false"`
		Next    string       `json:"next" doc:"after of the next page; empty if this is the last"`
	}
}

// studyRoutes answer requests for the studies, their trials and their events.
type studyRoutes struct{ *Server }

func (s studyRoutes) getStudies(ctx context.Context, in *listIn) (*listOut, error) {
	all, err := s.o.Studies.Infos(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.Study, b.Study) })
	out := &listOut{}
	out.Body.Studies = []view.Study{}
	for _, i := range all {
		if i.Study <= in.After || !whoOf(ctx).sees(i.Study) {
			continue
		}
		if n := len(out.Body.Studies); n == in.Limit {
			out.Body.Next = out.Body.Studies[n-1].Study
			break
		}
		st, err := s.study(ctx, i)
		if err != nil {
			return nil, err
		}
		out.Body.Studies = append(out.Body.Studies, st)
	}
	return out, nil
}

type oneIn struct {
	StudyPath
	Cached
	Brief bool `query:"brief" doc:"leave out fields that need all trials: saved_s is 0"`
}

func (s studyRoutes) getStudy(ctx context.Context, in *oneIn) (*tagged[Detail], error) {
	i, err := s.see(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	if err := in.unchanged(i.Events); err != nil {
		return nil, err
	}
	out := &tagged[Detail]{ETag: tag(i.Events)}
	out.Body, err = s.detail(ctx, i, in.Brief)
	return out, err
}

type trialsIn struct {
	StudyPath
	Cached
	After  int64   `query:"after" minimum:"0" doc:"the id before the first that is returned"`
	Limit  int     `query:"limit" minimum:"1" maximum:"100000" default:"1000"`
	Format string  `query:"format" enum:"rows,columns" default:"rows" doc:"columns are smaller"`
	Fields []field `query:"fields" minItems:"1" maxItems:"30" nullable:"false" doc:"columns, with commas; all by default"`
}

func (s studyRoutes) getTrials(ctx context.Context, in *trialsIn) (*tagged[Trials], error) {
	i, err := s.see(ctx, in.Study)
	if err != nil {
		return nil, err
	}
	if err := in.unchanged(i.Events); err != nil {
		return nil, err
	}
	body, err := s.trials(ctx, in.Study, in.After, in.Limit, in.Format == "columns", namesOf(in.Fields))
	return &tagged[Trials]{tag(i.Events), body}, err
}

type submitIn struct {
	Written
	Body Submission
}

func (s studyRoutes) postStudy(ctx context.Context, in *submitIn) (*tagged[Detail], error) {
	began := s.o.Now()
	i, err := s.submit(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	out := &tagged[Detail]{ETag: tag(i.Events)}
	out.Body, err = s.detail(ctx, i, false)
	out.Body.Resumed = i.Created.Before(began)
	return out, err
}

// A Submission is a study to make.
type Submission struct {
	Name string `json:"name,omitempty" maxLength:"200" doc:"of the study; that in the definition by default"`
	// File and Spec are two forms of one thing.
	File string `json:"file,omitempty" doc:"the text of a study file"`
	// Asked applies to a file; a spec has its own.
	Asked bool            `json:"asked,omitempty" doc:"the study is external: the file has no command"`
	Spec  json.RawMessage `json:"spec,omitempty" type:"object" doc:"a definition as in GET studies/{study}"`
}

// definition parses and checks the definition of a submission.
func (b Submission) definition() (*spec.Study, error) {
	switch {
	case (b.File == "") == (len(b.Spec) == 0):
		return nil, assay.Errorf(assay.ClassUsage, "a study is defined by file or by spec: one of them")
	case b.File != "":
		var edit func(*spec.Study) error
		if b.Asked {
			edit = func(def *spec.Study) error {
				if !def.SetAsked() {
					return assay.Errorf(assay.ClassUsage, "study.yaml: workers of the server run this study: an external study "+
						"has neither command nor app nor replay")
				}
				return nil
			}
		}
		def, _, err := spec.Parse("study.yaml", []byte(b.File), edit)
		return def, err
	}
	def, err := spec.Decode(b.Spec)
	if err != nil {
		return nil, assay.WithClass(assay.ClassUsage, err)
	}
	_, err = def.Check()
	return def, err
}

// submit creates a study from a submission.
func (s *Server) submit(ctx context.Context, b Submission) (Info, error) {
	def, err := b.definition()
	if err != nil {
		return Info{}, err
	}
	if err := hosted(def); err != nil {
		return Info{}, err
	}
	who := whoOf(ctx)
	if def.Asked && !may(who.Role, Author) {
		return Info{}, refuse(http.StatusForbidden,
			"an external study needs the role %s; %s is %s", Author, who.Name, who.Role)
	}
	if what := def.Executes(); what != "" && !may(who.Role, Author) {
		return Info{}, refuse(http.StatusForbidden,
			"the definition sets programs or files of the machine (%s): this needs the role %s; %s is %s",
			what, Author, who.Name, who.Role)
	}
	if err := s.staged(def); err != nil {
		return Info{}, err
	}
	name := b.Name
	if name == "" {
		name = def.Name
	}
	if name != "" && !who.sees(name) {
		return Info{}, refuse(http.StatusForbidden, "the name of a study of %s begins with one of: %s",
			who.Name, strings.Join(who.Scope, ", "))
	}
	return s.o.Studies.Submit(ctx, def, name, who.Name)
}

// Studies returns the studies that the client may see, by name.
func (c *Client) Studies(ctx context.Context) ([]view.Study, error) {
	var all []view.Study
	for in := (&listIn{Limit: 1000}); ; {
		page, err := call(ctx, c, studyRoutes.getStudies, in)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Body.Studies...)
		if in.After = page.Body.Next; in.After == "" {
			return all, nil
		}
	}
}

// Study returns a study with its definition.
func (c *Client) Study(ctx context.Context, study string) (Detail, error) {
	return body(call(ctx, c, studyRoutes.getStudy, &oneIn{StudyPath: StudyPath{study}}))
}

// Brief is Study without the values that need all trials: Saved is 0.
func (c *Client) Brief(ctx context.Context, study string) (Detail, error) {
	return body(call(ctx, c, studyRoutes.getStudy, &oneIn{StudyPath: StudyPath{study}, Brief: true}))
}

// Submit creates a study, or resumes the same one.
func (c *Client) Submit(ctx context.Context, s Submission) (Detail, error) {
	return body(call(ctx, c, studyRoutes.postStudy, &submitIn{Body: s}))
}

// Trials returns at most limit trials after an ID, in order of their IDs, and the ID after which there are
// more, or 0.
func (c *Client) Trials(ctx context.Context, study string, after int64, limit int) ([]view.Trial, int64, error) {
	in := &trialsIn{StudyPath: StudyPath{study}, After: after, Limit: limit}
	out, err := call(ctx, c, studyRoutes.getTrials, in)
	if err != nil {
		return nil, 0, err
	}
	return out.Body.Rows, out.Body.Next, nil
}
