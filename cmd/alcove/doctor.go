package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
)

const (
	doctorPatience = 5 * time.Second
	doctorPause    = 50 * time.Millisecond // between two attempts to reach a server
	leastSpace     = 100 << 20             // bytes free on the disk before it is a worry
)

// finding is one thing that the doctor looked at.
type finding struct {
	What string  `json:"what"`
	Is   opinion `json:"is"`
	Says string  `json:"says"`
}

type opinion = operator.Opinion

const (
	fine  = operator.Fine
	noted = operator.Noted
	bad   = operator.Bad
)

// fineIf is fine, or bad.
func fineIf(ok bool) opinion {
	if ok {
		return fine
	}
	return bad
}

func (a *app) doctorCommand() *cobra.Command {
	var ready bool
	c := &cobra.Command{
		Use: "doctor", Short: "Diagnose the data directory and its server; changes nothing", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if ready {
				findings, err := a.examineReady(c.Context())
				return a.report(findings, err)
			}
			findings, err := a.examineAll(c.Context())
			if a.elsewhere.url == "" && a.elsewhere.admin == "" {
				findings = append(append(findings, a.examineProject()), a.examineHooks()...)
			}
			return a.report(findings, err)
		},
	}
	c.Flags().BoolVar(&ready, "ready", false, "only check whether a server is running and serving, for container health checks")
	return c
}

// report prints the result of each check. A failed check is an error.
func (a *app) report(findings []finding, err error) error {
	if err != nil {
		return err
	}
	if a.asJSON {
		err = a.printJSON(findings)
	} else {
		err = a.printFindings(findings)
	}
	for _, f := range findings {
		if f.Is == bad {
			return errors.Join(err, fmt.Errorf("%s needs attention", f.What))
		}
	}
	return err
}

// examineReady asks whether a server runs and serves. It starts none.
func (a *app) examineReady(ctx context.Context) ([]finding, error) {
	if a.elsewhere.url != "" {
		return a.examineElsewhere(ctx), nil
	}
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	pid, running, lock := examineLock(dir)
	if !running {
		lock.Is = bad
		return []finding{lock}, nil
	}
	socket := a.examineSocket(ctx, dir, pid, running)
	reached := socket.Is != bad || socket.What == "key" // operators need no key
	found := append([]finding{lock, socket}, a.examineStore(ctx, dir, pid, reached)[:1]...)
	if r, err := owner.ReadRecord(dir); err == nil && r.HTTP != "" {
		found = append(found, a.examineHTTP(ctx, dir, running))
	}
	return found, nil
}

// examineAll examines the memory that commands use.
func (a *app) examineAll(ctx context.Context) ([]finding, error) {
	switch {
	case a.elsewhere.url != "":
		return a.examineElsewhere(ctx), nil
	case a.elsewhere.admin != "":
		return a.examineOperated(ctx), nil
	}
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	return a.examine(ctx, dir), nil
}

func (a *app) printFindings(findings []finding) error {
	for _, f := range findings {
		style := map[opinion]terminal.Style{fine: terminal.Green, noted: terminal.Yellow, bad: terminal.Red}[f.Is]
		mark := a.out.Style(style, fmt.Sprintf("%-4s", f.Is))
		if err := a.printf("%s %-15s %s\n", mark, f.What, f.Says); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) examine(ctx context.Context, dir string) []finding {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	found := []finding{{"version", fine, versionText()}, a.examineCatalogue(), a.examineDir(dir)}
	found = append(found, examineFiles(dir)...)
	pid, running, lock := examineLock(dir)
	found = append(found, lock, examineLocked(dir), examinePosture(dir), a.examineSocket(ctx, dir, pid, running))
	last := found[len(found)-1]
	reached := running && (last.Is != bad || last.What == "key") // operators need no key
	found = append(append(found, a.examineStore(ctx, dir, pid, reached)...), examineToken(dir, pid, running), a.examineHTTP(ctx, dir, running))
	if reached {
		found = append(found, a.examineTools(ctx))
	}
	found = append(found, a.examineConfiguration(ctx, reached)...)
	found = append(found, a.examineClients(dir)...)
	return append(found, a.examineCache(), diskFinding(dir, freeSpace))
}

// examineCatalogue says by what the families are known that the program carries.
func (a *app) examineCatalogue() finding {
	c, err := a.carried()
	if err != nil {
		return finding{"catalogue", bad, err.Error()}
	}
	return finding{"catalogue", fine, c.String()}
}

// examineCache says how large the cache of compiled modules is. Without one everything works, and starts more slowly.
func (a *app) examineCache() finding {
	cache, err := a.moduleCache()
	if err != nil {
		return finding{"compiled", bad, err.Error()}
	}
	if cache.Dir == "" {
		return finding{"compiled", noted, "modules are compiled again at each start: there is no cache for them (--cache)"}
	}
	u, err := sandbox.CacheUse(cache)
	if err != nil {
		return finding{"compiled", noted, "modules are compiled again at each start: " + err.Error()}
	}
	return finding{"compiled", fine, fmt.Sprintf("%s in %s, %.1f MB of at most %.0f", counted(u.Modules, "module"), cache.Dir, float64(u.Bytes)/1e6, float64(u.Most)/1e6)}
}

func (a *app) examineDir(dir string) finding {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{"data directory", fine, dir + " does not exist yet: the first command makes it"}
	case err != nil:
		return finding{"data directory", bad, err.Error()}
	case !info.IsDir():
		return finding{"data directory", bad, dir + " is not a directory: choose another with --data"}
	case runtime.GOOS == "windows":
		return finding{"data directory", fine, dir + " (access by other users is not checked here: its access list must name you alone)"}
	}
	warnings, err := a.sharing.CheckDir(dir)
	others := info.Mode().Perm() & 0o077
	if a.sharing.Group {
		others &= 0o007
	}
	switch {
	case err != nil:
		return finding{"data directory", bad, err.Error()}
	case len(warnings) > 0:
		return finding{"data directory", bad, strings.Join(warnings, "; ")}
	case others != 0:
		return finding{"data directory", bad, fmt.Sprintf("others can enter %s: chmod 700 %q", dir, dir)}
	case owner.Writable(dir) != nil:
		return finding{"data directory", noted, dir + " cannot be written, and is served read-only"}
	}
	return finding{"data directory", fine, dir}
}

