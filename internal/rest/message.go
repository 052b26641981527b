package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/assay-run/assay/internal/online"
)

// Version is the version of the messages.
const Version = 1

// prefix is the path prefix of all routes of a session.
const prefix = "/v1/online/"

// maxBody is the largest body of a request, in bytes.
const maxBody = 64 << 10

// Bodies of requests.
type (
	joinRequest struct {
		Rank     int    `json:"rank"`
		Instance string `json:"instance"`
	}
	memberRequest struct {
		Instance string `json:"instance"`
	}
	reportRequest struct {
		Instance string   `json:"instance"`
		Turn     int64    `json:"turn"`
		Seconds  *float64 `json:"seconds"`
		Failed   string   `json:"failed"`
	}
)

// Response bodies; fetch and report encode theirs by hand.
type (
	joinAnswer struct {
		Version int    `json:"version"`
		Study   string `json:"study"`
		Mode    string `json:"mode"`
	}
	statusAnswer struct {
		Version      int             `json:"version"`
		Study        string          `json:"study"`
		Mode         string          `json:"mode"`
		State        string          `json:"state"`
		Best         json.RawMessage `json:"best"`
		Seconds      *float64        `json:"seconds,omitempty"` // of the best; absent while unknown
		Trials       int64           `json:"trials"`
		Running      int             `json:"running"`
		Ranks        int             `json:"ranks"`
		Turns        int64           `json:"turns"`
		Steps        int64           `json:"steps"`
		TotalSeconds float64         `json:"total_seconds"`
		Restarts     int             `json:"restarts"`
		Fault        string          `json:"fault,omitempty"`
	}
	problem struct {
		Status int    `json:"status"`
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
)

func newStatusAnswer(st online.Status, best json.RawMessage) statusAnswer {
	a := statusAnswer{
		Version: Version, Study: st.Study, Mode: st.Mode.String(), State: st.State,
		Best: best, Trials: st.Trials, Running: st.Running,
		Ranks: st.Ranks, Turns: st.Turns, Steps: st.Steps, TotalSeconds: st.Total, Restarts: st.Epoch,
	}
	if !math.IsInf(st.Value, 0) {
		a.Seconds = &st.Value
	}
	if st.Fault != nil {
		a.Fault = st.Fault.Error()
	}
	return a
}

// A refusal is an error with its HTTP status and a code for programs.
type refusal struct {
	status int
	code   string
	detail string
}

func (r *refusal) Error() string { return r.detail }

// refusals map the errors of a session to responses. Each of them means that nothing has changed.
var refusals = []struct {
	err    error
	status int
	code   string
}{
	{online.ErrNotJoined, http.StatusNotFound, "not-joined"},
	{online.ErrRankTaken, http.StatusConflict, "rank-taken"},
	{online.ErrNotFetched, http.StatusConflict, "not-fetched"},
	{online.ErrReported, http.StatusConflict, "reported"},
	{online.ErrBadReport, http.StatusUnprocessableEntity, "bad-report"},
	{online.ErrOver, http.StatusGone, "ended"},
}

func refuse(status int, code, detail string) *refusal { return &refusal{status, code, detail} }

// asRefusal returns the answer to an error.
func asRefusal(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return refuse(r.status, r.code, err.Error())
		}
	}
	return refuse(http.StatusInternalServerError, "internal", err.Error())
}

// decode reads one JSON object into v. Unknown keys are an error: a misspelt
// one would otherwise be a missing one.
func decode(body []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return refuse(http.StatusBadRequest, "bad-json", "the body is not the JSON object that is expected: "+err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return refuse(http.StatusBadRequest, "bad-json", "more than one JSON value in the body")
	}
	return nil
}

// appendTurn appends the answer to fetch.
func appendTurn(b []byte, t online.Turn, config []byte) []byte {
	b = append(b, `{"turn":`...)
	b = strconv.AppendInt(b, t.ID, 10)
	b = append(b, `,"trial":`...)
	b = strconv.AppendInt(b, t.Trial, 10)
	b = append(b, `,"config":`...)
	b = append(b, config...)
	return append(b, '}', '\n')
}
