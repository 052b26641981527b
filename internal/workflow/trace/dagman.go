package trace

import (
	"bufio"
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay/workflow"
)

// This file reads the records of Pegasus and HTCondor DAGMan: the .dag file, and for run times the
// .dagman.out, the jobstate.log or kickstart's records.

var dagKeyword = regexp.MustCompile(`(?im)^\s*(JOB|FINAL|SUBDAG|SERVICE|PROVISIONER)\s+\S+\s+\S+`)

// isDagFile recognises a .dag file by its first command.
//
// Any of the first lines may be the command: comments and settings such as CONFIG often come first.
func isDagFile(head []byte) bool { return dagKeyword.Match(head) }

// readDagFile reads JOB and PARENT lines. Other commands do not matter for run times.
//
// Commands are defined in the HTCondor manual, "DAGMan workflows", in any case of letters. A SUBDAG is
// one task; the tasks inside are in a file of their own. SPLICE is ignored like other commands. The run
// times come with the records of other sources.
func (m *merger) readDagFile(name string, r *bufio.Reader) error {
	m.b.Format = "dagman"
	if m.b.System == "" {
		m.b.System = "DAGMan"
	}
	return eachLine(name, r, func(n int32, line string) error {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			return nil
		}
		pos := lineCol(n, 1)
		switch strings.ToUpper(f[0]) {
		case "JOB", "FINAL", "PROVISIONER", "SERVICE":
			if len(f) < 3 {
				return m.b.Errorf(pos, "%s without a name and a file", f[0])
			}
			return m.dagTask(f[1], pos)
		case "SUBDAG":
			if len(f) < 4 {
				return m.b.Errorf(pos, "SUBDAG without EXTERNAL, a name and a file")
			}
			return m.dagTask(f[2], pos)
		case "PARENT":
			return m.dagEdges(f[1:], pos)
		}
		return nil
	})
}

// dagTask adds the task of a JOB line. Names that Pegasus gives to the jobs it adds by itself make it
// auxiliary; "cleaup" is spelled so in old versions.
//
// The prefix is the kind of such a job. If several fit, the last in the list counts.
func (m *merger) dagTask(id string, pos workflow.Pos) error {
	t := newTask()
	t.ID, t.Kind = id, kindOfName(id)
	for _, prefix := range []string{
		"stage_in", "stage_out", "stage_inter", "create_dir", "cleanup", "clean_up",
		"register", "chmod", "cleaup",
	} {
		if strings.HasPrefix(id, prefix) {
			t.Auxiliary, t.Kind = true, prefix
		}
	}
	_, err := m.b.Task(t, pos)
	return err
}

// dagEdges reads "a b CHILD c d".
//
// Every parent goes before every child. f is the text after PARENT. The last word CHILD counts.
func (m *merger) dagEdges(f []string, pos workflow.Pos) error {
	at := -1
	for i, s := range f {
		if strings.EqualFold(s, "CHILD") {
			at = i
		}
	}
	if at < 1 || at == len(f)-1 {
		return m.b.Errorf(pos, "PARENT without parents, CHILD and children")
	}
	for _, p := range f[:at] {
		for _, c := range f[at+1:] {
			m.b.Edge(p, c, pos)
		}
	}
	return nil
}

// isDagmanOut recognises the log of DAGMan by its name in the first lines, or by
// an event.
//
// The name of the daemon is in the banner with which each log begins.
func isDagmanOut(head []byte) bool {
	return bytes.Contains(head, []byte("condor_scheduniv_exec")) || bytes.Contains(head, []byte("CONDOR_DAGMAN")) ||
		dagEvent.Match(head)
}

// "04/26/12 17:57:31 Event: ULOG_EXECUTE for Condor Node map_1 (12.0.0) {04/26/12 17:57:20}"
//
// Groups: time of the line, event, node, time of the event.
var dagEvent = regexp.MustCompile(`(?m)^(\d\d/\d\d(?:/\d\d)? \d\d:\d\d:\d\d)(?:\.\d+)? ` +
	`.*Event: (ULOG_\w+) for \w+ Node (\S+)(?: \([\d.]+\))?(?:.*\{(\d\d/\d\d/\d\d \d\d:\d\d:\d\d)\})?`)

