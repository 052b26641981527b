package exchange

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/assay-run/assay"
)

// askRedis starts a Redis server of its own on a unix socket in a temporary directory, asks it for its
// settings, finds their ranges by values that it refuses, and ends it.
func askRedis(ctx context.Context) (*Catalogue, error) {
	version, err := output(ctx, "redis-server", "--version")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "assay-redis-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket := filepath.Join(dir, "s")
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	// The server takes the end of its standard input for nothing: the context ends it.
	server := exec.CommandContext(ctx, "redis-server", "--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "")
	if err := server.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	cli := func(args ...string) (string, error) {
		return output(ctx, append([]string{"redis-cli", "-s", socket}, args...)...)
	}
	for {
		text, err := cli("ping")
		if strings.TrimSpace(text) == "PONG" {
			break
		}
		if assay.ClassOf(err) == assay.ClassUsage {
			return nil, err // no redis-cli
		}
		select {
		case <-ctx.Done():
			return nil, assay.Errorf(assay.ClassUsage, "redis-server does not answer: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	text, err := cli("config", "get", "*")
	if err != nil {
		return nil, err
	}
	return &Catalogue{
		Program: "redis", Version: firstLine(version),
		Settings: readRedis(text, func(name, value string) string {
			answer, _ := cli("config", "set", name, value)
			return answer
		}),
		Keys: redisKeys,
	}, nil
}

// redisKeys writes the settings into a file, with which a server is started for each run. It saves no
// data when it ends: the next one would begin with them.
func redisKeys(all []Named) string {
	var b strings.Builder
	b.WriteString("files:\n  redis.conf: |\n    port 0\n    unixsocket redis.sock\n    save \"\"\n")
	for _, s := range all {
		b.WriteString("    " + s.Name + " {" + s.Param + "}\n")
	}
	b.WriteString("service:\n  start: [redis-server, redis.conf]\n" +
		"  ready: {command: [redis-cli, \"-s\", redis.sock, ping], within: 30s}\n" +
		"# command: [redis-benchmark, \"-s\", redis.sock, \"-q\"]\n")
	return b.String()
}

var (
	redisBounds = regexp.MustCompile(`must be between (-?\d+) and (-?\d+) inclusive`)
	redisOneOf  = regexp.MustCompile(`must be one of the following: (.*)`)
)

// Ranks of settings of a server.
const (
	rankRuntime = iota // bounds or choices, and it takes new values while it runs
	rankStart          // it must be started again
)

// readRedis reads the output of config get *: a name and a value, a line each. refuse sets a setting and
// returns the answer of the server; it is called only with values that the server refuses, or that it
// has already.
func readRedis(text string, refuse func(name, value string) string) []Setting {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var all []Setting
	for i := 0; i+1 < len(lines); i += 2 {
		name, value := strings.TrimSpace(lines[i]), strings.TrimSpace(lines[i+1])
		s := Setting{Name: name, Default: value, Rank: rankRuntime}
		_, notInt := strconv.ParseInt(value, 10, 64)
		switch {
		case value == "yes" || value == "no":
			s.Values = []string{"no", "yes"}
		case notInt == nil:
			s.Kind, s.Min, s.Max = Number, math.Inf(-1), math.Inf(1)
			if m := redisBounds.FindStringSubmatch(refuse(name, "-9223372036854775807")); m != nil {
				s.Min, _ = strconv.ParseFloat(m[1], 64)
				s.Max, _ = strconv.ParseFloat(m[2], 64)
			} else {
				refuse(name, value) // back, where there are no bounds
			}
		case value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz-") == "":
			m := redisOneOf.FindStringSubmatch(refuse(name, "assay?"))
			if m == nil {
				refuse(name, value)
				continue // any text
			}
			for v := range strings.SplitSeq(m[1], ",") {
				s.Values = append(s.Values, strings.TrimSpace(v))
			}
		default:
			continue
		}
		if strings.Contains(refuse(name, value), "immutable") {
			s.Rank, s.Restart = rankStart, "restart"
		}
		all = append(all, s)
	}
	return all
}
