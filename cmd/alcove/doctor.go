package main

import (
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
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/owner"
	"github.com/alcove-memory/alcove/host/sandbox"
)

const (
	doctorPatience = 5 * time.Second
	doctorPause    = 50 * time.Millisecond // between two attempts to reach a server
	leastSpace     = 100 << 20             // bytes free on the disk before it is a worry
)

// finding is one thing that the doctor looked at.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Diagnose the data directory and its server; changes nothing", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			findings := a.examine(c.Context(), dir)
			if a.asJSON {
				err = a.printJSON(findings)
			} else {
				err = a.printFindings(findings)
			}
			for _, f := range findings {
				if !f.OK {
					return errors.Join(err, fmt.Errorf("%s needs attention", f.What))
				}
			}
			return err
		},
	}
}

func (a *app) printFindings(findings []finding) error {
	for _, f := range findings {
		mark := a.out.Style(terminal.Green, "ok  ")
		if !f.OK {
			mark = a.out.Style(terminal.Red, "BAD ")
		}
		if err := a.printf("%s %-15s %s\n", mark, f.What, f.Says); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) examine(ctx context.Context, dir string) []finding {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	found := []finding{{"version", true, versionText()}, a.examineCatalogue(), a.examineDir(dir)}
	found = append(found, examineFiles(dir)...)
	pid, running, lock := examineLock(dir)
	found = append(found, lock, a.examineSocket(ctx, dir, pid, running))
	reached := running && found[len(found)-1].OK
	found = append(found, a.examineStore(ctx, dir, pid, reached), examineToken(dir, pid, running), a.examineHTTP(ctx, dir, running))
	if reached {
		found = append(found, a.examineBackup(ctx))
		found = append(found, a.examineEmbedders(ctx)...)
		found = append(found, a.examineFamilies(ctx)...)
		found = append(found, a.examineTools(ctx))
	}
	found = append(found, a.examineClients(dir)...)
	return append(found, a.examineCache(), diskFinding(dir, freeSpace))
}

// examineCatalogue says by what the families are known that the program carries.
func (a *app) examineCatalogue() finding {
	c, err := a.carried()
	if err != nil {
		return finding{"catalogue", false, err.Error()}
	}
	return finding{"catalogue", true, c.String()}
}

// examineCache says how large the cache of compiled modules is. Without one everything works, and starts more slowly.
func (a *app) examineCache() finding {
	cache, err := a.moduleCache()
	if err != nil {
		return finding{"compiled", false, err.Error()}
	}
	if cache.Dir == "" {
		return finding{"compiled", true, "modules are compiled again at each start: there is no cache for them (--cache)"}
	}
	u, err := sandbox.CacheUse(cache)
	if err != nil {
		return finding{"compiled", true, "modules are compiled again at each start: " + err.Error()}
	}
	return finding{"compiled", true, fmt.Sprintf("%d modules in %s, %.1f MB of at most %.0f", u.Modules, cache.Dir, float64(u.Bytes)/1e6, float64(u.Most)/1e6)}
}

// examineBackup says how old the last backup is, which is for its owner to judge.
func (a *app) examineBackup(ctx context.Context) finding {
	d, err := asked(ctx, a, operator.Operator.Durability)
	if err != nil {
		return finding{"backup", true, "unknown: " + err.Error()}
	}
	if d.Backup.IsZero() {
		return finding{"backup", true, "none was made: alcove backup FOLDER"}
	}
	return finding{"backup", true, fmt.Sprintf("the last one is of %s, %d versions ago", clock(d.Backup), d.Unsaved)}
}

// examineEmbedders says how far each embedder is.
func (a *app) examineEmbedders(ctx context.Context) (found []finding) {
	list, err := asked(ctx, a, operator.Operator.Embedders)
	if err != nil {
		return []finding{{"embedders", true, "unknown: " + err.Error()}}
	}
	for _, e := range list {
		f := finding{"embedder " + e.Name, e.Error == "", fmt.Sprintf("%d vectors, %d waiting", e.Vectors, e.Waiting)}
		if e.Error != "" {
			f.Says += "; " + e.Error
		}
		found = append(found, f)
	}
	return found
}

// examineFamilies says which families cannot be used, and which wait for an operator's decision.
func (a *app) examineFamilies(ctx context.Context) (found []finding) {
	list, err := asked(ctx, a, operator.Operator.FamilyStates)
	if err != nil {
		return []finding{{"families", true, "unknown: " + err.Error()}}
	}
	uses, err := asked(ctx, a, operator.Operator.FamilyUses)
	if err != nil {
		return []finding{{"families", true, "unknown: " + err.Error()}}
	}
	for _, u := range uses {
		found = append(found, troubled(u, time.Now())...)
		if u.Cut != nil {
			found = append(found, finding{"family " + u.Family, true, "was not told of " + u.Cut.String()})
		}
	}
	for _, f := range list {
		what := "family " + f.Manifest.Name
		if f.Fault != "" {
			found = append(found, finding{what, f.Grant.Disabled, "cannot be used: " + f.Fault})
		}
		switch g := f.Guard; {
		case g != nil && g.Missing != "":
			found = append(found, finding{what, false, fmt.Sprintf("nothing is stored: version %s serves its store hook, and %s; alcove family revoke %s store does without it", g.Version, g.Missing, f.Manifest.Name)})
		case g != nil && f.GrantCommand != "":
			found = append(found, finding{what, true, fmt.Sprintf("version %s serves its store hook until this one is granted it: %s", g.Version, f.GrantCommand)})
		case g != nil:
			found = append(found, finding{what, true, fmt.Sprintf("version %s serves its store hook", g.Version)})
		case f.Update != nil:
			found = append(found, finding{what, true, fmt.Sprintf("lacks the grants of version %s: %s", f.Update.Version, f.GrantCommand)})
		case len(f.NewlyAsked) > 0:
			found = append(found, finding{what, true, fmt.Sprintf("this release newly asks for %s: %s", strings.Join(f.NewlyAsked, ", "), f.GrantCommand)})
		}
	}
	return found
}

func (a *app) examineDir(dir string) finding {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{"data directory", true, dir + " does not exist yet: the first command makes it"}
	case err != nil:
		return finding{"data directory", false, err.Error()}
	case !info.IsDir():
		return finding{"data directory", false, dir + " is not a directory: choose another with --data"}
	case runtime.GOOS == "windows":
		return finding{"data directory", true, dir + " (access by other users is not checked here: its access list must name you alone)"}
	}
	warnings, err := a.sharing.CheckDir(dir)
	others := info.Mode().Perm() & 0o077
	if a.sharing.Group {
		others &= 0o007
	}
	switch {
	case err != nil:
		return finding{"data directory", false, err.Error()}
	case len(warnings) > 0:
		return finding{"data directory", false, strings.Join(warnings, "; ")}
	case others != 0:
		return finding{"data directory", false, fmt.Sprintf("others can enter %s: chmod 700 %q", dir, dir)}
	case owner.Writable(dir) != nil:
		return finding{"data directory", true, dir + " cannot be written, and is served read-only"}
	}
	return finding{"data directory", true, dir}
}

