package mcp

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The inputs of the tools.
type (
	checkInput struct {
		File string `json:"file" jsonschema:"path of the study file"`
	}
	startInput struct {
		Name   string `json:"name" jsonschema:"name of the study on record"`
		File   string `json:"file" jsonschema:"path of the study file"`
		Budget string `json:"budget,omitempty" jsonschema:"time for the study, such as 90s, 10m or 2h"`
		Trials int    `json:"trials,omitempty" jsonschema:"number of trials, earlier ones included"`
	}
	compareInput struct {
		Name   string   `json:"name" jsonschema:"a name for wait and stop"`
		Before []string `json:"before" jsonschema:"program and arguments of the first command, or one shell line"`
		After  []string `json:"after" jsonschema:"the second command"`
		Shell  bool     `json:"shell,omitempty" jsonschema:"run each command, one text, by sh -c"`
		Budget string   `json:"budget,omitempty" jsonschema:"time for all runs, such as 90s or 10m"`
		Pairs  int      `json:"pairs,omitempty" jsonschema:"most runs of each command"`
		FailIf string   `json:"fail_if,omitempty" jsonschema:"limit of the gate, such as 'slower > 3%'"`
		Metric string   `json:"metric,omitempty" jsonschema:"elapsed (the default), cpu, max_rss, ..., or NAME=SOURCE"`
	}
	nameInput struct {
		Name string `json:"name" jsonschema:"name of the study, or of a comparison of this session"`
	}
	waitInput struct {
		Name    string `json:"name" jsonschema:"name of a study or a comparison of this session"`
		Seconds int    `json:"seconds,omitempty" jsonschema:"longest wait, 45 by default"`
	}
	studyInput struct {
		Name string `json:"name" jsonschema:"name of the study on record"`
	}
	trialsInput struct {
		Name  string `json:"name" jsonschema:"name of the study on record"`
		Skip  int    `json:"skip,omitempty" jsonschema:"number of trials to skip"`
		Limit int    `json:"limit,omitempty" jsonschema:"most trials to return, 100 by default"`
	}
)

// noBudget is the error of a call that states neither a time nor a number of these.
func noBudget(of string) error {
	return fmt.Errorf("no budget is stated, and nothing was started: give budget, such as 10m, or %s", of)
}

func (a *session) check(r request, in checkInput) (out, note string, err error) {
	return a.read(r, "tune", path(in.File), "--dry-run")
}

// path returns the path of a file, which no command takes for a flag.
func path(file string) string {
	if strings.HasPrefix(file, "-") {
		return "./" + file
	}
	return file
}

func (a *session) start(r request, in startInput) (out, note string, err error) {
	if err := in.check(); err != nil {
		return "", "", err
	}
	if _, _, err := a.ask(r, "show", in.Name); err == nil {
		return "", "", fmt.Errorf("study %s is on record: resume it, or start a study with another name", in.Name)
	}
	return a.tune(r, in)
}

func (a *session) resume(r request, in startInput) (out, note string, err error) {
	if err := in.check(); err != nil {
		return "", "", err
	}
	if _, _, err := a.ask(r, "show", in.Name); err != nil {
		return "", "", err
	}
	return a.tune(r, in)
}

func (in startInput) check() error {
	if in.Name == "" {
		return errors.New("the study needs a name")
	}
	if in.Budget == "" && in.Trials <= 0 {
		return noBudget("trials")
	}
	return nil
}

// tune begins a study whose file has no mistake.
func (a *session) tune(r request, in startInput) (out, note string, err error) {
	if _, _, err := a.check(r, checkInput{in.File}); err != nil {
		return "", "", err
	}
	args := append([]string{"tune", path(in.File), "--json", "--study=" + in.Name}, a.Place...)
	out, note, err = a.begin(in.Name, !a.Hosted, args, map[string]string{"budget": in.Budget, "trials": number(in.Trials)})
	if err == nil && a.Hosted {
		err = a.hosted(r, in.Name)
	}
	return out, note, err
}