// readDagmanOut takes run times from the events EXECUTE and JOB_TERMINATED.
//
// The time in braces, which newer versions write, is the time of the event; the time of the line is when
// DAGMan read the event, up to some seconds later. Times have no zone and, in old versions, no year.
// They are taken as UTC, which does not matter, since only differences are used; a run over the New Year
// without a year has a negative length and is dropped by ran. The end of a POST script counts only where
// no end of the job was seen.
func (m *merger) readDagmanOut(name string, r *bufio.Reader) error {
	began := map[string]workflow.Seconds{}
	return eachLine(name, r, func(n int32, line string) error {
		e := dagEvent.FindStringSubmatch(line)
		if e == nil {
			return nil
		}
		when := e[1]
		if e[4] != "" {
			when = e[4]
		}
		layout := "01/02/06 15:04:05"
		if len(when) == 14 {
			layout = "01/02 15:04:05"
		}
		t, err := time.Parse(layout, when)
		if err != nil {
			return m.b.Errorf(lineCol(n, 1), "%q is not a time", when)
		}
		at := workflow.Seconds(t.Unix())
		switch e[2] {
		case "ULOG_EXECUTE":
			began[e[3]] = at
		case "ULOG_JOB_TERMINATED", "ULOG_POST_SCRIPT_TERMINATED":
			m.ran(name, e[3], began, at, lineCol(n, 1))
		}
		return nil
	})
}

// ran adds a record of a task from when it began until at.
//
// began maps a task to the start of the run that has not ended, in seconds; the entry is used up, so
// that the first of several end events counts. An end without a start, or before it, is dropped without
// an error: logs are rotated and cut. Failed runs are recorded like others, and the record of the last
// run wins: see complete.
func (m *merger) ran(file, task string, began map[string]workflow.Seconds, at workflow.Seconds, pos workflow.Pos) {
	from, ok := began[task]
	if !ok || at < from {
		return
	}
	delete(began, task)
	t := newTask()
	t.Run, t.Start = at-from, from
	m.records = append(m.records, record{key: task, task: t, end: at, file: file, pos: pos})
}

// "1335477451 create_dir_x EXECUTE 3.0 local - 1"
var jobstateLine = regexp.MustCompile(`(?m)^(\d{9,11}(?:\.\d+)?) (\S+) ` +
	`(EXECUTE|SUBMIT|JOB_TERMINATED|JOB_SUCCESS|JOB_FAILURE|\*\*\*) `)

// isJobstate recognises a line of Pegasus' jobstate.log.
func isJobstate(head []byte) bool { return jobstateLine.Match(head) }

// readJobstate takes run times from EXECUTE to the last event of each job, in
// seconds since 1970.
//
// The format is in the Pegasus manual, "Monitoring": time, job, event, and fields that do not
// matter here. The first end event after an EXECUTE counts; JOB_SUCCESS follows JOB_TERMINATED by
// some seconds. JOB_FAILURE ends nothing.
func (m *merger) readJobstate(name string, r *bufio.Reader) error {
	if m.b.System == "" || m.b.System == "DAGMan" {
		m.b.System = "Pegasus"
	}
	began := map[string]workflow.Seconds{}
	return eachLine(name, r, func(n int32, line string) error {
		// The pattern wants a space behind the event, which may be the last word of the line.
		e := jobstateLine.FindStringSubmatch(line + " ")
		if e == nil {
			return nil
		}
		at, err := strconv.ParseFloat(e[1], 64)
		if err != nil {
			return m.b.Errorf(lineCol(n, 1), "%q is not a time", e[1])
		}
		switch e[3] {
		case "EXECUTE":
			began[e[2]] = at
		case "JOB_TERMINATED", "JOB_SUCCESS":
			m.ran(name, e[2], began, at, lineCol(n, 1))
		}
		return nil
	})
}