// examineLock reports whether a server is running, and its process as far as it is known.
func examineLock(dir string) (pid int, running bool, f finding) {
	err := owner.CheckFree(dir)
	var owned *owner.OwnedError
	switch {
	case errors.As(err, &owned) && owned.PID == 0:
		return 0, true, finding{"lock", fine, "held by an unidentified process"}
	case errors.As(err, &owned):
		return owned.PID, true, finding{"lock", fine, fmt.Sprintf("held by process %d", owned.PID)}
	case err != nil:
		return 0, false, finding{"lock", bad, err.Error()}
	}
	return 0, false, finding{"lock", fine, "free: no server is running"}
}

// examineLocked says whether the directory is locked, and whether its lock file is the one that was last accepted.
func examineLocked(dir string) finding {
	last, err := audit.LastLock(owner.AuditPath(dir))
	if err != nil {
		return finding{"locked", bad, err.Error()}
	}
	file, err := lockfile.Read(dir, owner.AuditPath(dir))
	switch {
	case err != nil:
		return finding{"locked", bad, err.Error()}
	case last.Digest != "" && !file.Accepted(last) && last.Locked:
		return finding{"locked", bad, (&lockfile.EditedError{Dir: dir, Missing: file.Missing}).Error()}
	case last.Locked || file.Lock.Locked:
		return finding{"locked", fine, "yes, by alcove.lock with the digest " + cmp.Or(last.Digest, "that the next server notes")}
	}
	return finding{"locked", fine, "no: alcove lock does that"}
}

func (a *app) examineSocket(ctx context.Context, dir string, pid int, running bool) finding {
	if !running {
		socket, err := owner.SocketPath(dir)
		if err != nil {
			return finding{"socket", bad, err.Error()}
		}
		if left := staleSockets(dir); len(left) > 0 {
			return finding{"socket", noted, strings.Join(left, " and ") + " was left by a server that was killed: the next server replaces it"}
		}
		return finding{"socket", fine, "will be " + socket}
	}
	conn, err := a.dialRunning(ctx, dir)
	if errors.Is(err, owner.ErrNone) {
		return finding{"socket", bad, fmt.Sprintf("the server cannot be reached. It recreates its socket within a second; if it does not, stop it: the next command starts another: %s", endProcess(dir, pid))}
	}
	var refused *owner.Refusal
	if errors.As(err, &refused) && refused.Code == "denied" {
		return a.examineKey(dir, pid, refused)
	}
	if err != nil {
		return finding{"socket", bad, err.Error()}
	}
	defer conn.Close()
	if v := conn.Welcome.Version; v != versionText() {
		return finding{"socket", bad, fmt.Sprintf("the server (process %d) is of version %s, not %s: end it, and the next command starts this version: %s", conn.Welcome.PID, v, versionText(), endProcess(dir, conn.Welcome.PID))}
	}
	return finding{"socket", fine, fmt.Sprintf("process %d answers", conn.Welcome.PID)}
}

