package jetstream_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/assay-run/assay"
	"github.com/assay-run/assay/internal/queue"
	"github.com/assay-run/assay/internal/queue/jetstream"
	"github.com/assay-run/assay/internal/testbed"
)

// ports returns free ports.
func ports(t *testing.T, n int) (ps []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ps = append(ps, l.Addr().(*net.TCPAddr).Port)
	}
	return ps
}

// daemon starts nats-server with a configuration, until the end of the test or stop.
func daemon(t *testing.T, port int, conf string) (stop func()) {
	t.Helper()
	path := testbed.Built(t, "github.com/nats-io/nats-server/v2")
	dir := t.TempDir()
	file := filepath.Join(dir, "nats.conf")
	conf = fmt.Sprintf("listen: 127.0.0.1:%d\n%s", port, strings.ReplaceAll(conf, "{DIR}", dir))
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-c", file)
	log := &strings.Builder{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	t.Cleanup(stop)
	for end := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			c.Close()
			return stop
		}
		if time.Now().After(end) {
			stop()
			t.Fatalf("nats-server does not listen:\n%s", log)
		}
	}
}

// credentials makes an operator, an account with JetStream and the credentials of a user of it, and
// returns the configuration of a server that trusts them, and the file.
func credentials(t *testing.T) (conf, file string) {
	t.Helper()
	must := func(kp nkeys.KeyPair, err error) (nkeys.KeyPair, string) {
		if err != nil {
			t.Fatal(err)
		}
		pub, err := kp.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return kp, pub
	}
	operator, operatorID := must(nkeys.CreateOperator())
	account, accountID := must(nkeys.CreateAccount())
	user, userID := must(nkeys.CreateUser())
	encode := func(token string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	ac := jwt.NewAccountClaims(accountID)
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountJWT := encode(ac.Encode(operator))
	_, systemID := must(nkeys.CreateAccount())
	oc := jwt.NewOperatorClaims(operatorID)
	oc.SystemAccount = systemID
	operatorJWT := encode(oc.Encode(operator))
	systemJWT := encode(jwt.NewAccountClaims(systemID).Encode(operator))
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	uc := jwt.NewUserClaims(userID)
	uc.IssuerAccount = accountID
	creds, err := jwt.FormatUserConfig(encode(uc.Encode(account)), seed)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "assay.creds")
	if err := os.WriteFile(file, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("operator: %s\nresolver: MEMORY\nresolver_preload: {%s: %s, %s: %s}\n",
		operatorJWT, accountID, accountJWT, systemID, systemJWT), file
}

// On NATS that is elsewhere, with credentials, work goes round; and the next server gets an outcome that
// none took before.
func TestExternal(t *testing.T) {
	t.Parallel() // most of the time it waits
	conf, creds := credentials(t)
	port := ports(t, 1)[0]
	daemon(t, port, conf+"jetstream: {store_dir: {DIR}}\n")
	url := fmt.Sprint("nats://127.0.0.1:", port)
	server := connect(t, jetstream.Options{URL: url, Creds: creds})
	f := &fleet{task: queue.Task{ID: runID(1)}}
	stop, err := server.Answer(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := connect(t, jetstream.Options{URL: url, Creds: creds, Worker: "w-1", Class: "9f3a"})
	worker := queue.Worker{ID: "w-1", Apps: []string{"a"}, MachineClass: "9f3a"}
	if _, err := w.Control().Hello(t.Context(), worker); err != nil {
		t.Fatal(err)
	}
	if err := server.Carrier().Offer(t.Context(), tickets("a", "9f3a", 1)...); err != nil {
		t.Fatal(err)
	}
	d := take(t, w.Carrier(), soon, "9f3a", "a")
	if d == nil {
		t.Fatal("no ticket")
	}
	if _, err := w.Control().Claim(t.Context(), d.Ticket(), "w-1"); err != nil {
		t.Fatal(err)
	}
	stop()
	o := queue.Outcome{ID: runID(1), Worker: "w-1", Stdout: []byte("out")}
	for range 3 { // as a worker, which tells it again and again
		if err := w.Control().Tell(t.Context(), o); assay.ClassOf(err) != assay.ClassUnavailable {
			t.Fatalf("told to nobody: %v", err)
		}
	}
	if len(f.told) > 0 {
		t.Fatal("told to a server that has ended")
	}
	answer(t, server, f, nil)
	heard := func() (n int) { f.do(func() { n = len(f.told) }); return n }
	// A message on its way to the server that has ended comes again after half a minute.
	for end := time.Now().Add(soon + 30*time.Second); heard() == 0 &&
		time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
	}
	time.Sleep(200 * time.Millisecond)
	if n := heard(); n != 1 || f.told[0].ID != o.ID || string(f.told[0].Stdout) != "out" {
		t.Errorf("%d outcomes were left for the next server", n)
	}
	if _, err := jetstream.Dial(t.Context(), jetstream.Options{URL: url}); assay.ClassOf(err) != assay.ClassUsage ||
		!strings.Contains(err.Error(), "does not accept these credentials") {
		t.Errorf("without credentials: %v", err)
	}
	if _, err := jetstream.Dial(t.Context(), jetstream.Options{
		URL:   url,
		Creds: creds + "x",
	}); assay.ClassOf(err) != assay.ClassUsage {
		t.Errorf("a file that is not there: %v", err)
	}
}

// NATS without JetStream, or none, is one message.
func TestNoJetStream(t *testing.T) {
	port := ports(t, 1)[0]
	daemon(t, port, "")
	url := fmt.Sprint("nats://127.0.0.1:", port)
	_, err := jetstream.Dial(t.Context(), jetstream.Options{URL: url})
	if assay.ClassOf(err) != assay.ClassUsage ||
		err.Error() != "NATS at "+url+" has no JetStream, in which work is queued" ||
		!strings.Contains(assay.HintOf(err), "-js") {
		t.Errorf("%v (%s)", err, assay.HintOf(err))
	}
	url = fmt.Sprint("nats://user:password@127.0.0.1:", ports(t, 1)[0])
	_, err = jetstream.Dial(t.Context(), jetstream.Options{URL: url})
	if assay.ClassOf(err) != assay.ClassUnavailable || strings.Contains(err.Error(), "password") {
		t.Errorf("nobody there: %v", err)
	}
}

// One server of a cluster of three that keeps everything three times is killed: work goes on.
func TestCluster(t *testing.T) {
	t.Parallel() // most of the time it waits
	ps := ports(t, 6)
	routes := ""
	for _, p := range ps[3:] {
		routes += fmt.Sprintf("nats://127.0.0.1:%d,", p)
	}
	var urls []string
	var stops []func()
	for i := range 3 {
		stops = append(stops, daemon(t, ps[i], fmt.Sprintf(
			"server_name: n%d\njetstream: {store_dir: {DIR}}\ncluster: {name: c, listen: 127.0.0.1:%d, routes: [%s]}\n", i,
			ps[3+i], routes)))
		urls = append(urls, fmt.Sprint("nats://127.0.0.1:", ps[i]))
	}
	o := jetstream.Options{URL: strings.Join(urls, ","), Replicas: 3, Lease: 5 * time.Second}
	f := &fleet{verdict: queue.Go}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	again := func(what string, f func() error) {
		t.Helper()
		for {
			err := f()
			if err == nil {
				return
			}
			if assay.ClassOf(err) != assay.ClassUnavailable || ctx.Err() != nil {
				t.Fatalf("%s: %v", what, err)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	var server *jetstream.Bus
	var stop func()
	again("connect", func() (err error) { server, err = jetstream.Dial(ctx, o); return err }) // once it has a leader
	defer server.Close()
	again("answer", func() (err error) { stop, err = server.Answer(f, nil); return err })
	defer stop()
	o.Worker = "w-1"
	w := connect(t, o)
	again("hello", func() error {
		_, err := w.Control().Hello(ctx, queue.Worker{ID: "w-1", Apps: []string{"a"}})
		return err
	})
	left := map[string]bool{}
	for _, tk := range tickets("a", "", 60) {
		left[tk.ID] = true
	}
	again("offer", func() error { return server.Carrier().Offer(ctx, tickets("a", "", 60)...) })
	killed := false
	for len(left) > 0 {
		if len(left) == 40 && !killed {
			stops[0]()
			killed = true
		}
		d, err := w.Carrier().Take(ctx, []string{"a"}, "")
		if err != nil {
			t.Fatalf("%d are left: %v", len(left), err)
		}
		again("claim", func() error { _, err := w.Control().Claim(ctx, d.Ticket(), "w-1"); return err })
		again("tell", func() error {
			return w.Control().Tell(ctx, queue.Outcome{ID: runID(1), Worker: "w-1"})
		})
		if err := d.Done(ctx); err == nil || !killed {
			delete(left, d.Ticket().ID)
		}
	}
	if !killed {
		t.Error("nobody was killed")
	}
}
