package sync_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// counted passes connections on to an address, and counts their bytes.
func counted(b *testing.B, to string) (address string, bytes *atomic.Int64) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(b, err)
	b.Cleanup(func() { l.Close() })
	bytes = &atomic.Int64{}
	carry := func(from, to net.Conn) {
		defer to.Close()
		io.Copy(to, io.TeeReader(from, (*counter)(bytes))) // a connection that breaks was counted up to there
	}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			other, err := net.Dial("tcp", to)
			if err != nil {
				from.Close()
				continue
			}
			go carry(from, other)
			go carry(other, from)
		}
	}()
	return l.Addr().String(), bytes
}

// counter counts the bytes that are written to it.
type counter atomic.Int64

func (c *counter) Write(p []byte) (int, error) {
	(*atomic.Int64)(c).Add(int64(len(p)))
	return len(p), nil
}

// fill stores n memories of about 200 bytes, of words as frequent as in texts.
func fill(s *server.Server, who string, n int) {
	s.T.Helper()
	random := rand.New(rand.NewPCG(uint64(len(who)), uint64(n)))
	words := rand.NewZipf(random, 1.1, 8, 20_000)
	owner := s.Memory().As(memory.Caller{Agent: who, Rights: memory.FullRights()})
	for first := 0; first < n; first += 1000 {
		items := make([]memory.Item, min(1000, n-first))
		for i := range items {
			var text strings.Builder
			for range 30 {
				fmt.Fprintf(&text, "w%x ", words.Uint64()*7919%1_000_003)
			}
			value, err := json.Marshal(text.String())
			must.Do(s.T, err)
			items[i] = memory.Item{Key: fmt.Sprintf("%s/%d", who, first+i), Value: value, Tags: []string{who}}
		}
		if _, err := owner.Store(s.T.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			s.T.Fatalf("store: %v", err)
		}
	}
}

// copied is how many bytes a data directory's store has, and how long a copy of it takes.
func copied(b *testing.B, dir string) (size int64, took time.Duration) {
	b.Helper()
	began := time.Now()
	from, err := os.Open(filepath.Join(dir, "alcove.db"))
	must.Do(b, err)
	defer from.Close()
	to, err := os.Create(filepath.Join(b.TempDir(), "copy"))
	must.Do(b, err)
	defer to.Close()
	size, err = io.Copy(to, from)
	must.Do(b, err)
	must.Do(b, to.Sync())
	return size, time.Since(began)
}

// BenchmarkTenDevices brings the 10,000 memories of one device to nine others through a server, and then 100 changes of each to all.
func BenchmarkTenDevices(b *testing.B) {
	const devices, each, changes = 10, 10_000, 100
	for range b.N {
		hub := server.StartOn(b, host.Options{}, host.Listen{HTTP: "127.0.0.1:0"})
		address, bytes := counted(b, hub.At.HTTP)
		var all []*server.Server
		for i := range devices {
			d := server.StartOn(b, host.Options{}, host.Listen{})
			if i == 0 {
				fill(d, "device0", each)
			}
			must.Do(b, operator.Command(b.Context(), d.Acts, operator.AddRemote, operator.Remote{Name: "hub", URL: "http://" + address, KeyFile: filepath.Join(hub.Dir, "token")}))
			all = append(all, d)
		}
		round := func(what string) {
			before, moved, began := bytes.Load(), 0, time.Now()
			for range 2 {
				for _, d := range all {
					done := mustExchange(d, both)
					moved += done.Pulled.Taken + done.Pushed.Taken
				}
			}
			took := time.Since(began)
			b.ReportMetric(took.Seconds(), what+"-s")
			b.ReportMetric(float64(moved)/took.Seconds(), what+"-memories/s")
			b.ReportMetric(float64(bytes.Load()-before)/(1<<20), what+"-MiB")
		}
		round("first")
		for i, d := range all {
			fill(d, fmt.Sprintf("later%d", i), changes)
		}
		round("incremental")
		size, took := copied(b, all[0].Dir)
		b.ReportMetric(float64(devices*size)/(1<<20), "copying-MiB")
		b.ReportMetric(devices*took.Seconds(), "copying-s")
	}
}

// BenchmarkPull brings 50,000 memories to an empty memory, over the loopback.
func BenchmarkPull(b *testing.B) {
	const n = 50_000
	hub := server.StartOn(b, host.Options{}, host.Listen{HTTP: "127.0.0.1:0"})
	fill(hub, "ann", n)
	for range b.N {
		l := server.StartOn(b, host.Options{}, host.Listen{})
		must.Do(b, operator.Command(b.Context(), l.Acts, operator.AddRemote, operator.Remote{Name: "hub", URL: hub.URL(), KeyFile: filepath.Join(hub.Dir, "token")}))
		began, used := time.Now(), usedCPU()
		done := mustExchange(l, operator.RemoteRequest{Pull: true})
		b.ReportMetric(float64(done.Pulled.Taken)/time.Since(began).Seconds(), "memories/s")
		b.ReportMetric(float64((usedCPU()-used).Microseconds())/float64(done.Pulled.Taken), "CPU-µs/memory")
	}
}

// BenchmarkHistories brings 10,000 memories with five versions each to an empty memory, over the loopback: all versions, and beside them the
// newest alone.
func BenchmarkHistories(b *testing.B) {
	const memories, versions = 10_000, 5
	hub := server.StartOn(b, host.Options{}, host.Listen{HTTP: "127.0.0.1:0"})
	owner := hub.Memory().As(memory.Caller{Agent: "ann", Rights: memory.FullRights()})
	words := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 8, 20_000)
	for range versions {
		for first := 0; first < memories; first += 1000 {
			items := make([]memory.Item, 1000)
			for i := range items {
				var text strings.Builder
				for range 30 {
					fmt.Fprintf(&text, "w%x ", words.Uint64()*7919%1_000_003)
				}
				value, err := json.Marshal(text.String())
				must.Do(b, err)
				items[i] = memory.Item{Key: fmt.Sprint("k", first+i), Value: value}
			}
			_, err := owner.Store(b.Context(), memory.Location{}, items, memory.Write{})
			must.Do(b, err)
		}
	}
	address, bytes := counted(b, hub.At.HTTP)
	for range b.N {
		for _, history := range []operator.RemoteHistory{"newest", "all"} {
			l := server.StartOn(b, host.Options{}, host.Listen{})
			must.Do(b, operator.Command(b.Context(), l.Acts, operator.AddRemote, operator.Remote{Name: "hub", URL: "http://" + address, KeyFile: filepath.Join(hub.Dir, "token"), History: history}))
			before, began, used := bytes.Load(), time.Now(), usedCPU()
			done := mustExchange(l, operator.RemoteRequest{Pull: true})
			if want := map[operator.RemoteHistory]int{"all": memories * (versions - 1)}[history]; done.Pulled.Past != want {
				b.Fatalf("a pull of %s versions brought %d older ones, want %d", history, done.Pulled.Past, want)
			}
			b.ReportMetric(time.Since(began).Seconds(), string(history)+"-s")
			b.ReportMetric((usedCPU() - used).Seconds(), string(history)+"-CPU-s")
			b.ReportMetric(float64(bytes.Load()-before)/(1<<20), string(history)+"-MiB")
		}
	}
}
