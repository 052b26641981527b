package exchange

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/assay-run/assay"
)

// pgQuery asks for the settings that can be set at all.
const pgQuery = `copy (select name, setting, coalesce(unit,''), vartype, coalesce(min_val,''), coalesce(max_val,''),
 coalesce(array_to_string(enumvals,'|'),''), context, category, short_desc from pg_settings
 where context <> 'internal' order by name) to stdout csv`

// askPostgreSQL asks the server that psql reaches by its environment (PGHOST, ...), or a
// temporary one on a unix socket.
func askPostgreSQL(ctx context.Context) (*Catalogue, error) {
	version, err := output(ctx, "psql", "--version")
	if err != nil {
		return nil, err
	}
	var text string
	if os.Getenv("PGHOST") != "" || os.Getenv("PGSERVICE") != "" {
		text, err = output(ctx, "psql", "-X", "-q", "-w", "-d", pgDatabase(), "-c", pgQuery)
	} else {
		text, err = askCluster(ctx)
	}
	if err != nil {
		return nil, err
	}
	settings, err := readPostgreSQL(text)
	return &Catalogue{Program: "postgresql", Version: firstLine(version), Settings: settings, Keys: pgKeys}, err
}

func pgDatabase() string {
	if d := os.Getenv("PGDATABASE"); d != "" {
		return d
	}
	return "postgres"
}

// askCluster makes a cluster in a temporary directory, asks it and removes it. PostgreSQL does
// not run as root: then the user postgres runs it.
func askCluster(ctx context.Context) (string, error) {
	bin, err := output(ctx, "pg_config", "--bindir")
	if err != nil {
		return "", err
	}
	bin = strings.TrimSpace(bin)
	dir, err := os.MkdirTemp("", "assay-pg-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var as *syscall.Credential
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return "", assay.Errorf(assay.ClassUsage, "PostgreSQL does not run as root, and there is no user postgres")
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	step := func(argv ...string) (string, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, argv[0]), argv[1:]...)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
		out, err := cmd.Output()
		if err != nil {
			if e, ok := err.(*exec.ExitError); ok {
				err = fmt.Errorf("%s", assay.LastLine(e.Stderr))
			}
			return "", fmt.Errorf("%s: %w", argv[0], err)
		}
		return string(out), nil
	}
	data := filepath.Join(dir, "data")
	if _, err := step("initdb", "-D", data, "-N", "-A", "trust", "-U", "postgres", "--locale=C"); err != nil {
		return "", err
	}
	if _, err := step("pg_ctl", "-D", data, "-w", "-s", "-l", filepath.Join(dir, "log"), "-o",
		"-c listen_addresses= -c unix_socket_directories="+dir, "start"); err != nil {
		return "", err
	}
	defer func() {
		ctx = context.WithoutCancel(ctx) // a server is never left running
		_, _ = step("pg_ctl", "-D", data, "-w", "-s", "-m", "immediate", "stop")
	}()
	return step("psql", "-X", "-q", "-h", dir, "-U", "postgres", "-d", "postgres", "-c", pgQuery)
}

// pgKeys gives the settings to the server on its command line.
func pgKeys(all []Named) string {
	start := []string{"postgres", "-D", "/path/to/cluster"}
	for _, s := range all {
		start = append(start, "-c", s.Name+"={"+s.Param+"}")
	}
	return "service:\n  start: " + list(start...) + "\n  ready: {command: [pg_isready, \"-q\"], within: 60s}\n" +
		"# command: [pgbench, \"-T\", \"30\", postgres]\n"
}

// readPostgreSQL reads the answer to pgQuery. Texts are left out, since their values are unknown, and so
// are the options of developers. The order is by category.
func readPostgreSQL(text string) ([]Setting, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	var all []Setting
	for _, r := range rows {
		if len(r) != 10 {
			return nil, fmt.Errorf("a row of pg_settings has 10 columns, not %d", len(r))
		}
		s := Setting{Name: r[0], Default: r[1], Unit: r[2], Note: r[9], Rank: pgRank(r[8])}
		if s.Rank < 0 {
			continue
		}
		switch r[7] {
		case "postmaster":
			s.Restart = "restart"
		case "sighup":
			s.Restart = "reload"
		case "backend", "superuser-backend":
			s.Restart = "new connection"
		}
		switch r[3] {
		case "bool":
			s.Values = []string{"off", "on"}
		case "enum":
			s.Values = strings.Split(r[6], "|")
		case "integer", "real":
			s.Kind, s.Real = Number, r[3] == "real"
			if s.Min, err = strconv.ParseFloat(r[4], 64); err != nil {
				s.Min = math.Inf(-1)
			}
			if s.Max, err = strconv.ParseFloat(r[5], 64); err != nil {
				s.Max = math.Inf(1)
			}
		default:
			continue
		}
		all = append(all, s)
	}
	return all, nil
}

// pgRank returns the rank of a category, or -1 for one that is not about how fast a server is:
// names of files, of developers and of customized options.
func pgRank(category string) int {
	for i, begins := range []string{"Resource Usage", "Query Tuning", "Write-Ahead Log", "Autovacuum"} {
		if strings.HasPrefix(category, begins) {
			return i
		}
	}
	for _, begins := range []string{"Developer Options", "Preset Options", "File Locations", "Customized Options"} {
		if strings.HasPrefix(category, begins) {
			return -1
		}
	}
	return 4
}