// examineLock reports whether a server is running, and its process as far as it is known.
func examineLock(dir string) (pid int, running bool, f finding) {
	err := owner.CheckFree(dir)
	var owned *owner.OwnedError
	switch {
	case errors.As(err, &owned) && owned.PID == 0:
		return 0, true, finding{"lock", true, "held by an unidentified process"}
	case errors.As(err, &owned):
		return owned.PID, true, finding{"lock", true, fmt.Sprintf("held by process %d", owned.PID)}
	case err != nil:
		return 0, false, finding{"lock", false, err.Error()}
	}
	return 0, false, finding{"lock", true, "free: no server is running"}
}

func (a *app) examineSocket(ctx context.Context, dir string, pid int, running bool) finding {
	if !running {
		socket, err := owner.SocketPath(dir)
		if err != nil {
			return finding{"socket", false, err.Error()}
		}
		if left := staleSockets(dir); len(left) > 0 {
			return finding{"socket", true, strings.Join(left, " and ") + " was left by a server that was killed: the next server replaces it"}
		}
		return finding{"socket", true, "will be " + socket}
	}
	conn, err := a.dialRunning(ctx, dir)
	if errors.Is(err, owner.ErrNone) {
		return finding{"socket", false, fmt.Sprintf("the server cannot be reached. It makes its socket again within a second; if it does not, end it, and the next command starts another: %s", endProcess(dir, pid))}
	}
	if err != nil {
		return finding{"socket", false, err.Error()}
	}
	defer conn.Close()
	if v := conn.Welcome.Version; v != versionText() {
		return finding{"socket", false, fmt.Sprintf("the server (process %d) is of version %s, not %s: end it, and the next command starts this version: %s", conn.Welcome.PID, v, versionText(), endProcess(dir, conn.Welcome.PID))}
	}
	return finding{"socket", true, fmt.Sprintf("process %d answers", conn.Welcome.PID)}
}

