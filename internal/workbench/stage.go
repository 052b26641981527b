package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/meterfs"
)

// A stage is the owner's side of the process that holds the storage, the network
// and the mount of one run. Its methods are safe for concurrent use.
type stage struct {
	cmd      *exec.Cmd
	stderr   bytes.Buffer
	in       io.WriteCloser
	net, mnt *os.File // the namespaces of the program
	user     *os.File // nil if it is ours

	mu  sync.Mutex
	dec *json.Decoder
}

// Time limits for an answer of the stage: at once, or after it has dropped the cached pages of a large
// data set, or has written the remaining data over a slow link.
const (
	stageTime     = 30 * time.Second
	stageLongTime = 15 * time.Minute
)

// stageMarker names the run in the environment of its stage, for Sweep.
const stageMarker = "ASSAY_STAGE"

// startStage starts a stage in namespaces of its own. The error matches
// assay.ErrSetup. If ctx is done, the stage is given up.
func startStage(ctx context.Context, id identity, spec stageSpec) (*stage, error) {
	s, err := launchStage(ctx, id, spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, assay.ErrSetup)
	}
	return s, nil
}

func launchStage(ctx context.Context, id identity, spec stageSpec) (*stage, error) {
	path, err := self()
	if err != nil {
		return nil, err
	}
	s := &stage{}
	s.cmd = exec.Command(path, stageCommand)
	s.cmd.Dir = "/"
	s.cmd.Env = []string{stageMarker + "=" + id.String()}
	s.cmd.Stderr = &s.stderr
	s.cmd.SysProcAttr = stageAttr(spec.Network)
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%w", err)
	}
	s.dec = json.NewDecoder(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the stage: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { s.cmd.Process.Kill() })
	defer stop()
	if _, err = s.ask(spec, stageLongTime); err == nil {
		err = s.openNamespaces()
	}
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

func (s *stage) openNamespaces() (err error) {
	dir := "/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/ns/"
	if s.mnt, err = os.Open(dir + "mnt"); err != nil {
		return fmt.Errorf("%w", err)
	}
	if s.net, err = os.Open(dir + "net"); err != nil {
		return fmt.Errorf("%w", err)
	}
	if unprivileged() {
		if s.user, err = os.Open(dir + "user"); err != nil {
			return fmt.Errorf("%w", err)
		}
	}
	return nil
}

// ask sends a message and returns the answer. A stage that does not answer in
// time is killed.
func (s *stage) ask(message any, wait time.Duration) (meterfs.Stats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	late := time.AfterFunc(wait, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	if err := json.NewEncoder(s.in).Encode(message); err != nil {
		return meterfs.Stats{}, s.lost(err)
	}
	var r stageReply
	if err := s.dec.Decode(&r); err != nil {
		return meterfs.Stats{}, s.lost(err)
	}
	if r.Error != "" {
		if r.Perm {
			return r.Stats, fmt.Errorf("%s: %w", r.Error, os.ErrPermission)
		}
		return r.Stats, errors.New(r.Error)
	}
	return r.Stats, nil
}

// lost returns the error of a stage that is gone.
func (s *stage) lost(err error) error {
	return fmt.Errorf("the stage has ended: %w", err)
}

// abort makes requests that wait fail, so that the program can be ended.
func (s *stage) abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(s.in).Encode(stageAsk{Do: askAbort}) // a stage that is gone needs none
}

// end ends the process.
func (s *stage) end() error {
	for _, f := range []*os.File{s.net, s.mnt, s.user} {
		if f != nil {
			f.Close()
		}
	}
	s.in.Close()
	late := time.AfterFunc(stageTime, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("the stage: %w: %s", err, strings.TrimSpace(s.stderr.String()))
	}
	return nil
}

// parentProcs returns the cgroup.procs file of the group above.
func parentProcs(procs string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(procs)), "cgroup.procs")
}
