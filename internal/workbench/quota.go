package workbench

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A quota is the processor time that the scheduler grants the processes of a group: a number of
// processors on the average over each period.
type quota struct {
	share  float64 // processors; +Inf without a quota
	period time.Duration
}

// cpuQuota returns the quota of this process, the least of its cgroup and of those above that
// it sees.
func (m machine) cpuQuota() quota {
	least := quota{share: math.Inf(1)}
	mounts, err := m.mounts()
	if err != nil {
		return least
	}
	own, err := m.read("/proc/self/cgroup")
	if err != nil {
		return least
	}
	paths := parseOwn(own)
	for _, c := range mounts {
		controller := ""
		if c.Type == v1Type {
			if controller = "cpu"; !slices.Contains(c.Options, controller) {
				continue
			}
		}
		path, ok := paths[controller]
		dir, below := c.At(path)
		if !ok || !below {
			continue
		}
		for strings.HasPrefix(dir, c.Point) {
			if q := m.quotaOf(dir); q.share < least.share {
				least = q
			}
			if dir == c.Point || dir == "/" {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	return least
}

// quotaOf reads the quota of one group.
func (m machine) quotaOf(dir string) quota {
	none := quota{share: math.Inf(1)}
	text, err := m.read(filepath.Join(dir, "cpu.max"))
	if err != nil {
		one, errQuota := m.read(filepath.Join(dir, "cpu.cfs_quota_us"))
		two, errPeriod := m.read(filepath.Join(dir, "cpu.cfs_period_us"))
		if errQuota != nil || errPeriod != nil {
			return none
		}
		text = one + " " + two
	}
	f := strings.Fields(text)
	if len(f) != 2 {
		return none
	}
	// "max", and -1 of v1, are no numbers that count.
	us, period := number(f[0]), number(f[1])
	if us <= 0 || period <= 0 {
		return none
	}
	return quota{us / period, time.Duration(period) * time.Microsecond}
}

// quotaPeriods is how many periods of a quota an observation lasts: a shorter one lies in the part of a
// period in which the program runs, or in that in which it does not.
const quotaPeriods = 4

// over returns observe, which returns a rate, as one that lasts several periods if the quota limits
// that many threads.
func (q quota) over(threads int, observe func() (float64, error)) func() (float64, error) {
	if q.share >= float64(threads) {
		return observe
	}
	return func() (float64, error) {
		began, work := time.Now(), 0.0
		for {
			from := time.Now()
			rate, err := observe()
			if err != nil {
				return 0, err
			}
			work += rate * time.Since(from).Seconds()
			if took := time.Since(began); took >= quotaPeriods*q.period {
				return work / took.Seconds(), nil
			}
		}
	}
}
