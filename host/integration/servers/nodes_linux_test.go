package servers_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/netns"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// site is machines that have a server and a node of the database each.
type site struct {
	*load
	machines []*netns.Host
	nodes    *postgres.Nodes
	servers  []*server.Sharing
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{machines: netns.Hosts(t, 3)}
	var places []postgres.Place
	for _, m := range s.machines {
		places = append(places, postgres.Place{Address: m.Address, Prefix: m.Prefix()})
	}
	s.nodes = postgres.StartNodes(t, places)
	must.Do(t, s.nodes.List[s.nodes.Primary].Exec(t.Context(), "postgres", "CREATE DATABASE memories"))
	for i, m := range s.machines {
		s.servers = append(s.servers, server.NewSharingOn(t, s.nodes.URL("memories"), server.Machine{Prefix: m.Prefix(), Address: m.Address, HTTP: fmt.Sprint("127.0.0.", i+1)}))
	}
	await.That(t, "all servers know each other", func() bool {
		for _, one := range s.servers {
			if c := one.Cluster(); running(c) != 3 || len(c.Spaces) != 1 {
				return false
			}
		}
		return true
	})
	s.load = newLoad(t, s.servers)
	s.client.Transport.(*http.Transport).DialContext = s.dial
	return s
}

// dial reaches the server of a machine from that machine: all have the same addresses of their own.
func (s *site) dial(ctx context.Context, network, address string) (net.Conn, error) {
	for i, m := range s.machines {
		if strings.HasPrefix(address, fmt.Sprintf("127.0.0.%d:", i+1)) {
			return m.Dial(ctx, network, address)
		}
	}
	return nil, fmt.Errorf("no machine has %s", address)
}

// others are all machines but one.
func (s *site) others(i int) (list []*netns.Host) {
	for j, m := range s.machines {
		if j != i {
			list = append(list, m)
		}
	}
	return list
}

// faults are what happens to a site, each with what mends it.
func (s *site) faults() []siteFault {
	replaced := func() (mend func()) { // as a failover manager that fences does
		old := s.nodes.Primary
		must.Do(s.t, s.nodes.Promote(s.t.Context()))
		return func() { must.Do(s.t, s.nodes.Rejoin(old)) }
	}
	return []siteFault{
		{"primary killed", replaced},
		{"server killed", func() func() {
			i := (s.nodes.Primary + 1) % len(s.servers)
			s.servers[i].Kill()
			return func() {
				s.servers[i].Start()
				s.at(i, s.servers[i])
			}
		}},
		{"primary cut off", func() func() {
			heal := s.machines[s.nodes.Primary].Cut(s.others(s.nodes.Primary)...)
			rejoin := replaced()
			return func() {
				heal()
				rejoin()
			}
		}},
		{"standby cut off", func() func() {
			i := (s.nodes.Primary + 1) % len(s.machines)
			return s.machines[i].Cut(s.others(i)...)
		}},
	}
}

type siteFault struct {
	name string
	do   func() (mend func()) // returns once the database, if it failed, can commit again
}

const (
	siteRounds = 3  // of faults, in the short form
	siteMore   = 10 // answers of each space before, during and after one
)

// TestNothingIsLostOrDoneTwiceWhilePrimariesFailAndMachinesAreCutOff has clients of several spaces ask three servers, each on a machine with a
// node of the database, while servers and primaries are killed and machines are cut off, and judges what each space answered.
func TestNothingIsLostOrDoneTwiceWhilePrimariesFailAndMachinesAreCutOff(t *testing.T) {
	s := newSite(t)
	stop := s.run()
	faults, longest := s.faults(), map[string]time.Duration{}
	failover := map[string]time.Duration{}
	for round := range stress.FromEnvironment(t).Rounds(siteRounds) {
		if t.Failed() {
			break
		}
		f := faults[round%len(faults)]
		s.more(siteMore)
		s.longest.Store(0)
		began := time.Now()
		mend := f.do()
		failover[f.name] = max(failover[f.name], time.Since(began).Round(time.Millisecond))
		s.more(siteMore)
		longest[f.name] = max(longest[f.name], time.Duration(s.longest.Load()).Round(time.Millisecond))
		mend()
		s.more(siteMore)
	}
	if t.Failed() {
		t.Logf("the nodes of the database:\n%s", s.nodes.State(t.Context()))
	}
	stop()
	t.Logf("longest failovers %v", failover)
	s.judge(longest)
}
