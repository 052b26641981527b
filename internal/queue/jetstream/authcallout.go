package jetstream

import (
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
)

// A Door authenticates remote workers by ID and token. An error refuses the worker, which does not learn the reason. It
// is called from several goroutines.
type Door func(token, worker string, from net.Addr) (Rights, error)

// Rights are the rights of a worker.
type Rights struct {
	// Key names the token, for [Server.Cut].
	Key string
	// Apps are the applications that it may have work of; nil for all.
	Apps []string
}

// allows reports whether the rights are for an application.
func (r Rights) allows(app string) bool { return r.Apps == nil || slices.Contains(r.Apps, app) }

// door lets clients of NATS in.
type door struct {
	ask Door // nil refuses remote workers

	mu     sync.Mutex
	rights map[string]Rights // by worker, of those from elsewhere
}

func newDoor(ask Door) *door { return &door{ask: ask, rights: map[string]Rights{}} }

// Check implements [server.Authentication].
//
// A connection of this process, and of the unix socket that is copied to one, may do everything. A
// worker names itself and its class by the name of its connection.
func (d *door) Check(c server.ClientAuthentication) bool {
	if a := c.RemoteAddress(); a != nil && a.Network() == "pipe" {
		return c.Kind() == server.CLIENT
	}
	o := c.GetOpts()
	worker, class, ok := strings.Cut(o.Name, "/")
	if c.Kind() != server.CLIENT || c.GetTLSConnectionState() == nil || d.ask == nil ||
		!ok || !token(worker) || !validClassPart(class) {
		return false
	}
	r, err := d.ask(o.Token, worker, c.RemoteAddress())
	if err != nil {
		return false
	}
	d.mu.Lock()
	d.rights[worker] = r
	d.mu.Unlock()
	c.RegisterUser(&server.User{Username: r.Key, Permissions: permissions(worker, class, r)})
	return true
}

// may reports whether a worker may have work of an application.
func (d *door) may(worker, app string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, elsewhere := d.rights[worker]
	return !elsewhere || r.allows(app)
}

// permissions returns the NATS permissions of a worker.
func permissions(worker, class string, r Rights) *server.Permissions {
	var consumers []string
	if r.Apps == nil {
		consumers = []string{"*"}
	}
	for _, app := range r.Apps {
		consumers = append(consumers, consumerOf(app, ""), part(app)+"-"+class)
	}
	publish := []string{callsPrefix + worker + ".*"}
	for _, c := range consumers {
		publish = append(publish, "$JS.API.CONSUMER.INFO."+jobsStream+"."+c,
			"$JS.API.CONSUMER.MSG.NEXT."+jobsStream+"."+c, "$JS.ACK."+jobsStream+"."+c+".>")
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX." + worker + ".>", ordersPrefix + worker}},
	}
}
