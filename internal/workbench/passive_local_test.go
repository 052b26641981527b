package workbench

import (
	"maps"
	"testing"

	"github.com/assay-run/assay"
)

// passiveRun measures a run during which files of a machine change.
func passiveRun(t *testing.T, before, after map[string]string) assay.Measurement {
	t.Helper()
	m := fakeMachine(t, before)
	p := passive{fakeRun{func() {
		for name, text := range after {
			if err := writeFile(m.root+name, text); err != nil {
				t.Fatal(err)
			}
		}
	}}, m}
	got, err := p.Run(t.Context(), assay.Job{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Without NFS, storage is counted for our cgroup, or for all disks if there is no cgroup.
// Partitions and devices that are made of disks count nothing twice.
func TestPassiveLocal(t *testing.T) {
	const v2 = "30 20 0:1 / /cg rw - cgroup2 cgroup2 rw\n"
	group := map[string]string{
		"/proc/self/mountinfo": v2, "/proc/self/cgroup": "0::/us\n",
		"/cg/us/io.stat":     "8:0 rbytes=1000 wbytes=10 rios=1 wios=1 dbytes=0 dios=0\n",
		"/cg/us/io.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0 avg60=0 avg300=0 total=0\n",
		"/proc/diskstats":    "8 0 sda 1 0 2 3 4 0 6 7 0 8 9\n", "/sys/block/sda/size": "1",
	}
	disks := map[string]string{
		"/proc/diskstats": "8 0 sda 10 0 20 1000 10 0 20 1000 0 8 9\n8 1 sda1 9 0 20 1000 9 0 20 1000 0 8 9\n" +
			"7 0 loop0 5 0 5 5 5 0 5 5 0 1 1\n253 0 dm-0 5 0 5 5 5 0 5 5 0 1 1\n",
		"/sys/block/sda/size": "1", "/sys/block/loop0/size": "1", "/sys/block/dm-0/size": "1",
		"/proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
	}
	later := map[string]string{
		"/proc/diskstats": "8 0 sda 15 0 120 3000 11 0 30 1500 0 8 9\n8 1 sda1 14 0 120 3000 10 0 30 1500 0 8 9\n" +
			"7 0 loop0 99 0 99 99 99 0 99 99 0 1 1\n253 0 dm-0 99 0 99 99 99 0 99 99 0 1 1\n",
	}
	without := maps.Clone(disks)
	delete(without, "/proc/pressure/io")
	unknown := maps.Clone(group)
	delete(unknown, "/cg/us/io.pressure")
	for name, c := range map[string]struct {
		before, after map[string]string
		want          map[string]float64
		missing       string
	}{
		"our cgroup": {group, map[string]string{
			"/cg/us/io.stat": "8:0 rbytes=6000 wbytes=10 rios=4 wios=1 dbytes=0 dios=0\n8:16 rbytes=5 wbytes=0 rios=1 " +
				"wios=0\n",
			"/cg/us/io.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1250000\nfull avg10=0 avg60=0 avg300=0 " +
				"total=9\n",
		}, map[string]float64{
			"cpu": 1, "data_flow": 5005, "read_bytes": 5005, "write_bytes": 0, "requests": 4,
			"network_time": 0, "disk_time": 0.25, "stall_time": 0.25,
		}, ""},
		"all disks": {disks, map[string]string{
			"/proc/diskstats":   later["/proc/diskstats"],
			"/proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n",
		}, map[string]float64{
			"cpu": 1, "data_flow": 110 * 512, "read_bytes": 100 * 512, "write_bytes": 10 * 512, "requests": 6,
			"network_time": 0, "disk_time": 2.5, "stall_time": 2,
		}, ""},
		"disks without PSI": {without, later, map[string]float64{
			"cpu": 1, "data_flow": 110 * 512, "read_bytes": 100 * 512, "write_bytes": 10 * 512, "requests": 6,
			"network_time": 0, "disk_time": 2.5,
		}, ""},
		"a group without PSI": {unknown, nil, map[string]float64{
			"cpu": 1, "data_flow": 0, "read_bytes": 0, "write_bytes": 0, "requests": 0,
		}, "disk_time"},
		"nothing": {nil, nil, map[string]float64{"cpu": 1, "read_bytes": 5}, "data_flow"},
	} {
		got := passiveRun(t, c.before, c.after)
		if !maps.EqualFunc(got.Metrics, c.want, func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }) {
			t.Errorf("%s: got %v, want %v", name, got.Metrics, c.want)
		}
		if c.missing != "" && got.Missing[c.missing] == "" || c.missing == "" && len(got.Missing) > 0 {
			t.Errorf("%s: missing %v", name, got.Missing)
		}
	}
}
