package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/regular"
)

const (
	longestClusterKey = 4 << 10 // bytes of its file
	defaultPeers      = "127.0.0.1:9744"
)

// clusterFlags say how a server shares the spaces of a database.
type clusterFlags struct{ keyFile, listen, address string }

func (f *clusterFlags) add(flags *pflag.FlagSet, a *app) {
	flags.StringVar(&f.keyFile, "cluster-key-file", a.env("ALCOVE_CLUSTER_KEY_FILE"), "share the spaces of the database in --store with other servers that have the same key in this file (or ALCOVE_CLUSTER_KEY_FILE)")
	flags.StringVar(&f.listen, "cluster-listen", a.envOr("ALCOVE_CLUSTER_LISTEN", defaultPeers), "the address to listen on for other servers of the cluster (or ALCOVE_CLUSTER_LISTEN)")
	flags.StringVar(&f.address, "cluster-address", a.env("ALCOVE_CLUSTER_ADDRESS"), "the address that other servers of the cluster use (or ALCOVE_CLUSTER_ADDRESS; default: that of --cluster-listen)")
}

// options are those of a server that shares spaces; nil: it shares none.
func (f clusterFlags) options() (*host.SharedOptions, error) {
	if f.keyFile == "" {
		return nil, nil
	}
	file, err := regular.Open(f.keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the key of the cluster: %w", err)
	}
	defer file.Close()
	key, err := io.ReadAll(io.LimitReader(file, longestClusterKey+1))
	if err != nil {
		return nil, fmt.Errorf("read the key of the cluster: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, &usageError{fmt.Errorf("others can read the key of the cluster: chmod 600 %q", f.keyFile)}
	}
	if len(key) > longestClusterKey {
		return nil, &usageError{fmt.Errorf("the file %s of the cluster's key has more than %d bytes", f.keyFile, longestClusterKey)}
	}
	return &host.SharedOptions{Key: bytes.TrimSpace(key), Listen: f.listen, Advertise: f.address}, nil
}

func (a *app) clusterCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "cluster", Short: "Manage servers that share the spaces of a database",
		Long: `Servers with the same --store and --cluster-key-file share the spaces of a database. One of them leads each space, and
the others forward requests to it.`,
	}
	c.AddCommand(a.clusterStatusCommand(), a.clusterDrainCommand())
	return c
}

func (a *app) clusterStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the servers, the spaces, and the leader of each space", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := query(c.Context(), a, operator.GetCluster)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(all)
			}
			return errors.Join(a.printServers(all), a.printLed(all))
		},
	}
}

func (a *app) printServers(all operator.Cluster) error {
	if all.Failure != "" {
		a.printf("this server cannot renew its leases: %s\nthe state below is from %s ago\n", all.Failure, all.Seen.Round(time.Millisecond))
	}
	for _, s := range all.Servers {
		about := fmt.Sprintf("leads %d", s.Leads)
		switch {
		case s.Gone:
			about = "gone"
		case s.Draining && s.Leads == 0:
			about = "drained"
		case s.Draining:
			about += ", being drained"
		}
		if s.ID == all.Self {
			about += ", this one"
		}
		if err := a.printf("server %s  %s  %s, renewed %s ago\n", s.Address, s.Version, about, s.Lag.Round(time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printLed(all operator.Cluster) error {
	for _, s := range all.Spaces {
		who := s.Address
		if s.Gone {
			who = "nobody: its server is gone"
		}
		if err := a.printf("space %s  %s  since %s, epoch %d, version %d\n", s.Name, who, clock(s.Since), s.Epoch, s.Version); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) clusterDrainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "drain", Short: "Hand the spaces of this server over to the others", Args: noArguments,
		Long: `Hand the spaces of this server over to the others, and have it lead none from then on. It forwards to them until it is stopped.
alcove stop does the same, and ends it.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := query(c.Context(), a, operator.DrainServer); err != nil {
				return err
			}
			all, err := query(c.Context(), a, operator.GetCluster)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(all)
			}
			return a.printDrained(all)
		},
	}
}

// printShared says how the server is that has the memory, if it shares spaces with others.
func (a *app) printShared(ctx context.Context) error {
	if a.elsewhere.url != "" {
		return nil
	}
	all, err := query(ctx, a, operator.GetCluster)
	if err != nil { // it shares none
		return nil
	}
	state := "connected to the database"
	switch {
	case all.Failure != "":
		state = fmt.Sprintf("not connected to the database for %s: %s", all.Seen.Round(time.Second), all.Failure)
	case all.Stranded():
		state = "drained, and no other server took its spaces"
	case all.Asked().Draining:
		state = "drained: it forwards to the others until alcove stop"
	}
	return a.printField("shared", fmt.Sprintf("by %s; this one is %s", counted(len(all.Servers), "server"), state))
}

// printDrained says what is left to do once a server was drained.
func (a *app) printDrained(all operator.Cluster) error {
	if n := all.Asked().Leads; n > 0 {
		a.printf("%d spaces belong to this server until its leases expire\n", n)
	}
	if all.Stranded() {
		return a.printf("this server leads no spaces now, and no other server took them: clients are refused until one starts\n")
	}
	return a.printf("this server leads no spaces now: alcove stop stops it\n")
}
