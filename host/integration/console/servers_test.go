//go:build guests

package console

import (
	"testing"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// TestAServerThatDoesNotLead has a browser use the console of a server that forwards to the one that leads the space.
func TestAServerThatDoesNotLead(t *testing.T) {
	nodejs.Install(t, "console")
	t.Setenv(server.Carried, "1")
	store := must.Get(postgres.Start(t).Database())
	list := []*server.Sharing{server.NewSharing(t, store), server.NewSharing(t, store)}
	var other *server.Sharing
	await.That(t, "both servers know who leads", func() bool {
		for _, s := range list {
			c := s.Cluster()
			if len(c.Servers) != 2 || len(c.Spaces) != 1 || c.Spaces[0].Gone {
				return false
			}
			if c.Spaces[0].Server != c.Self {
				other = s
			}
		}
		return other != nil
	})
	key := must.Get(operator.Call(t.Context(), server.Operator(t, other.Dir), operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.EveryRight, Namespaces: []string{"work"}}))
	g := given{Address: other.URL(), Browser: browser(t), Admin: other.At.Admin, Keys: map[string]string{"ann": key.Secret}}
	scenarios(t, "session", g)
	scenarios(t, "screens", g)
}
