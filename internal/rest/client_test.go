package rest

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"
)

// ClientOptions configure a process that takes part in on-line tuning. The zero value of a field means its documented
// default.
type ClientOptions struct {
	// Address is unix:PATH or http://127.0.0.1:PORT; "" means $ASSAY_ONLINE. If
	// that is empty too, the program runs untuned.
	Address string
	// Token is needed for a TCP address; "" means the content of the file $ASSAY_TOKEN_FILE.
	Token string
	Rank  int // of this process within the program, from 0
	// Default is the configuration until the first Fetch succeeds.
	Default Values
	Log     io.Writer     // where trouble is reported, once; nil means standard error
	Timeout time.Duration // of one request; 0 means 2 s
}

// Values are the parameters of a configuration by name.
type Values map[string]any

// Int returns a parameter as a whole number, or 0 if it is not a number.
func (v Values) Int(name string) int { return int(v.Float(name)) }

// Float returns a parameter as a number, or 0 if it is not a number.
func (v Values) Float(name string) float64 {
	switch x := v[name].(type) {
	case float64:
		return x
	case int:
		return float64(x)
	case int64:
		return float64(x)
	}
	return 0
}

// Bool returns a parameter as a truth value: a switch that is on.
func (v Values) Bool(name string) bool {
	b, ok := v[name].(bool)
	return ok && b || v[name] == "on" || v[name] == "yes"
}

// Text returns a parameter as text, or "" if no parameter has that name.
func (v Values) Text(name string) string {
	switch x := v[name].(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	default:
		return fmt.Sprint(x)
	}
}

// A Client is one rank of a program that is tuned while it runs. The program continues whatever happens to the server:
// Fetch then returns the last configuration, reports the fault once on Log, and looks for the server again after 1 s, 2
// s, ... at most 30 s. A Client is not safe for concurrent use.
type Client struct {
	o        ClientOptions
	link     *link // nil: untuned
	instance []byte
	joined   bool
	over     bool // the session has ended
	last     Values
	text     []byte // last as JSON
	turn     int64  // to be reported, or 0
	body     []byte
	lost     bool // has reported that the server is away
	retry    time.Time
	pause    time.Duration
}

