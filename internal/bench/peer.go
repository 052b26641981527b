package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
)

// This file plays searches of other programs. Such a program reads lines of JSON and answers each by a line:
//
//	{"seed": 1, "runs": 20, "ordered": [true, false], "rows": [[0, 1], ...]}   a search begins
//	{"run": 3, "best": null}                                                  run row 3, nothing is recommended
//	{"value": 4.1, "ok": true, "seconds": 4.1}                                the run of that row
//	{"run": 0, "best": 3}
//
// A row lists the place of each parameter's value among all of them; ordered distinguishes ranks from categories.
// The value is to be minimized. "run" is null when the search ends.

// A peerBegin begins a search.
type peerBegin struct {
	Seed    uint64  `json:"seed"`
	Runs    int     `json:"runs"` // median runs within the budget
	Ordered []bool  `json:"ordered"`
	Rows    [][]int `json:"rows"`
}

// A peerRun is a run that ended.
type peerRun struct {
	Value   float64 `json:"value"`
	OK      bool    `json:"ok"`
	Seconds float64 `json:"seconds"`
}

// A peerChoice is the answer to either.
type peerChoice struct {
	Run  *int `json:"run"`
	Best *int `json:"best"`
}

// peers are the processes of one program, one for each worker.
type peers struct {
	command string
	mu      sync.Mutex
	all     map[int]*peerProcess
}

type peerProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// chooser begins a search by the process of a worker, which it starts if need be.
func (p *peers) chooser(ctx context.Context, worker int, of *Problem, seed uint64) (chooser, error) {
	p.mu.Lock()
	process := p.all[worker]
	p.mu.Unlock()
	if process == nil {
		var err error
		if process, err = startPeer(ctx, p.command); err != nil {
			return nil, err
		}
		p.mu.Lock()
		p.all[worker] = process
		p.mu.Unlock()
	}
	c := &peerChooser{peerProcess: process}
	begin := peerBegin{Seed: seed, Runs: int(math.Round(float64(of.Time) / float64(of.Median)))}
	c.rows = slices.Collect(of.Space.All())
	begin.Ordered, begin.Rows = placesOf(of.Space, c.rows)
	return c, c.exchange(begin)
}

// close ends the processes.
func (p *peers) close() {
	for _, process := range p.all {
		process.in.Close()
		_ = process.cmd.Wait()
	}
}

func startPeer(ctx context.Context, command string) (*peerProcess, error) {
	p := &peerProcess{cmd: exec.CommandContext(ctx, "sh", "-c", "exec "+command)}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReader(out)
	return p, p.cmd.Start()
}

// placesOf returns which parameters are ordered, and each configuration by the places of its values among all values of
// the parameter.
func placesOf(space *assay.Space, configs []assay.Config) (ordered []bool, rows [][]int) {
	params := space.Params
	values := make([][]float64, len(params))
	for i, param := range params {
		ordered = append(ordered, param.Ordered())
		for _, c := range configs {
			values[i] = append(values[i], c[i])
		}
		slices.Sort(values[i])
		values[i] = slices.Compact(values[i])
	}
	for _, c := range configs {
		row := make([]int, len(params))
		for i := range params {
			row[i], _ = slices.BinarySearch(values[i], c[i])
		}
		rows = append(rows, row)
	}
	return ordered, rows
}

// A peerChooser is a search by a process.
type peerChooser struct {
	*peerProcess
	rows []assay.Config
	last peerChoice
}

// exchange sends a line and reads the choice that answers it.
func (c *peerChooser) exchange(line any) error {
	if err := json.NewEncoder(c.in).Encode(line); err != nil {
		return fmt.Errorf("%s: %w", c.cmd.Args[2], err)
	}
	text, err := c.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: no answer: %w", c.cmd.Args[2], err)
	}
	c.last = peerChoice{}
	if err := json.Unmarshal(text, &c.last); err != nil {
		return fmt.Errorf("%s: %q: %w", c.cmd.Args[2], text, err)
	}
	for _, at := range []*int{c.last.Run, c.last.Best} {
		if at != nil && (*at < 0 || *at >= len(c.rows)) {
			return fmt.Errorf("%s: %q: no such row", c.cmd.Args[2], text)
		}
	}
	return nil
}

func (c *peerChooser) next(time.Duration) (assay.Config, error) { return c.at(c.last.Run), nil }

func (c *peerChooser) add(_ assay.Config, value float64, ok bool, took time.Duration) error {
	return c.exchange(peerRun{value, ok, took.Seconds()})
}

func (c *peerChooser) answer() assay.Config { return c.at(c.last.Best) }

func (c *peerChooser) at(i *int) assay.Config {
	if i == nil {
		return nil
	}
	return c.rows[*i]
}

// newPeer returns the player of a text NAME=COMMAND.
func newPeer(text string) (Player, error) {
	name, command, _ := strings.Cut(text, "=")
	if name == "" || command == "" {
		return Player{}, assay.Errorf(assay.ClassUsage, "--peer %s: not NAME=COMMAND", text)
	}
	peers := &peers{command: command, all: map[int]*peerProcess{}}
	return Player{Name: name, choose: peers.chooser, close: peers.close}, nil
}