// examineKey tells what it means that a server refuses this client, which is as it should be if the server wants a key and none is set.
func (a *app) examineKey(dir string, pid int, refused *owner.Refusal) finding {
	key, err := a.key()
	if err != nil || key != "" {
		return finding{"key", bad, errors.Join(err, refused).Error()}
	}
	return finding{"socket", noted, fmt.Sprintf("process %d answers, and requires an API key of clients: commands for memories need ALCOVE_KEY or --key-file (alcove key create --data %s), operators' commands do not", pid, quoted(dir))}
}

// dialRunning connects to a server that holds the lock, and so need not be started: its socket may be made again just now.
func (a *app) dialRunning(ctx context.Context, dir string) (*owner.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience/2)
	defer cancel()
	for {
		key, err := a.key()
		if err != nil {
			return nil, err
		}
		conn, err := owner.Dial(ctx, owner.Options{Dir: dir, Sharing: a.sharing, Hello: owner.Hello{Key: key}})
		if err == nil || !errors.Is(err, owner.ErrNone) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(doctorPause):
		}
	}
}

// endProcess is the command that ends a server.
func endProcess(dir string, pid int) string {
	switch {
	case pid == 0:
		return "lsof " + strconv.Quote(owner.LockPath(dir)) + " names its process"
	}
	return "alcove stop --data " + quoted(dir)
}

// examineStore examines the store and what is in it, through the server if it answers.
func (a *app) examineStore(ctx context.Context, dir string, pid int, reached bool) (found []finding) {
	if !reached {
		directory, err := a.directory(dir)
		if err == nil {
			err = directory.CheckDatabase()
		}
		if err != nil {
			return []finding{{"store", bad, err.Error()}}
		}
		return []finding{{"store", fine, "is opened by the next server"}}
	}
	list, err := query(ctx, a, operator.Diagnose)
	if err != nil {
		return []finding{{"store", noted, "unknown: " + err.Error()}}
	}
	for _, f := range list {
		if f.What == "store" && f.Is == bad {
			f.Says += ": " + endProcess(dir, pid)
		}
		found = append(found, finding{f.What, f.Is, f.Says})
	}
	return found
}

func examineToken(dir string, pid int, running bool) finding {
	path := owner.TokenPath(dir)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && running && owner.Writable(dir) == nil:
		return finding{"token", bad, "is gone, but the server still requires it of HTTP clients: stop the server, and the next one creates another: " + endProcess(dir, pid)}
	case errors.Is(err, fs.ErrNotExist):
		return finding{"token", fine, "none yet: the first server makes it"}
	case err != nil:
		return finding{"token", bad, err.Error()}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return finding{"token", bad, fmt.Sprintf("others can read it: chmod 600 %q, or delete it to get a new one", path)}
	}
	return finding{"token", fine, path}
}

func (a *app) examineHTTP(ctx context.Context, dir string, running bool) finding {
	r, err := owner.ReadRecord(dir)
	if !running || err != nil {
		return examinePort(a.envOr("ALCOVE_LISTEN", host.DefaultHTTP))
	}
	if r.HTTP == "" {
		return finding{"HTTP", noted, "the server has no HTTP: its port was taken, or it was started without (owner.log in the data directory says which). Clients over HTTP reach it after alcove stop and alcove serve --listen ADDRESS"}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, onThisMachine(r).URL()+"/readyz", nil)
	if err != nil {
		return finding{"HTTP", bad, err.Error()}
	}
	// The certificate is for the name that other machines use, and nothing secret is sent.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return finding{"HTTP", bad, err.Error()}
	}
	defer answer.Body.Close()
	return finding{"HTTP", fineIf(answer.StatusCode == http.StatusOK), fmt.Sprintf("%s/mcp answers %s", usable(ctx, r), answer.Status)}
}

func examinePort(address string) finding {
	if address == "off" {
		return finding{"HTTP", fine, "off"}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return finding{"HTTP", bad, fmt.Sprintf("%v: the server will run without HTTP; alcove serve --listen chooses another address", err)}
	}
	l.Close()
	return finding{"HTTP", fine, address + " is free"}
}

// diskFinding says how much space is left for the data directory.
func diskFinding(dir string, freeSpace func(string) (uint64, error)) finding {
	free, err := freeSpace(dir)
	switch {
	case err != nil:
		return finding{"disk", noted, "unknown: " + err.Error()}
	case free < leastSpace:
		return finding{"disk", bad, fmt.Sprintf("only %d MiB are free, and a full disk refuses every store: delete unneeded memories, shorten the retention (alcove retention) and compact (alcove compact), or move %s to a larger disk",
			free>>20, dir)}
	}
	return finding{"disk", fine, fmt.Sprintf("%.1f GiB are free", float64(free)/(1<<30))}
}
