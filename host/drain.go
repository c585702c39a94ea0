package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/cluster"
	"github.com/alcove-memory/alcove/host/operator"
)

// drain hands all spaces over. It returns once they count as led by others, or by nobody.
func (s *shared) drain(ctx context.Context) error {
	err := s.sharing.member.Drain(ctx)
	s.spaces.handOver()
	if err == nil {
		err = s.sharing.member.Drain(ctx) // which looks again
	}
	if err != nil {
		return fmt.Errorf("this server leads no spaces now, and its leases expire by themselves: %w", err)
	}
	return nil
}

// ready returns why this server is of no use to clients; nil: it is.
func (s *shared) ready(context.Context) error {
	if err := s.sharing.member.Ready(); err != nil {
		return err
	}
	if clusterOf(s.sharing.member.State()).Stranded() {
		return errors.New("this server is being drained, and no other server takes its spaces: start another one")
	}
	return nil
}

// describe says how this server is, a line each.
func (s *shared) describe() string {
	state := s.sharing.member.State()
	if clusterOf(state).Asked().Draining {
		return state.Describe() + "draining: it takes no spaces, and forwards until it is stopped\n"
	}
	return state.Describe()
}

func clusterOf(state cluster.State) operator.Cluster {
	c := operator.Cluster{Self: state.Self, Term: state.Term, Left: state.Left, Seen: max(0, state.Term-state.Term/10-state.Left), Failure: state.Failure, Servers: []operator.ClusterServer{}, Spaces: []operator.ClusterSpace{}}
	led := map[string]int{}
	for _, l := range state.Leases {
		led[l.Server]++
		c.Spaces = append(c.Spaces, operator.ClusterSpace{Name: l.Space, Server: l.Server, Address: l.Address, Gone: l.Gone, Since: l.Since, Epoch: l.Epoch, Version: l.Head})
	}
	for _, o := range state.Servers {
		c.Servers = append(c.Servers, operator.ClusterServer{ID: o.ID, Address: o.Address, Version: o.Version, Started: o.Started, Draining: o.Draining, Gone: o.Left <= 0,
			Lag: max(0, state.Term-o.Left), Leads: led[o.ID]})
	}
	return c
}
