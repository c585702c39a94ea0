//go:build guests

package console

import (
	"net"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestConsent(t *testing.T) {
	nodejs.Install(t, "console")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at, shown := l.Addr().String(), true
	l.Close()
	s := server.StartOn(t, host.Options{}, host.Listen{HTTP: at, Public: "http://" + at, Console: &shown, OAuth: host.OAuth{Serve: true, Register: true}})
	g := asOperator(t, s)
	g.Keys = map[string]string{"ann": s.Issue("ann", server.EveryRight, "work").Secret}
	scenarios(t, "consent", g)
}
