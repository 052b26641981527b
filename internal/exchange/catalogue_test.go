package exchange

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/testbed"
)

// find returns the setting of that name.
func find(t *testing.T, all []Setting, name string) Setting {
	t.Helper()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no %s in %+v", name, all)
	}
	return all[i]
}

func TestReadGCC(t *testing.T) {
	const o2 = `The following options control optimizations:
  -O<digits>                  		
  -falign-loops               		[enabled]
  -falign-loops=              		
  -fgcse                      		[enabled]
  -fhandle-exceptions         		-fexceptions
  -flifetime-dse=<0,2>        		2
  -ffp-contract=[off|on|fast] 		fast
  -fpack-struct=<digits>      		
  -funroll-loops              		[disabled]
  --param=inline-min-speedup= 		30
  --param=align-threshold=<1,65536> 	100
  --param=threader-mode=[normal|debug] 	normal
`
	all := readGCC(o2, strings.NewReplacer("-funroll-loops              		[disabled]",
		"-funroll-loops              		[enabled]", "speedup= 		30", "speedup= 		15", "-falign-loops=              		",
		"-falign-loops=              		16").Replace(o2))
	if len(all) != 8 {
		t.Errorf("%d settings: %+v", len(all), all)
	}
	for name, want := range map[string]Setting{
		"-fgcse": {Values: []string{"-fno-gcse", "-fgcse"}, Default: "-fgcse", Rank: rankEnabled},
		"-falign-loops": {
			Values: []string{"-fno-align-loops", "-falign-loops"}, Default: "-falign-loops", Rank: rankEnabled,
		},
		"-funroll-loops": {
			Values: []string{"-fno-unroll-loops", "-funroll-loops"}, Default: "-fno-unroll-loops", Rank: rankLevel,
		},
		"-flifetime-dse": {Kind: Number, Min: 0, Max: 2, Default: "2", Rank: rankFlag},
		"-ffp-contract": {
			Values:  []string{"-ffp-contract=off", "-ffp-contract=on", "-ffp-contract=fast"},
			Default: "-ffp-contract=fast", Rank: rankFlag,
		},
		"--param=inline-min-speedup": {Kind: Number, Max: math.Inf(1), Default: "30", Rank: rankLevel},
		"--param=align-threshold":    {Kind: Number, Min: 1, Max: 65536, Default: "100", Rank: rankParam},
	} {
		got := find(t, all, name)
		if got.Kind != want.Kind || !slices.Equal(got.Values, want.Values) || got.Default != want.Default ||
			got.Rank != want.Rank || got.Min != want.Min || got.Max != want.Max {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestReadClang(t *testing.T) {
	all := readClang(`OPTIONS:
  -fno-unroll-loops       Turn off loop unroller
  -ffast-math             Allow aggressive, lossy floating-point optimizations
  -fcoroutines-ts         Enable support
  -funroll-loops          Turn on loop unroller
  -fno-autolink           Disable generation of linker directives for automatic library linking
  -fautolink
`)
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"-funroll-loops", "-ffast-math", "-fcoroutines-ts", "-fautolink"}) {
		t.Errorf("%v", names)
	}
	if s := find(t, all, "-funroll-loops"); s.Rank != rankLevel || s.Note != "Turn on loop unroller" ||
		!slices.Equal(s.Values, []string{"-fno-unroll-loops", "-funroll-loops"}) || s.Default != "" {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "-fautolink"); s.Rank != rankFlag || !strings.HasPrefix(s.Note, "-fno-autolink: Disable") {
		t.Errorf("%+v", s)
	}
}

// A program that has to be asked about each setting is asked for as many as are wanted, in their
// order, and a setting that it does not take is left out.
func TestSelectConfirms(t *testing.T) {
	var asked atomic.Int32
	fresh := func() *Catalogue {
		c := &Catalogue{Program: "x", confirm: func(_ context.Context, s Setting) (Setting, bool) {
			asked.Add(1)
			s.Default = "known"
			return s, s.Name[len(s.Name)-1]%2 == 0
		}}
		for i := range 200 {
			c.Settings = append(c.Settings, Setting{Name: fmt.Sprintf("a%03d", i), Values: []string{"known", "other"}})
		}
		return c
	}
	c := fresh()
	if err := c.Select(t.Context(), nil, 3); err != nil || len(c.Settings) != 3 || c.Settings[1].Name != "a002" ||
		c.Settings[0].Default != "known" {
		t.Errorf("%+v, %v", c.Settings, err)
	}
	if n := int(asked.Load()); n >= 200 && runtime.GOMAXPROCS(0) < 50 {
		t.Errorf("asked about %d settings for 3", n)
	}
	c = fresh()
	if err := c.Select(t.Context(), nil, 0); err != nil || len(c.Settings) != 100 {
		t.Errorf("%d settings, %v", len(c.Settings), err)
	}
	if err := fresh().Select(t.Context(), []string{"a001"}, 0); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("one that is not taken: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fresh().Select(ctx, nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The clang that is here takes its settings in the catalogue, and prints its defaults.
func TestClangConfirms(t *testing.T) {
	testbed.Outside(t)
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: clang is missing")
	}
	plain, ok := clangCall(t.Context(), "")
	if !ok {
		t.Fatal("clang compiles nothing")
	}
	for _, tt := range []struct {
		flag, value string // its default
		takes       bool
	}{
		{"math-errno", "-fmath-errno", true},
		{"fast-math", "-fno-fast-math", true},
		{"vectorize", "-fvectorize", true},
		{"no-such-flag", "", false},
		{"objc-weak", "", false}, // of another language
	} {
		s, ok := clangConfirms(t.Context(), Setting{Values: []string{"-fno-" + tt.flag, "-f" + tt.flag}}, plain)
		if ok != tt.takes || ok && s.Default != tt.value {
			t.Errorf("%s: %v, default %q", tt.flag, ok, s.Default)
		}
	}
}

func TestReadJVM(t *testing.T) {
	all := readJVM(`[Global flags]
    uintx ConcGCThreads                            = 2            {product} {ergonomic}
     bool UseCompressedOops            = true         {product lp64_product} {ergonomic}
     bool HeapDumpOnOutOfMemoryError                = false     {manageable} {default}
    ccstr ErrorFile                                 =              {product} {default}
   double InitialRAMPercentage                      = 1.562500     {product} {default}
     intx MaxInlineLevel                            = 15     {C2 product} {default}
     bool AlwaysAtomicAccesses                      = false   {product experimental} {default}
`, `[Global flags ranges]
     intx MaxInlineLevel           [ 0         ...         2147483647 ]            {product} {default}
   double InitialRAMPercentage    [ 0.000      ...    100.000 ]            {product} {default}
`)
	if len(all) != 4 {
		t.Errorf("%+v", all)
	}
	if s := find(t, all, "UseCompressedOops"); s.Default != "-XX:+UseCompressedOops" || s.Rank != rankErgonomic {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "MaxInlineLevel"); s.Max != math.MaxInt32 || s.Min != 0 || s.Restart != "restart" ||
		s.Rank != rankProduct {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "InitialRAMPercentage"); !s.Real || s.Max != 100 {
		t.Errorf("%+v", s)
	}
}

func TestReadPostgreSQL(t *testing.T) {
	all, err := readPostgreSQL(`shared_buffers,16384,8kB,integer,16,1073741823,,postmaster,Resource Usage / Memory,Sets it.
random_page_cost,4,,real,0,1.79769e+308,,user,Query Tuning / Planner Cost Constants,"Sets, too."
wal_level,replica,,enum,,,minimal|replica|logical,postmaster,Write-Ahead Log / Settings,x
jit,on,,bool,,,,user,Query Tuning / Other Planner Options,x
work_mem,4096,kB,integer,64,2147483647,,user,Resource Usage / Memory,x
search_path,x,,string,,,,user,Client Connection Defaults / Statement Behavior,x
trace_notify,off,,bool,,,,user,Developer Options,x
log_connections,off,,bool,,,,superuser-backend,Reporting and Logging / What to Log,x
`)
	if err != nil || len(all) != 6 {
		t.Fatalf("%+v, %v", all, err)
	}
	if s := find(t, all, "shared_buffers"); s.Unit != "8kB" || s.Restart != "restart" || s.Min != 16 || s.Rank != 0 {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "wal_level"); !slices.Equal(s.Values, []string{"minimal", "replica", "logical"}) ||
		s.Default != "replica" {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "log_connections"); s.Restart != "new connection" || s.Rank != 4 {
		t.Errorf("%+v", s)
	}
	if _, err := readPostgreSQL("a,b\n"); err == nil {
		t.Error("a row of two columns")
	}
}

// The values that Redis refuses show the kinds of its settings, and every value is put back.
func TestReadRedis(t *testing.T) {
	values := map[string]string{}
	var set []string
	all := readRedis("io-threads\n1\nappendfsync\neverysec\n"+
		"appendonly\nno\ndir\n/tmp\nproc-title\nredis\nhz\n10\nsave\n\n",
		func(name, value string) string {
			set = append(set, name)
			values[name] = value
			switch {
			case name == "io-threads" && value == "1":
				return "ERR can't set immutable config"
			case strings.HasPrefix(value, "-9"):
				return "ERR argument must be between 1 and 128 inclusive"
			case name == "appendfsync" && value == "assay?":
				return "ERR argument(s) must be one of the following: always, everysec, no"
			}
			return "OK"
		})
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	if s := find(t, all, "io-threads"); s.Min != 1 || s.Max != 128 || s.Restart != "restart" || s.Rank != rankStart {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "appendfsync"); !slices.Equal(s.Values, []string{"always", "everysec", "no"}) ||
		s.Rank != rankRuntime {
		t.Errorf("%+v", s)
	}
	if slices.Contains(set, "dir") || values["proc-title"] != "redis" || values["appendfsync"] != "everysec" {
		t.Errorf("left %v", values)
	}
}

func TestReadSysctl(t *testing.T) {
	file := func(text string, mode fs.FileMode) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(text), Mode: mode}
	}
	all := readSysctl(fstest.MapFS{
		"vm/swappiness": file("60\n", 0o644), "vm/stat_refresh": file("", 0o600), "kernel/osrelease": file("6.1\n", 0o444),
		"net/ipv4/conf/all/forwarding": file("0\n", 0o644), "net/ipv4/tcp_rmem": file("4096 131072 6291456\n", 0o644),
		"net/core/somaxconn": file("4096\n", 0o644), "kernel/sem_next_id": file("-1\n", 0o644),
	})
	if len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	if s := find(t, all, "vm.swappiness"); s.Default != "60" || s.Rank != 0 {
		t.Errorf("%+v", s)
	}
	if s := find(t, all, "net.core.somaxconn"); s.Rank != 3 {
		t.Errorf("%+v", s)
	}
}

