package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/tool/tokens"
)

// examineElsewhere examines a server on another machine, as far as a client can.
func (a *app) examineElsewhere(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, 2*doctorPatience)
	defer cancel()
	found := []finding{{"version", fine, versionText()}}
	s, err := a.server(false)
	if err != nil {
		return append(found, finding{"server", bad, err.Error()})
	}
	ready, says, err := s.Ready(ctx)
	if err != nil {
		return append(found, finding{"server", bad, err.Error()})
	}
	found = append(found, finding{"server", fineIf(ready), s.URL() + ": " + says})
	r, err := a.ask(ctx, "memory_status", fields{})
	if err != nil {
		return append(found, finding{"key", bad, err.Error()})
	}
	var at struct{ Version, Namespace, Branch string }
	if err := json.Unmarshal(r.Structured, &at); err != nil {
		return append(found, finding{"key", bad, "read the server's answer: " + err.Error()})
	}
	found = append(found, finding{"key", fine, fmt.Sprintf("is admitted: namespace %s, branch %s", at.Namespace, at.Branch)})
	if at.Version != versionText() {
		found = append(found, finding{"server version", noted, fmt.Sprintf("%s, and these commands are of %s", at.Version, versionText())})
	}
	return append(found, a.examineTools(ctx))
}

// examineOperated examines a server on another machine, as far as an operator of it sees.
func (a *app) examineOperated(ctx context.Context) []finding {
	ctx, cancel := context.WithTimeout(ctx, 2*doctorPatience)
	defer cancel()
	found := []finding{{"version", fine, versionText()}}
	list, err := query(ctx, a, operator.Diagnose)
	if err != nil {
		return append(found, finding{"server", bad, err.Error()})
	}
	found = append(found, finding{"server", fine, a.elsewhere.admin + " answers"})
	for _, f := range list {
		found = append(found, finding{f.What, f.Is, f.Says})
	}
	return append(found, a.examineConfiguration(ctx, true)...)
}

// examineTools says what the list of tools costs a client with every request to its model.
func (a *app) examineTools(ctx context.Context) finding {
	count, err := tokens.Load()
	if err != nil {
		return finding{"tools", noted, "unknown: " + err.Error()}
	}
	var said []string
	for _, profile := range []string{host.DefaultProfile, "full"} {
		list, n, err := a.listedTools(ctx, profile)
		if err != nil {
			return finding{"tools", noted, "unknown: " + err.Error()}
		}
		said = append(said, fmt.Sprintf("%s for %d tokens in the profile %s", counted(n, "tool"), count.Count(string(list)), profile))
	}
	return finding{"tools", fine, strings.Join(said, ", ") + " (alcove mcp --profile); operation lists one tool"}
}

// listedTools returns the list of tools as a new client gets it.
func (a *app) listedTools(ctx context.Context, profile string) (list json.RawMessage, n int, err error) {
	dial, err := a.dialer(owner.Hello{Profile: profile})
	if err != nil {
		return nil, 0, err
	}
	s, err := newSession(ctx, bridge.Connect(ctx, dial))
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	list, names, err := s.Tools(ctx)
	return list, len(names), err
}

// staleSockets lists the sockets that a server left behind, given that none runs.
func staleSockets(dir string) (left []string) {
	for _, paths := range []func(string) ([]string, error){owner.SocketPaths, owner.AdminPaths} {
		list, err := paths(dir)
		if err != nil {
			continue
		}
		for _, path := range list {
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
				left = append(left, path)
			}
		}
	}
	return left
}

// examineFiles looks for files in the data directory that this user cannot use, or that others can.
func examineFiles(dir string) (found []finding) {
	entries, err := os.ReadDir(dir)
	if err != nil || runtime.GOOS == "windows" {
		return nil
	}
	secret := map[string]bool{owner.KeysPath(dir): true, owner.RequestsPath(dir): true, owner.HTTPSessionsPath(dir): true}
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(dir, e.Name())
		if err != nil || info.Mode()&(fs.ModeSocket|fs.ModeSymlink) != 0 || path == owner.TokenPath(dir) { // the token has a finding of its own
			continue
		}
		others, user := info.Mode().Perm()&0o077, belongsTo(info)
		switch {
		case user >= 0 && user != os.Getuid() && os.Getuid() != 0:
			found = append(found, finding{"permissions", bad, fmt.Sprintf("%s belongs to user %d, not to this one: sudo chown -R %d %s", path, user, os.Getuid(), quoted(dir))})
		case info.Mode().Perm()&0o200 == 0 && info.Mode().IsRegular() && os.Getuid() != 0:
			found = append(found, finding{"permissions", bad, fmt.Sprintf("%s cannot be written: chmod u+w %s", path, quoted(path))})
		case secret[path] && others != 0:
			found = append(found, finding{"permissions", bad, fmt.Sprintf("others can read %s: chmod go-rwx %s", path, quoted(path))})
		case others&0o002 != 0:
			found = append(found, finding{"permissions", bad, fmt.Sprintf("others can write %s: chmod o-w %s", path, quoted(path))})
		}
	}
	return found
}