const (
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// Open returns a Client. It does not wait for the server.
func Open(o ClientOptions) *Client {
	if o.Log == nil {
		o.Log = os.Stderr
	}
	o.Timeout = cmp.Or(o.Timeout, 2*time.Second)
	c := &Client{o: o, last: o.Default, instance: []byte(rand.Text())}
	address := cmp.Or(o.Address, os.Getenv("ASSAY_ONLINE"))
	if address == "" {
		c.say("neither an address nor ASSAY_ONLINE is given: running untuned")
		return c
	}
	var err error
	if file := os.Getenv("ASSAY_TOKEN_FILE"); c.o.Token == "" && file != "" {
		c.o.Token, err = ReadToken(file)
	}
	if err == nil {
		c.link, err = newLink(address, c.o.Token, o.Timeout)
	}
	if err != nil {
		c.say("%v: running untuned", err)
		c.link = nil
	}
	return c
}

func (c *Client) say(format string, args ...any) {
	fmt.Fprintf(c.o.Log, "assay: rank %d: %s\n", c.o.Rank, fmt.Sprintf(format, args...))
}

// Fetch returns the configuration for the next iteration. Its caller must not
// change it.
func (c *Client) Fetch() Values {
	c.turn = 0
	if c.link == nil || c.over || c.lost && time.Now().Before(c.retry) {
		return c.last
	}
	b, err := c.call("fetch")
	if err != nil {
		c.trouble(err)
		return c.last
	}
	if err := c.take(b); err != nil {
		c.trouble(err)
	} else if c.lost {
		c.lost, c.pause = false, 0
		c.say("the server is back")
	}
	return c.last
}

// call posts this process's instance, and joins first where that is due.
func (c *Client) call(name string) ([]byte, error) {
	for again := false; ; again = true {
		if !c.joined {
			if err := c.join(); err != nil {
				return nil, err
			}
		}
		c.body = append(append(append(c.body[:0], `{"instance":"`...), c.instance...), `"}`...)
		b, err := c.link.post("POST", name, c.body)
		r, refused := errors.AsType[*refusal](err)
		switch {
		case err == nil:
			return b, nil
		case refused && r.code != "not-joined" || again:
			return nil, err
		}
		c.joined = false // a server that was replaced, or a connection that was cut
	}
}

func (c *Client) join() error {
	body, err := json.Marshal(joinRequest{c.o.Rank, string(c.instance)})
	if err != nil {
		return err
	}
	if _, err := c.link.post("POST", "join", body); err != nil {
		return err
	}
	c.joined = true
	return nil
}

// take reads the answer to fetch.
func (c *Client) take(b []byte) error {
	var a struct {
		Turn   int64           `json:"turn"`
		Trial  int64           `json:"trial"`
		Config json.RawMessage `json:"config"`
	}
	if turn, config, ok := quickTurn(b); ok {
		a.Turn, a.Config = turn, config
	} else if err := json.Unmarshal(b, &a); err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	if !bytes.Equal(a.Config, c.text) {
		var v Values
		if err := json.Unmarshal(a.Config, &v); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		c.last, c.text = v, bytes.Clone(a.Config)
	}
	c.turn = a.Turn
	return nil
}

// quickTurn takes the parts of an answer to fetch in the form that [appendTurn]
// gives it.
func quickTurn(b []byte) (turn int64, config []byte, ok bool) {
	b, ok1 := bytes.CutPrefix(b, []byte(`{"turn":`))
	b, ok2 := bytes.CutSuffix(b, []byte("}\n"))
	i := bytes.IndexByte(b, ',')
	j := bytes.Index(b, []byte(`,"config":`))
	if !ok1 || !ok2 || i < 0 || j < i {
		return 0, nil, false
	}
	turn, err := strconv.ParseInt(string(b[:i]), 10, 64)
	return turn, b[j+len(`,"config":`):], err == nil
}

// trouble records that the server cannot be used, and reports it the first time.
func (c *Client) trouble(err error) {
	r, refused := errors.AsType[*refusal](err)
	if refused && r.code == "ended" {
		c.over = true
		c.link.close()
		c.say("the session has ended: keeping the last configuration")
		return
	}
	if !c.lost {
		what := err.Error()
		if refused {
			what = r.detail
		}
		c.say("%s: going on with the last configuration", what)
	}
	c.lost, c.joined = true, false
	c.pause = min(max(2*c.pause, firstRetry), lastRetry)
	c.retry = time.Now().Add(c.pause)
}

// Report reports the duration of the iteration of the last Fetch. The second report of an iteration is ignored. Report
// returns an error only for an impossible duration, which is not sent.
func (c *Client) Report(elapsed time.Duration) error { return c.ReportSeconds(elapsed.Seconds()) }

// ReportSeconds is Report for a measure that may be other than a time.
func (c *Client) ReportSeconds(seconds float64) error {
	if !(seconds >= 0) || math.IsInf(seconds, 0) {
		return fmt.Errorf("an iteration of %v seconds", seconds)
	}
	c.report(func(b []byte) []byte {
		return strconv.AppendFloat(append(b, `,"seconds":`...), seconds, 'g', -1, 64)
	})
	return nil
}

func (c *Client) report(outcome func([]byte) []byte) {
	if c.turn == 0 {
		return
	}
	b := append(append(append(c.body[:0], `{"instance":"`...), c.instance...), `","turn":`...)
	b = outcome(strconv.AppendInt(b, c.turn, 10))
	c.body = append(b, '}')
	c.turn = 0
	_, err := c.link.post("POST", "report", c.body)
	if r, refused := errors.AsType[*refusal](err); refused && r.code != "ended" {
		return // given up meanwhile, or by a server that was replaced: it is measured again
	}
	if err != nil {
		c.trouble(err)
	}
}

// Close leaves the session.
func (c *Client) Close() error {
	if c.link == nil {
		return nil
	}
	defer c.link.close()
	if !c.joined || c.over {
		return nil
	}
	c.body = append(append(append(c.body[:0], `{"instance":"`...), c.instance...), `"}`...)
	_, err := c.link.post("POST", "leave", c.body)
	return err
}
