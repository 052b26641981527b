package exchange

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// sysctlDir is where the kernel shows its settings.
const sysctlDir = "/proc/sys"

// askSysctl reads the settings of the running kernel. It is not a program, and reports no ranges.
func askSysctl(context.Context) (*Catalogue, error) {
	release, err := os.ReadFile(filepath.Join(sysctlDir, "kernel/osrelease"))
	if err != nil {
		return nil, err
	}
	return &Catalogue{
		Program: "sysctl", Version: "Linux " + strings.TrimSpace(string(release)), Settings: readSysctl(os.DirFS(sysctlDir)),
		Keys: func(all []Named) string {
			set, back := []string{"sysctl", "-q", "-w"}, []string{"sysctl", "-q", "-w"}
			for _, s := range all {
				set = append(set, s.Name+"={"+s.Param+"}")
				back = append(back, s.Name+"="+s.Default)
			}
			return "# These settings of the whole machine need root: each run sets them, and restores the present values.\n" +
				"prepare: " + list(set...) + "\ncleanup: " + list(back...) + "\n# command: [...]\n"
		},
	}, nil
}

// readSysctl reads a tree like /proc/sys: files that can be written and hold one number. Settings of
// single devices, and of addresses, are left out. The order is the order of the parts of the kernel that
// all programs use: memory, files, the scheduler, the network.
func readSysctl(tree fs.FS) []Setting {
	ranks := map[string]int{"vm": 0, "fs": 1, "kernel": 2, "net": 3}
	var all []Setting
	_ = fs.WalkDir(tree, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a file that cannot be read cannot be set
		}
		if e.IsDir() {
			if base := e.Name(); base == "conf" || base == "neigh" || base == "ns" || base == "binfmt_misc" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil || info.Mode()&0o200 == 0 || info.Mode()&0o400 == 0 {
			return nil //nolint:nilerr // as above
		}
		text, err := fs.ReadFile(tree, path)
		value := strings.TrimSpace(string(text))
		if _, bad := strconv.ParseInt(value, 10, 64); err != nil || bad != nil {
			return nil //nolint:nilerr // a text, or several numbers
		}
		top, _, _ := strings.Cut(path, "/")
		rank, ok := ranks[top]
		if !ok {
			rank = len(ranks)
		}
		all = append(all, Setting{
			Name: strings.ReplaceAll(path, "/", "."), Kind: Number, Default: value,
			Min: math.Inf(-1), Max: math.Inf(1), Rank: rank,
		})
		return nil
	})
	return all
}
