package host_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
)

// BenchmarkBatch compares a hundred operations over HTTP with one batch of them.
func BenchmarkBatch(b *testing.B) {
	h, err := host.Open(b.Context(), host.Options{Dir: b.TempDir(), Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	r, stop := serving(b, h, host.Listen{HTTP: "127.0.0.1:0"})
	defer stop()
	s := &restServer{t: b, host: h, url: "http://" + r.HTTP, token: h.Token()}
	round := 0
	calls := map[string]func(i int) string{
		"store": func(i int) string {
			return fmt.Sprintf(`{"method":"store","params":{"key":"k%d","value":"words number %d of round %d"}}`, i, i, round)
		},
		"recall": func(i int) string { return fmt.Sprintf(`{"method":"recall","params":{"key":"k%d"}}`, i) },
	}
	for _, name := range []string{"store", "recall"} {
		b.Run(name+"/sequential", func(b *testing.B) {
			for b.Loop() {
				round++
				for i := range 100 {
					s.served(calls[name](i))
				}
			}
		})
		b.Run(name+"/batch", func(b *testing.B) {
			for b.Loop() {
				round++
				items := make([]string, 100)
				for i := range items {
					items[i] = calls[name](i)
				}
				s.served(`{"batch":[` + strings.Join(items, ",") + `]}`)
			}
		})
	}
}

// served sends an operation that must succeed in all its parts.
func (s *restServer) served(body string) {
	s.t.Helper()
	if status, text := s.send("POST", "/operation", body, nil); status != http.StatusOK || strings.Contains(text, `"error"`) {
		s.t.Fatalf("answered %d %.300s", status, text)
	}
}
