package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Nodes are servers of which one is the primary, and the others have what it commits before it is acknowledged: at least one of them.
type Nodes struct {
	List    []*Server
	Primary int
	t       testing.TB
}

// Place is where a node is: its address, and what its commands begin with.
type Place struct {
	Address string
	Prefix  []string
}

// StartNodes starts a primary in the first place, and standbys in the others.
func StartNodes(t testing.TB, places []Place) *Nodes {
	t.Helper()
	bin := Find()
	as, ok := unprivileged()
	if bin == "" || !ok {
		t.Skip(ErrMissing)
	}
	n := &Nodes{t: t}
	var names []string
	for i := range places {
		names = append(names, fmt.Sprint("node", i))
	}
	settings := []string{"max_connections=200", "wal_level=replica", "max_wal_senders=10", "wal_keep_size=512MB", "hot_standby=on", "wal_receiver_timeout=30s", "wal_sender_timeout=30s",
		"wal_retrieve_retry_interval=100ms", // a standby finds the next primary at once, as one does that a failover manager starts anew
		"synchronous_standby_names=ANY 1 (" + strings.Join(names, ", ") + ")"}
	for i, p := range places {
		s, stop, err := prepare(bin, as, settings)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		s.address, s.prefix = p.Address, p.Prefix
		n.List = append(n.List, s)
		if i > 0 {
			n.must(n.Rejoin(i))
			continue
		}
		n.must(s.run("initdb", "-D", s.data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"))
		n.must(s.trust())
		n.must(s.Run())
	}
	return n
}

func (n *Nodes) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// trust admits all machines.
func (s *Server) trust() error {
	f, err := os.OpenFile(s.data+"/pg_hba.conf", os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("host all all all trust\nhost replication all all trust\n")
	return errors.Join(err, f.Close())
}

// rejoins is how often a node tries to begin anew: a machine that is busy, or was cut off just now, may lose a connection.
const rejoins = 10

// Rejoin has a node that does not run begin anew as a standby of the primary.
func (n *Nodes) Rejoin(i int) (err error) {
	for range rejoins {
		if err = n.rejoin(i); err == nil {
			return nil
		}
	}
	return err
}

func (n *Nodes) rejoin(i int) error {
	s := n.List[i]
	if err := os.RemoveAll(s.data); err != nil {
		return err
	}
	if err := s.run("pg_basebackup", "-D", s.data, "-R", "-X", "stream", "-c", "fast", "-d", n.conninfo(i)); err != nil {
		return err
	}
	return s.Run()
}

// conninfo is how a node reaches the primary.
func (n *Nodes) conninfo(i int) string {
	return fmt.Sprintf("host=%s port=5432 user=postgres application_name=node%d connect_timeout=2", n.List[n.Primary].address, i)
}

// Promote has the standby with the newest log replace the primary, which does not run or is cut off, and is killed first. It returns once the next
// one can commit: a standby confirms what it writes.
func (n *Nodes) Promote(ctx context.Context) error {
	old := n.Primary
	if err := n.List[old].Kill(); err != nil {
		return err
	}
	best, most := -1, int64(-1)
	for i, s := range n.List {
		if i == old || s.running == nil {
			continue
		}
		at, err := s.received(ctx)
		if err != nil {
			return err
		}
		if at > most {
			best, most = i, at
		}
	}
	if best < 0 {
		return errors.New("no standby runs")
	}
	n.Primary = best
	if err := n.List[best].run("pg_ctl", "promote", "-D", n.List[best].data, "-w"); err != nil {
		return err
	}
	for i, s := range n.List {
		if i == old || i == best || s.running == nil {
			continue
		}
		if err := s.Exec(ctx, "postgres", fmt.Sprintf(`ALTER SYSTEM SET primary_conninfo = '%s'`, n.conninfo(i)), `SELECT pg_reload_conf()`); err != nil {
			return err
		}
	}
	for confirmed := false; !confirmed; {
		if err := n.List[best].query(ctx, `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')`, &confirmed); err != nil {
			return err
		}
	}
	return nil
}

// received has a standby receive no more, and returns how much it has of the log. What a killed primary sent may still be on its way: a standby
// that got it after another one was chosen could not follow that one.
func (s *Server) received(ctx context.Context) (bytes int64, err error) {
	if err := s.Exec(ctx, "postgres", `ALTER SYSTEM SET primary_conninfo = ''`, `SELECT pg_reload_conf()`); err != nil {
		return 0, err
	}
	for receiving := true; receiving; {
		if err := s.query(ctx, `SELECT EXISTS (SELECT FROM pg_stat_wal_receiver)`, &receiving); err != nil {
			return 0, err
		}
	}
	err = s.query(ctx, `SELECT pg_wal_lsn_diff(coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')::bigint`, &bytes)
	return bytes, err
}

// State tells, for people, what each node does.
func (n *Nodes) State(ctx context.Context) string {
	var told strings.Builder
	for i, s := range n.List {
		var text string
		if s.running == nil {
			text = "it does not run"
		} else if err := s.query(ctx, stateSQL, &text); err != nil {
			text = err.Error()
		}
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		fmt.Fprintf(&told, "node %d (%s): %s; its log ends: %s\n", i, s.address, text, log[max(0, len(log)-1000):])
	}
	return told.String()
}

const stateSQL = `
SELECT CASE WHEN pg_is_in_recovery() THEN 'standby at ' || pg_last_wal_replay_lsn() || ', received ' || coalesce(pg_last_wal_receive_lsn()::text, 'nothing') ELSE 'primary at ' || pg_current_wal_lsn() END
	|| coalesce((SELECT string_agg(', from ' || sender_host || ' ' || status || ' timeline ' || received_tli, '') FROM pg_stat_wal_receiver), '')
	|| coalesce((SELECT string_agg(', to ' || application_name || ' ' || state || ' ' || sync_state || ' ' || coalesce(flush_lsn::text, ''), '') FROM pg_stat_replication), '')`

func (s *Server) query(ctx context.Context, text string, into any) error {
	c, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	return c.QueryRow(ctx, text).Scan(into)
}

// URL is that of a database, wherever the primary is.
func (n *Nodes) URL(database string) string {
	var hosts, ports []string
	for _, s := range n.List {
		hosts, ports = append(hosts, s.address), append(ports, "5432")
	}
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database, RawQuery: url.Values{
		"host": {strings.Join(hosts, ",")}, "port": {strings.Join(ports, ",")}, "target_session_attrs": {"read-write"}, "connect_timeout": {"1"}}.Encode()}
	return u.String()
}
