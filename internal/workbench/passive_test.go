package workbench

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/assay-run/assay"
)

// mountStats is a file as the kernel writes it, with n reads.
func mountStats(n int) string {
	return fmt.Sprintf(`device proc mounted on /proc with fstype proc
device server:/export mounted on /data with fstype nfs4 statvers=1.1
	opts:	rw,vers=4.2,rsize=1048576,proto=tcp
	age:	1000
	events:	1 2 3
	bytes:	9 8 7 6 %d 300 4 5
	RPC iostats version: 1.1  p/v: 100003/4 (nfs)
	xprt:	tcp 0 0 1 0 0 20 20 0 40 0
	per-op statistics
	        NULL: 1 1 0 44 24 0 0 0 0
	        READ: %d %d 0 100 100 5 %d 900 0
	       WRITE: 3 3 0 100 100 5 60 70 0
	     GETATTR: 20 20 0 100 100 5 40 60 0

device server:/other mounted on /other with fstype nfs statvers=1.1
	bytes:	0 0 0 0 1000 0 0 0
	per-op statistics
	        READ: 1 1 0 1 1 0 10 10
`, 1000*n, n, n, 12*n)
}

// fakeRun is a runner whose run changes the machine.
type fakeRun struct{ change func() }

func (f fakeRun) Run(context.Context, assay.Job, func(assay.Measurement)) (assay.Measurement, error) {
	f.change()
	return assay.Measurement{Elapsed: time.Second, Metrics: map[string]float64{"read_bytes": 5, "cpu": 1}}, nil
}

func TestPassive(t *testing.T) {
	const file = "/proc/self/mountstats"
	m := fakeMachine(t, map[string]string{file: mountStats(0)})
	p := passive{fakeRun{func() {
		text := strings.ReplaceAll(mountStats(100), "GETATTR: 20 20 0 100 100 5 40", "GETATTR: 40 40 0 100 100 5 80")
		if err := writeFile(m.root+file, text); err != nil {
			t.Fatal(err)
		}
	}}, m}
	got, err := p.Run(t.Context(), assay.Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 100 reads of 12 ms, 20 times 2 ms for attributes: 2 ms of each are the network's.
	want := map[string]float64{
		"cpu": 1, "data_flow": 100e3, "read_bytes": 100e3, "write_bytes": 0,
		"requests": 120, "network_time": 0.24, "disk_time": 1,
	}
	if !maps.EqualFunc(got.Metrics, want, func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }) {
		t.Errorf("got %v, want %v", got.Metrics, want)
	}
	// The times are missing if nothing happens.
	p.Runner = fakeRun{func() {}}
	if got, err = p.Run(t.Context(), assay.Job{}, nil); err != nil || got.Metrics["data_flow"] != 0 ||
		got.Missing["disk_time"] == "" {
		t.Errorf("%+v, %v", got, err)
	}
	none := passive{fakeRun{func() {}}, fakeMachine(t, nil)}
	if got, err = none.Run(t.Context(), assay.Job{}, nil); err != nil || got.Missing["data_flow"] == "" ||
		got.Metrics["read_bytes"] != 5 {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzMountStats(f *testing.F) {
	f.Add(mountStats(3))
	f.Add("device a mounted on b with fstype nfs x\nbytes: 1 2 3 4 5 6 7 8\n" +
		"per-op\nX: 1 1 1 1 1 1 99999999999999999999 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		s := parseMountStats(strings.NewReader(text))
		network, disk, ok := s.sub(nfsStats{}).split()
		if network < 0 || disk < 0 && ok || s.read < 0 || s.mounts > strings.Count(text, "device") {
			t.Errorf("%+v: %v, %v", s, network, disk)
		}
	})
}