// The range in which a digits is tuned is the program's if that is a narrow one.
func TestSpace(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		s         Setting
		low, high float64
	}{
		{Setting{Min: 1, Max: 128, Default: "1"}, 1, 128},
		{Setting{Min: 0, Max: math.MaxInt32, Default: "100"}, 12, 800},
		{Setting{Min: 50, Max: math.MaxInt32, Default: "100"}, 50, 800},
		{Setting{Min: -inf, Max: inf, Default: "0"}, 0, 8},
		{Setting{Min: -1, Max: math.MaxInt32, Default: "-1"}, -1, 8},
		{Setting{Min: 0, Max: inf, Default: "0.25", Real: true}, 0.03125, 2},
		{Setting{Min: 0, Max: math.MaxInt32, Default: "2"}, 1, 16},
	} {
		c.s.Kind = Number
		if low, high := c.s.space(); low != c.low || high != c.high {
			t.Errorf("%+v: [%v, %v], want [%v, %v]", c.s, low, high, c.low, c.high)
		}
	}
}

func TestSelect(t *testing.T) {
	fresh := func() *Catalogue {
		c := &Catalogue{Program: "p", Settings: []Setting{
			{Name: "b", Rank: 1}, {Name: "a", Rank: 1, Kind: Number, Min: 0, Max: math.Inf(1)}, {Name: "z-mem", Rank: 0},
		}}
		c.sort()
		return c
	}
	names := func(c *Catalogue) (s string) {
		for _, x := range c.Settings {
			s += x.Name + " "
		}
		return s
	}
	for _, x := range []struct {
		only []string
		top  int
		want string
	}{
		{nil, 0, "z-mem b a "},
		{nil, 2, "z-mem b "},
		{nil, 9, "z-mem b a "},
		{[]string{"?"}, 0, "b a "},
		{[]string{"z_mem", "a"}, 0, "z-mem a "},
	} {
		c := fresh()
		if err := c.Select(t.Context(), x.only, x.top); err != nil || names(c) != x.want {
			t.Errorf("%v, %d: %q, %v; want %q", x.only, x.top, names(c), err, x.want)
		}
	}
	for _, bad := range []string{"nix", "[", "c*"} {
		if err := fresh().Select(t.Context(), []string{"a", bad}, 0); assay.ClassOf(err) != assay.ClassUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := Ask(t.Context(), "nix"); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("no program: %v", err)
	}
}

// Some flags have the compiler write files: none of them is left where the user is.
func TestClangLeavesNothing(t *testing.T) {
	testbed.Outside(t)
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("SKIPPED, NOT TESTED: there is no clang")
	}
	t.Chdir(t.TempDir())
	if !clangBuilds(t.Context(), "-fsave-optimization-record") {
		t.Error("a program cannot be built with -fsave-optimization-record")
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
