package postgres

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// DefaultSpace is the space of a URL that names none.
const DefaultSpace = "default"

const statementTimeout = 30 * time.Second // unless the URL has another

// mostConnections are those of all spaces together, unless the URL has another number: each that is written needs one while the database syncs.
const mostConnections = 16

// isURL reports whether a store is named by the URL of a PostgreSQL database.
func isURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// location is where a space is.
type location struct {
	space   string
	public  string // without secrets
	address string
	config  *pgxpool.Config
}

var spaceForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`) })

// locate parses a URL. Its errors contain none of it: it may have a password.
func locate(text string) (l location, err error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || !isURL(strings.TrimSpace(text)) {
		return l, fmt.Errorf("the store is not a URL as in postgres://USER@HOST/DATABASE?space=NAME (characters such as @ and / in a password are written as %%40 and %%2F)")
	}
	query := u.Query()
	if l.space = query.Get("space"); l.space == "" {
		l.space = DefaultSpace
	}
	if !spaceForm().MatchString(l.space) {
		return l, fmt.Errorf("space %.80q: a name has 1 to 63 letters, digits, dots, dashes and underscores, and begins with a letter or digit", l.space)
	}
	query.Del("space")
	u.RawQuery = query.Encode()
	if l.config, err = pgxpool.ParseConfig(u.String()); err != nil {
		return l, fmt.Errorf("the URL of the store has a host, port or parameter that is not understood")
	}
	if !query.Has("pool_max_conns") {
		l.config.MaxConns = mostConnections
	}
	c := l.config.ConnConfig
	l.address = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if strings.HasPrefix(c.Host, "/") {
		l.address = c.Host
	}
	l.public = l.publicOf(l.space)
	l.configure()
	return l, nil
}

// publicOf tells where a space is, without secrets.
func (l location) publicOf(space string) string {
	return fmt.Sprintf("space %s of the database %s at %s", space, l.config.ConnConfig.Database, l.address)
}

func (l location) configure() {
	params := l.config.ConnConfig.RuntimeParams
	for name, value := range map[string]string{
		"application_name":                    "alcove",
		"plan_cache_mode":                     "force_generic_plan", // a commit is planned for longer than it runs
		"enable_seqscan":                      "off",                // such a plan is made while tables are small, and kept
		"jit":                                 "off",                // the cost that the planner gives such a plan would have it compiled: for seconds, on each new connection
		"statement_timeout":                   strconv.FormatInt(statementTimeout.Milliseconds(), 10),
		"idle_in_transaction_session_timeout": strconv.FormatInt(statementTimeout.Milliseconds(), 10),
	} {
		if _, chosen := params[name]; !chosen {
			params[name] = value
		}
	}
	if l.config.ConnConfig.ConnectTimeout == 0 {
		l.config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	l.config.ConnConfig.OnNotice = noteUnreplicated
	h := &hosts{lookup: l.config.ConnConfig.LookupFunc, silent: map[string]time.Time{}, open: map[*hostConn]bool{}, dialer: net.Dialer{
		Control:         boundSilence,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeEvery, Interval: probeEvery, Count: int(silentFor / probeEvery)},
	}}
	l.config.BeforeConnect, l.config.ConnConfig.DialFunc = h.order, h.dial
}

// silentFor is after what time a database whose machine does not even confirm what was sent counts as cut off. One that works for longer does.
const (
	silentFor  = 2 * time.Second
	probeEvery = time.Second
)

// unreplicated is set among the custom data of a connection that committed without the confirmation of a standby.
const unreplicated = "unreplicated"

// noteUnreplicated marks a connection whose wait for a standby was cancelled: what it committed may be lost with this server.
func noteUnreplicated(c *pgconn.PgConn, n *pgconn.Notice) {
	if strings.HasPrefix(n.Message, "canceling wait for synchronous replication") {
		c.CustomData()[unreplicated] = true
	}
}

// isUnreplicated reports, once, whether the last commit of a connection lacks the confirmation of a standby.
func isUnreplicated(c *pgx.Conn) bool {
	data := c.PgConn().CustomData()
	_, marked := data[unreplicated]
	delete(data, unreplicated)
	return marked
}
