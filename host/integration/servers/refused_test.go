package servers_test

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
)

func TestWhatServersThatShareSpacesDoNotHaveIsRefused(t *testing.T) {
	t.Parallel()
	url := must.Get(postgres.Start(t).Database())
	key, yes := []byte(strings.Repeat("k", 48)), true
	for what, c := range map[string]struct {
		url    string
		listen host.Listen
		shared host.SharedOptions
		want   string
	}{
		"a store in the data directory": {"", host.Listen{}, host.SharedOptions{Key: key}, "--store-file"},
		"OAuth at no public URL":        {url, host.Listen{HTTP: "127.0.0.1:0", OAuth: host.OAuth{Serve: true}}, host.SharedOptions{Key: key, Listen: "127.0.0.1:0"}, "--public-url"},
		"a public URL with a path":      {url, host.Listen{HTTP: "127.0.0.1:0", Public: "https://a.example/b"}, host.SharedOptions{Key: key, Listen: "127.0.0.1:0"}, "public URL"},
		"operators without TLS":         {url, host.Listen{Operators: host.OperatorsListen{Address: "127.0.0.1:0"}}, host.SharedOptions{Key: key, Listen: "127.0.0.1:0"}, "certificate"},
		"a short key":                   {url, host.Listen{}, host.SharedOptions{Key: key[:31]}, "32 to 4096 bytes"},
		"clients without keys":          {url, host.Listen{HTTP: "0.0.0.0:0"}, host.SharedOptions{Key: key, Listen: "127.0.0.1:0"}, "--require-keys"},
		"clients without TLS":           {url, host.Listen{HTTP: "0.0.0.0:0", RequireKeys: &yes}, host.SharedOptions{Key: key, Listen: "127.0.0.1:0"}, "--tls-cert"},
		"no address for servers":        {url, host.Listen{}, host.SharedOptions{Key: key, Listen: "127.0.0.1:none"}, "--cluster-listen"},
	} {
		err := host.ServeShared(t.Context(), host.Options{Dir: t.TempDir(), Driver: must.Get(space.DriverFor(c.url))}, c.listen, c.shared)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %s", what, err, c.want)
		}
	}
}