// isKickstart recognises a record of kickstart, as XML or as YAML.
//
// It searches all first bytes: a job may print before its record.
func isKickstart(head []byte) bool {
	return bytes.Contains(head, []byte("<invocation")) || bytes.Contains(head, []byte("- invocation:"))
}

var (
	// The fields of an invocation in YAML are indented by two spaces; deeper ones are of other
	// things.
	xmlAttribute = regexp.MustCompile(`([\w-]+)="([^"]*)"`)
	yamlField    = regexp.MustCompile(`^  (duration|hostname|transformation|derivation|start):\s*"?([^"]*?)"?\s*$`)
)

// readKickstart reads the records of pegasus-kickstart, XML or YAML, one for each invocation. The job is
// the file's name up to ".out"; its run time is the sum over the invocations of a clustered job.
//
// A tag in XML may run over several lines; only the attributes of the opening one are read. tag is the
// part of it that has been read, "" outside of one. attributes are the attributes of the invocation in
// YAML, nil before the first. at is the line where either began. Each attempt at a job has a source of
// its own (.out.000, .out.001): these are records of their own, of which the last source counts.
func (m *merger) readKickstart(name string, r *bufio.Reader) error {
	job, _, _ := strings.Cut(baseName(name), ".out")
	var attributes map[string]string
	at, tag := int32(0), ""
	err := eachLine(name, r, func(n int32, line string) error {
		if f := yamlField.FindStringSubmatch(line); f != nil && attributes != nil {
			attributes[f[1]] = f[2]
		}
		if strings.HasPrefix(line, "- invocation:") {
			if err := m.invocation(name, job, attributes, at); err != nil {
				return err
			}
			attributes, at = map[string]string{}, n
			return nil
		}
		if i := strings.Index(line, "<invocation"); i >= 0 {
			tag, at, line = " ", n, line[i:]
		}
		if tag == "" {
			return nil
		}
		head, _, end := strings.Cut(line, ">")
		if tag += " " + head; !end {
			return nil
		}
		xml := map[string]string{}
		for _, a := range xmlAttribute.FindAllStringSubmatch(tag, -1) {
			xml[a[1]] = a[2]
		}
		tag = ""
		return m.invocation(name, job, xml, at)
	})
	if err != nil {
		return err
	}
	if tag != "" {
		return m.b.Errorf(lineCol(at, 1), "the invocation is cut short")
	}
	return m.invocation(name, job, attributes, at)
}

// invocation adds a record's run time to its job: a clustered job has several, one after the other. a is
// the record's attributes, nil for none.
//
// Kind, machine and start are from the first invocation, and the end is from the last: an invocation
// whose start is not recorded begins where the one before it ended. The kind is the transformation
// without name space and version, "ns::name:1.0". The search for the job's record is linear in the
// records so far.
func (m *merger) invocation(file, job string, a map[string]string, line int32) error {
	if a == nil {
		return nil
	}
	d, err := strconv.ParseFloat(a["duration"], 64)
	if err != nil || !(d >= 0) || math.IsInf(d, 1) {
		return m.b.Errorf(lineCol(line, 1), "kickstart record with duration %q", a["duration"])
	}
	began := math.NaN()
	if s, err := time.Parse(time.RFC3339, a["start"]); err == nil {
		began = workflow.Seconds(s.UnixNano()) / 1e9
	}
	for i := range m.records {
		if r := &m.records[i]; r.key == job && r.file == file {
			r.task.Run += d
			if math.IsNaN(began) {
				began = r.end
			}
			if end := began + d; end > r.end || math.IsNaN(r.end) {
				r.end = end
			}
			return nil
		}
	}
	t := newTask()
	t.Run, t.Start = d, began
	t.Kind = a["transformation"]
	if i := strings.LastIndex(t.Kind, "::"); i >= 0 {
		t.Kind = t.Kind[i+2:]
	}
	t.Kind, _, _ = strings.Cut(t.Kind, ":")
	if h := a["hostname"]; h != "" {
		t.Machine = int32(m.b.Machine(h))
	}
	m.records = append(m.records, record{key: job, task: t, end: began + d, file: file, pos: lineCol(line, 1)})
	return nil
}