// hosted waits until the server has a study, which goes on from then on if the client leaves. It returns earlier if the
// command has ended, with its error as the result of the run.
func (a *session) hosted(r request, name string) error {
	c, err := a.running(name)
	if err != nil {
		return err
	}
	for {
		if _, _, err := a.ask(r, "show", name); err == nil {
			return nil
		}
		select {
		case <-c.done:
			return nil
		case <-r.Done():
			return r.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (a *session) compare(_ request, in compareInput) (out, note string, err error) {
	if in.Budget == "" && in.Pairs <= 0 {
		return "", "", noBudget("pairs")
	}
	if slices.Contains(slices.Concat(in.Before, in.After), "--") {
		return "", "", errors.New("an argument -- parts commands: write both as one text each, and set shell")
	}
	args := []string{"compare", "--json", "--shell=" + strconv.FormatBool(in.Shell)}
	return a.begin(in.Name, true, args, map[string]string{
		"budget": in.Budget, "pairs": number(in.Pairs), "fail-if": in.FailIf, "metric": in.Metric,
	}, slices.Concat([]string{"--"}, in.Before, []string{"--"}, in.After)...)
}

// number returns the value of a flag, "" for 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// wait returns the result of a run that has ended, or the progress of one that goes on.
func (a *session) wait(r request, in waitInput) (out, note string, err error) {
	c, err := a.running(in.Name)
	if err != nil {
		return "", "", err
	}
	if in.Seconds <= 0 {
		in.Seconds = 45 // many clients give a call up after 60 s
	}
	began := time.Now()
	limit := time.After(time.Duration(in.Seconds) * time.Second)
	for {
		last, more := c.latest(1)
		r.progress(time.Since(began).Seconds(), last)
		select {
		case <-c.done:
			return c.result()
		case <-more:
		case <-time.After(5 * time.Second): // a client that receives progress waits on
		case <-limit:
			lines, _ := c.latest(20)
			return strings.TrimSpace(fmt.Sprintf("%s\n%s is running: wait again, or stop it", lines, in.Name)), "", nil
		case <-r.Done():
			return "", "", r.Err()
		}
	}
}

// stop ends a run, and returns its result.
func (a *session) stop(r request, in nameInput) (out, note string, err error) {
	c, err := a.running(in.Name)
	switch {
	case a.Hosted && (err != nil || !c.here):
		if out, note, failed := a.ask(r, "stop", in.Name); failed != nil || err != nil {
			return out, note, failed
		}
	case err != nil:
		return "", "", err
	default:
		c.end()
	}
	select {
	case <-c.done:
		return c.result()
	case <-r.Done():
		return "", "", r.Err()
	}
}

func (a *session) answer(r request, in studyInput) (out, note string, err error) {
	return a.ask(r, "show", in.Name)
}

// ask runs a command of studies for one of them.
func (a *session) ask(r request, command, study string) (out, note string, err error) {
	return a.read(r, slices.Concat([]string{"study", command, "--json"}, a.Place, []string{"--", study})...)
}

func (a *session) explain(r request, in studyInput) (out, note string, err error) {
	return a.ask(r, "explain", in.Name)
}

// trials returns the lines of study trials --json as one object.
func (a *session) trials(r request, in trialsInput) (out, note string, err error) {
	out, _, err = a.ask(r, "trials", in.Name)
	if err != nil {
		return "", "", err
	}
	if in.Limit <= 0 {
		in.Limit = 100
	}
	all := strings.FieldsFunc(out, func(c rune) bool { return c == '\n' })
	first := min(max(in.Skip, 0), len(all))
	shown := all[first:min(first+in.Limit, len(all))]
	return fmt.Sprintf(`{"total":%d,"trials":[%s]}`, len(all), strings.Join(shown, ",\n")), "", nil
}
