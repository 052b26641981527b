package api

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A request of the client has the parts of its input as the server reads them.
func TestRequestOfAnInput(t *testing.T) {
	c := &Client{base: "http://assay"}
	name := StudyPath{"a/b {trial}"}
	patch := &stateIn{StudyPath: name, Written: Written{"k"}}
	patch.Body.State = "pause"
	for _, x := range []struct {
		to         Route
		in         any
		line, body string
		header     http.Header
	}{
		{
			routeTo(studyRoutes.getTrial), &trialIn{name, 7},
			"GET http://assay/api/v1/studies/a%2Fb%20%7Btrial%7D/trials/7", "",
			http.Header{},
		},
		{
			routeTo(studyRoutes.getTrials), &trialsIn{StudyPath: StudyPath{"s"}, Limit: 5, Fields: []field{"value", "reason"}},
			"GET http://assay/api/v1/studies/s/trials?fields=value%2Creason&limit=5", "",
			http.Header{},
		},
		{
			routeTo(lookRoutes.getCompare), &compareIn{[]Name{"a&b", "c"}},
			"GET http://assay/api/v1/compare?s=a%26b&s=c", "",
			http.Header{},
		},
		{
			routeTo(studyRoutes.getEvents), &eventsIn{StudyPath: StudyPath{"s"}, Last: "0"},
			"GET http://assay/api/v1/studies/s/events", "",
			http.Header{"Last-Event-Id": {"0"}},
		},
		{
			routeTo(commandRoutes.patchState), patch,
			"PATCH http://assay/api/v1/studies/a%2Fb%20%7Btrial%7D/state", `{"state":"pause"}`,
			http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {"k"}},
		},
		{
			routeTo(adminRoutes.deleteToken), &endIn{Written{"k"}, "t"}, "DELETE http://assay/api/v1/tokens/t", "",
			http.Header{"Idempotency-Key": {"k"}},
		},
	} {
		r, err := request(t.Context(), c, x.to, x.in)
		if err != nil {
			t.Fatal(err)
		}
		body := []byte{}
		if r.Body != nil {
			if body, err = io.ReadAll(r.Body); err != nil {
				t.Fatal(err)
			}
		}
		if line := r.Method + " " + r.URL.String(); line != x.line || string(body) != x.body {
			t.Errorf("%s %s, want %s %s", line, body, x.line, x.body)
		}
		for name, v := range x.header {
			if r.Header.Get(name) != v[0] {
				t.Errorf("%s: %s is %q, want %q", x.line, name, r.Header.Get(name), v[0])
			}
		}
		if len(r.Header) != len(x.header) {
			t.Errorf("%s: the headers are %v", x.line, r.Header)
		}
		if !x.to.matches(r.URL.EscapedPath()) {
			t.Errorf("%s is no request of %s", r.URL, x.to.Path)
		}
	}
	// Each write has a key of its own.
	one, err := request(t.Context(), c, routeTo(adminRoutes.postToken), &addIn{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := request(t.Context(), c, routeTo(adminRoutes.postToken), &addIn{})
	if a, b := one.Header.Get("Idempotency-Key"), two.Header.Get("Idempotency-Key"); err != nil || a == "" || a == b {
		t.Errorf("two writes have the keys %q and %q, %v", a, b, err)
	}
	large := &checkIn{Submission{File: strings.Repeat("x", maxBody)}}
	if _, err := request(t.Context(), c, routeTo(lookRoutes.postCheck), large); err == nil {
		t.Error("a body of more than a server takes is sent")
	}
}

// Each handler has one row, and a request that computes changes nothing.
func TestRowsOfHandlers(t *testing.T) {
	if got := routeTo(adminRoutes.getMe).Path; got != prefix+"/me" {
		t.Errorf("the route of getMe is %s", got)
	}
	for _, x := range []struct {
		method, path string
		changes      bool
	}{
		{"GET", "/studies/s/state", false},
		{"HEAD", "/plan", false},
		{"POST", "/plan", false},
		{"POST", "/plan/x", true},
		{"PATCH", "/plan", true},
		{"POST", "/studies/s/predict", false},
		{"POST", "/studies/a%2Fb/predict", false},
		{"POST", "/studies//predict", true},
		{"POST", "/studies/s/tell", true},
		{"DELETE", "/tokens/t", true},
	} {
		r, err := http.NewRequest(x.method, "http://assay"+prefix+x.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := Changes(r); got != x.changes {
			t.Errorf("%s %s changes something: %v, want %v", x.method, x.path, got, x.changes)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a handler without a row has a route")
		}
	}()
	routeTo(adminRoutes.unrouted)
}

func (adminRoutes) unrouted(context.Context, *struct{}) (*struct{}, error) { return nil, nil }
