package main

import (
	"fmt"
	"os"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"github.com/rogpeppe/go-internal/testscript"
)

// natsCreds is the command natscreds CONF CREDS: it makes an operator with an account that has
// JetStream, the configuration of a nats-server that trusts it, and the credentials of a user.
func natsCreds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: natscreds CONF CREDS")
	}
	key := func(kp nkeys.KeyPair, err error) (nkeys.KeyPair, string) {
		ts.Check(err)
		pub, err := kp.PublicKey()
		ts.Check(err)
		return kp, pub
	}
	text := func(s string, err error) string {
		ts.Check(err)
		return s
	}
	operator, operatorID := key(nkeys.CreateOperator())
	account, accountID := key(nkeys.CreateAccount())
	_, systemID := key(nkeys.CreateAccount())
	user, userID := key(nkeys.CreateUser())
	of := jwt.NewOperatorClaims(operatorID)
	of.SystemAccount = systemID
	in := jwt.NewAccountClaims(accountID)
	in.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	conf := fmt.Sprintf("operator: %s\nresolver: MEMORY\nresolver_preload: {%s: %s, %s: %s}\njetstream: {store_dir: "+
		"nats}\n",
		text(of.Encode(operator)), accountID, text(in.Encode(operator)),
		systemID, text(jwt.NewAccountClaims(systemID).Encode(operator)))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(conf), 0o600))
	seed, err := user.Seed()
	ts.Check(err)
	who := jwt.NewUserClaims(userID)
	who.IssuerAccount = accountID
	creds, err := jwt.FormatUserConfig(text(who.Encode(account)), seed)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), creds, 0o600))
}
