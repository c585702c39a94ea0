package speed_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

// caller makes a call of a tool, in one of the ways in which programs do.
type caller struct {
	name string
	call func(method, params string) error
}

// benchServer is a server with the ways to reach it.
func benchServer(b *testing.B) (socket, web *client.Client, mcp caller) {
	b.Helper()
	h, err := host.Open(b.Context(), host.Options{Dir: b.TempDir(), Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { h.Close() })
	r, _ := server.Serve(b, h, host.Listen{HTTP: "127.0.0.1:0"})
	socket = server.Program(b, r.Socket, client.Options{})
	web = server.Program(b, "http://"+r.HTTP, client.Options{Key: h.Token()})
	return socket, web, caller{"mcp over http", mcpOverHTTP(b, "http://"+r.HTTP+"/mcp", h.Token())}
}

// mcpOverHTTP begins a session of MCP and returns what makes a call in it. It reads no more of an answer than whether it failed.
func mcpOverHTTP(b *testing.B, url, token string) func(method, params string) error {
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	session := ""
	post := func(body string) (string, error) {
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := web.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if session == "" {
			session = answer.Header.Get("Mcp-Session-Id")
		}
		if err == nil && answer.StatusCode >= 300 || strings.Contains(string(text), `"isError":true`) {
			err = fmt.Errorf("answered %d %.300s", answer.StatusCode, text)
		}
		return string(text), err
	}
	if _, err := post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`); err != nil {
		b.Fatal(err)
	}
	if _, err := post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	return func(method, params string) error {
		text, err := post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_%s","arguments":%s}}`, next.Add(1), method, params))
		if err == nil && !strings.Contains(text, `"result"`) {
			err = fmt.Errorf("answered %.300s", text)
		}
		return err
	}
}

// operated makes calls as operations.
func operatedBy(b *testing.B, name string, c *client.Client) caller {
	return caller{name, func(method, params string) error {
		_, err := c.Do(b.Context(), client.Operation{Method: method, Params: rawJSON(params)})
		return err
	}}
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// BenchmarkOperationsBesideMCP makes calls over HTTP as MCP, over HTTP as operations and over the socket as operations, in turns of 64
// calls, by one caller and by sixteen. A turn is calls of all callers. Figures of one run are calls per second by the wall clock and,
// for busy machines, per second of CPU that client and server used together; times-mcp is the socket's beside MCP's.
//
//	go test ./host/integration/speed -run '^$' -bench OperationsBesideMCP -benchtime 100x
func BenchmarkOperationsBesideMCP(b *testing.B) {
	socket, web, mcp := benchServer(b)
	ways := []caller{mcp, operatedBy(b, "operations over http", web), operatedBy(b, "operations over the socket", socket)}
	if err := ways[2].call("store", `{"key":"k","value":"words to recall"}`); err != nil {
		b.Fatal(err)
	}
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			wall, cpu := make([]time.Duration, len(ways)), make([]time.Duration, len(ways))
			const calls = 64
			runtime.GC()
			for b.Loop() {
				for i, way := range ways {
					began, used := time.Now(), processCPU()
					if err := turn(way, callers, calls); err != nil {
						b.Fatal(err)
					}
					wall[i] += time.Since(began)
					cpu[i] += processCPU() - used
				}
			}
			for i, way := range ways {
				b.ReportMetric(float64(calls*b.N)/wall[i].Seconds(), strings.ReplaceAll(way.name, " ", "-")+"-calls/s")
				b.ReportMetric(float64(calls*b.N)/max(cpu[i].Seconds(), 1e-9), strings.ReplaceAll(way.name, " ", "-")+"-calls/CPU-s")
			}
			b.ReportMetric(wall[0].Seconds()/wall[2].Seconds(), "times-mcp")
			b.ReportMetric(cpu[0].Seconds()/max(cpu[2].Seconds(), 1e-9), "times-mcp-CPU")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// turn makes calls by several callers.
func turn(way caller, callers, calls int) error {
	var all sync.WaitGroup
	failed := make(chan error, callers)
	for range callers {
		all.Go(func() {
			for range calls / callers {
				if err := way.call("recall", `{"key":"k"}`); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}

// BenchmarkBatch compares a batch of a hundred operations with a hundred operations one after the other, in turn, for stores and for
// recalls, over the socket and over HTTP.
//
//	go test ./host/integration/speed -run '^$' -bench Batch -benchtime 20x
func BenchmarkBatch(b *testing.B) {
	socket, web, _ := benchServer(b)
	round := 0
	calls := map[string]func(i int) client.Operation{
		"store": func(i int) client.Operation {
			return client.Operation{Method: "store", Params: map[string]any{"key": fmt.Sprint("k", i), "value": fmt.Sprintf("words number %d of round %d", i, round)}}
		},
		"recall": func(i int) client.Operation {
			return client.Operation{Method: "recall", Params: map[string]any{"key": fmt.Sprint("k", i)}}
		},
	}
	for _, over := range []struct {
		name   string
		client *client.Client
	}{{"socket", socket}, {"http", web}} {
		for _, name := range []string{"store", "recall"} {
			b.Run(name+"/"+over.name, func(b *testing.B) {
				var sequential, batch time.Duration
				for b.Loop() {
					round++
					list := make([]client.Operation, 100)
					for i := range list {
						list[i] = calls[name](i)
					}
					began := time.Now()
					for _, o := range list {
						if _, err := over.client.Do(b.Context(), o); err != nil {
							b.Fatal(err)
						}
					}
					sequential += time.Since(began)
					round++
					for i := range list {
						list[i] = calls[name](i)
					}
					began = time.Now()
					done, err := over.client.Batch(b.Context(), list...)
					batch += time.Since(began)
					for _, d := range done {
						if d.Err != nil {
							err = d.Err
						}
					}
					if err != nil || len(done) != len(list) {
						b.Fatalf("%d of %d are done: %v", len(done), len(list), err)
					}
				}
				b.ReportMetric(sequential.Seconds()*1e3/float64(b.N), "sequential-ms")
				b.ReportMetric(batch.Seconds()*1e3/float64(b.N), "batch-ms")
				b.ReportMetric(sequential.Seconds()/batch.Seconds(), "times-faster")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
