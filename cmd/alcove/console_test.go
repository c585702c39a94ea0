//go:build unix

package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestTheConsoleIsPrintedWithATicketThatLogsIn(t *testing.T) {
	s := server.Start(t, host.Options{})
	out := mustRun(t, s.Dir, "console", "--no-open")
	address, ticket, found := strings.Cut(strings.TrimSpace(strings.SplitN(out, "\n", 2)[0]), "#ticket=")
	if want := s.URL() + "/console/"; !found || address != want {
		t.Fatalf("alcove console prints %q, want the address %s with a ticket", out, want)
	}
	status, body := s.Send("POST", "/console/api/session", `{"ticket":"`+ticket+`"}`, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	if status != http.StatusOK || !strings.Contains(body, `"operator":true`) {
		t.Errorf("the ticket is answered with %d %s, want the operator's session", status, body)
	}
}

func TestWithoutHTTPTheConsoleSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	server.Run(t, host.Options{Dir: dir})
	out, err := run(t, dir, "console", "--no-open")
	if err == nil || !strings.Contains(out, "--listen 127.0.0.1:9742") {
		t.Errorf("alcove console prints %q, %v, want how to start a server with HTTP", out, err)
	}
}

func TestABrowserIsOpenedWhereThereIsAScreen(t *testing.T) {
	none := func(string) string { return "" }
	screen := func(name string) string { return map[string]string{"WAYLAND_DISPLAY": "wayland-0"}[name] }
	for _, c := range []struct {
		system string
		env    func(string) string
		want   []string
	}{
		{"darwin", none, []string{"open", "http://x"}},
		{"windows", none, []string{"rundll32", "url.dll,FileProtocolHandler", "http://x"}},
		{"linux", screen, []string{"xdg-open", "http://x"}},
		{"linux", none, nil},
	} {
		if got := browserCommand(c.system, c.env, "http://x"); !slices.Equal(got, c.want) {
			t.Errorf("on %s the browser is opened by %q, want %q", c.system, got, c.want)
		}
	}
}
