package servers_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

const (
	shareSpaces  = 24
	shareClients = 2                // of each space
	sharePeriod  = 100_000          // µs of processor time that a quota is of
	shareFor     = 10 * time.Second // of a measurement
)

// BenchmarkServersThatShareSpaces measures how many calls one, two and three servers answer that have a part of a processor each, so that
// what they need beside that, the database and the clients, has the rest: ALCOVE_QUOTA is the part in percent.
func BenchmarkServersThatShareSpaces(b *testing.B) {
	quota, err := strconv.Atoi(os.Getenv("ALCOVE_QUOTA"))
	if err != nil {
		quota = 30
	}
	alone := map[string]float64{}
	for n := 1; n <= 3; n++ {
		b.Run(fmt.Sprintf("%d servers", n), func(b *testing.B) {
			s := newShare(b, n, quota)
			for _, name := range []string{"any", "leader"} {
				rate := s.measure(b, name == "leader")
				if n == 1 {
					alone[name] = rate
				}
				b.ReportMetric(rate, name+"/s")
				b.ReportMetric(rate/alone[name], name+"/one")
			}
			b.ReportMetric(0, "ns/op")
			load, _ := os.ReadFile("/proc/loadavg")
			b.Logf("load of the machine: %s", bytes.TrimSpace(load))
		})
	}
}

// share is servers with a part of a processor, and what clients ask them for.
type share struct {
	servers []*server.Sharing
	keys    map[string]string // by space
}

func newShare(b *testing.B, n, quota int) *share {
	s := &share{keys: map[string]string{}}
	url := must.Get(postgres.Start(b, "max_connections=300").Database())
	for i := range n {
		m := server.Machine{Address: "127.0.0.1", HTTP: "127.0.0.1", Prefix: limited(b, fmt.Sprintf("alcove-%d-%d-%d", os.Getpid(), n, i), quota)}
		s.servers = append(s.servers, server.NewSharingOn(b, url, m))
	}
	await.That(b, "all servers know each other", func() bool {
		for _, one := range s.servers {
			if running(one.Cluster()) != n {
				return false
			}
		}
		return true
	})
	for i := range shareSpaces {
		name := fmt.Sprint("s", i)
		s.keys[name] = s.issue(b, s.servers[i%n], name)
	}
	await.That(b, "the servers lead as many spaces each", func() bool {
		c := s.servers[0].Cluster()
		for _, one := range c.Servers {
			if one.Leads < shareSpaces/n/2 {
				return false
			}
		}
		return true
	})
	return s
}

func (s *share) issue(b *testing.B, at *server.Sharing, name string) string {
	dir := must.Get(folder.Folder{Path: filepath.Join(at.Dir, "spaces")}.Create(name))
	var key operator.IssuedKey
	await.That(b, "a space is led, and has a key", func() bool { // a server that has little of a processor may lose its lease meanwhile
		conn, err := owner.Connect(b.Context(), at.At.Socket, owner.Hello{Space: name})
		if err != nil {
			return false
		}
		conn.Close()
		key, err = operator.Call(b.Context(), server.Operator(b, dir), operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"*"}})
		return err == nil
	})
	return key.Secret
}

// limited is what the command of a server begins with that has a part of a processor, in percent.
func limited(b *testing.B, name string, quota int) []string {
	v1, v2 := "/sys/fs/cgroup/cpu/"+name, "/sys/fs/cgroup/"+name
	group, limit, text := v1, "cpu.cfs_quota_us", fmt.Sprint(quota*sharePeriod/100)
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		group, limit, text = v2, "cpu.max", fmt.Sprint(quota*sharePeriod/100, sharePeriod)
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		b.Skipf("servers with a part of a processor need control groups: %v", err)
	}
	b.Cleanup(func() { _ = os.Remove(group) }) // once its processes have ended
	if err := os.WriteFile(filepath.Join(group, limit), []byte(text), 0o644); err != nil {
		b.Skipf("servers with a part of a processor need control groups: %v", err)
	}
	return []string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(group, "cgroup.procs")}
}

// measure has clients store and recall by way of all servers in turn, or of the one that leads their space, as a balancer of load that goes by
// path may, and returns how many calls were answered in a second.
func (s *share) measure(b *testing.B, leader bool) float64 {
	b.Helper()
	leads := map[string]int{}
	for i, one := range s.servers {
		for c := one.Cluster(); len(c.Spaces) > 0; c.Spaces = c.Spaces[1:] {
			if c.Spaces[0].Server == c.Self {
				leads[c.Spaces[0].Name] = i
			}
		}
	}
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: shareSpaces * shareClients}}
	defer client.CloseIdleConnections()
	var answered atomic.Int64
	ctx, cancel := context.WithTimeout(b.Context(), shareFor)
	defer cancel()
	var clients sync.WaitGroup
	for name, key := range s.keys {
		for c := range shareClients {
			clients.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					at := s.servers[(i+c)%len(s.servers)]
					if leader {
						at = s.servers[leads[name]]
					}
					done, err := s.call(ctx, &client, at.URL()+"/s/"+name, key, i)
					if err != nil && ctx.Err() == nil {
						b.Errorf("a call in %s: %v", name, err)
						return
					}
					if done {
						answered.Add(1)
					}
				}
			})
		}
	}
	clients.Wait()
	return float64(answered.Load()) / shareFor.Seconds()
}

// call stores every fourth time, and recalls otherwise. It is not done while the space moves.
func (s *share) call(ctx context.Context, client *http.Client, url, key string, i int) (done bool, err error) {
	tool, body := "memory_recall", `{"key":"k"}`
	if i%4 == 0 {
		tool, body = "memory_store", fmt.Sprintf(`{"key":"k","value":"walnut %d"}`, i)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/operation/"+tool, strings.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	got, err := client.Do(r)
	if err != nil {
		return false, err
	}
	defer got.Body.Close()
	said, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK && !bytes.Contains(said, []byte(`"retryable":true`)) {
		err = fmt.Errorf("got %d %.200s, want 200", got.StatusCode, said)
	}
	return got.StatusCode == http.StatusOK, err
}
