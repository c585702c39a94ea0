//go:build guests

package console

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// TestAServerThatIsKilled kills a server, which is a process of its own, while a page is open and writes, and starts another.
func TestAServerThatIsKilled(t *testing.T) {
	nodejs.Install(t, "console")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String() // the browser finds the next server there
	free.Close()
	t.Setenv(server.HTTP, address)
	t.Setenv(server.Carried, "1")
	p := server.NewProcess(t, "")
	start := func() error {
		client, err := p.Dial(t.Context(), bridge.SessionState{})
		if err == nil {
			err = client.Close()
		}
		return err
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /kill", func(http.ResponseWriter, *http.Request) {
		if left, _ := p.Kill(); left.Close() != nil {
			t.Error("what the killed server left cannot be closed")
		}
	})
	mux.HandleFunc("POST /start", func(http.ResponseWriter, *http.Request) {
		if err := start(); err != nil {
			t.Errorf("start another server: %v", err)
		}
	})
	mux.HandleFunc("POST /admin", func(w http.ResponseWriter, _ *http.Request) {
		r, err := owner.ReadRecord(p.Dir)
		if err != nil {
			t.Errorf("find the operator's socket: %v", err)
		}
		json.NewEncoder(w).Encode(r.Admin) // the test ends without it
	})
	control := httptest.NewServer(mux)
	defer control.Close()
	r, err := owner.ReadRecord(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	scenarios(t, "killed", given{Address: "http://" + address, Browser: browser(t), Admin: r.Admin, Control: control.URL})
}