// dialRunning connects to a server that holds the lock, and so need not be started: its socket may be made again just now.
func (a *app) dialRunning(ctx context.Context, dir string) (*owner.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience/2)
	defer cancel()
	for {
		conn, err := owner.Dial(ctx, owner.Options{Dir: dir, Sharing: a.sharing})
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
	case runtime.GOOS == "windows":
		return fmt.Sprintf("taskkill /F /PID %d", pid)
	}
	return fmt.Sprintf("kill %d", pid)
}

// examineStore checks the store, through the server if it answers.
func (a *app) examineStore(ctx context.Context, dir string, pid int, reached bool) finding {
	if !reached {
		if err := host.Directory(dir).CheckDatabase(); err != nil {
			return finding{"store", false, err.Error()}
		}
		return finding{"store", true, "is opened by the next server"}
	}
	h, err := asked(ctx, a, operator.Operator.Health)
	if err != nil {
		return finding{"store", true, "unknown: " + err.Error()}
	}
	switch {
	case h.Fault != "":
		return finding{"store", false, fmt.Sprintf("nothing is stored any more: %s. What the server has open can still be saved: alcove backup FOLDER. Put the files back, or end the server, and the next command serves what is there then: %s",
			h.Fault, endProcess(dir, pid))}
	case h.ReadOnly:
		return finding{"store", true, "can only be read"}
	}
	return finding{"store", true, "open, and where the server opened it"}
}

func examineToken(dir string, pid int, running bool) finding {
	path := owner.TokenPath(dir)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && running && owner.Writable(dir) == nil:
		return finding{"token", false, "is gone, and the server still wants it of HTTP clients: end it, and the next one makes another: " + endProcess(dir, pid)}
	case errors.Is(err, fs.ErrNotExist):
		return finding{"token", true, "none yet: the first server makes it"}
	case err != nil:
		return finding{"token", false, err.Error()}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return finding{"token", false, fmt.Sprintf("others can read it: chmod 600 %q, or delete it to get a new one", path)}
	}
	return finding{"token", true, path}
}

func (a *app) examineHTTP(ctx context.Context, dir string, running bool) finding {
	r, err := owner.ReadRecord(dir)
	if !running || err != nil {
		return examinePort(a.envOr("ALCOVE_LISTEN", host.DefaultHTTP))
	}
	if r.HTTP == "" {
		return finding{"HTTP", true, "the server does without (its port was taken, or it was told to)"}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL()+"/readyz", nil)
	if err != nil {
		return finding{"HTTP", false, err.Error()}
	}
	// The certificate is for the name that other machines use, and nothing secret is sent.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return finding{"HTTP", false, err.Error()}
	}
	defer answer.Body.Close()
	return finding{"HTTP", answer.StatusCode == http.StatusOK, fmt.Sprintf("%s/mcp answers %s", r.URL(), answer.Status)}
}

func examinePort(address string) finding {
	if address == "off" {
		return finding{"HTTP", true, "off"}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return finding{"HTTP", false, fmt.Sprintf("%v: the server will do without HTTP; alcove serve --listen chooses another address", err)}
	}
	l.Close()
	return finding{"HTTP", true, address + " is free"}
}

// diskFinding says how much space is left for the data directory.
func diskFinding(dir string, freeSpace func(string) (uint64, error)) finding {
	free, err := freeSpace(dir)
	switch {
	case err != nil:
		return finding{"disk", true, "unknown: " + err.Error()}
	case free < leastSpace:
		return finding{"disk", false, fmt.Sprintf("only %d MiB are free, and a full disk refuses every store: delete what nobody needs, shorten how long the past is kept (alcove retention) and compact (alcove compact), or move %s to a larger disk",
			free>>20, dir)}
	}
	return finding{"disk", true, fmt.Sprintf("%.1f GiB are free", float64(free)/(1<<30))}
}
