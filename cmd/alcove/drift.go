package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
)

// mostDrift bounds how many differences from a configuration file are named.
const mostDrift = 5

// drift is how a server differs from the configuration file that was applied to it last.
type drift struct {
	File    string    `json:"file,omitempty"`
	Applied time.Time `json:"applied,omitzero"`
	// Edited reports whether the file changed since it was applied.
	Edited bool `json:"edited,omitempty"`
	// Changes would make the server match the file; empty if it does.
	Changes []configfile.Change `json:"changes,omitzero"`
	// Unknown says why the two were not compared; empty if they were.
	Unknown string `json:"not_compared,omitempty"`

	locked bool // the server is, and some changes are of its lock file
}

// appliedDir is the folder that keeps which configuration file was applied: the data directory, or, for a server of another machine, which does
// not have the file, one of this user.
func (a *app) appliedDir() (string, error) {
	if a.elsewhere.admin == "" {
		return a.dir()
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find where applied configuration files are noted: %w", err)
	}
	sum := sha256.Sum256([]byte(a.elsewhere.admin))
	return filepath.Join(folder, "alcove", "operated", hex.EncodeToString(sum[:12])), nil
}

// noteApplied keeps which file was applied, so that the server is compared with it later.
func (a *app) noteApplied(path, digest string) error {
	dir, err := a.appliedDir()
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("find the configuration file: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("note which file was applied: %w", err)
	}
	return configfile.Applied{Path: path, Digest: digest, At: time.Now().UTC().Truncate(time.Second)}.Note(dir)
}

// lastApplied is the file that was applied to the server last, not compared yet. nil: none was, or this user is no operator of the server.
func (a *app) lastApplied() (*drift, configfile.Applied) {
	dir, err := a.appliedDir()
	if err != nil {
		return &drift{Unknown: err.Error()}, configfile.Applied{}
	}
	last, err := configfile.LastApplied(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, last
	case err != nil:
		return &drift{Unknown: err.Error()}, last
	case last.Path == "":
		return nil, last
	}
	return &drift{File: last.Path, Applied: last.At}, last
}

// drift compares the server, which is started if need be, with the configuration file that was applied last; nil: there is nothing to compare.
func (a *app) drift(ctx context.Context) *drift {
	if a.elsewhere.url != "" && a.elsewhere.admin == "" {
		return nil
	}
	d, last := a.lastApplied()
	if d == nil || last.Path == "" {
		return d
	}
	if _, err := os.Stat(last.Path); errors.Is(err, fs.ErrNotExist) {
		d.Unknown = "the file is gone: put it back, or apply the one that takes its place"
		return d
	}
	err := a.asOperator(ctx, func(s operator.Server) error {
		changes, digest, err := a.planFile(ctx, s, last.Path)
		if err != nil {
			return err
		}
		d.Changes, d.Edited = append([]configfile.Change{}, changes...), digest != last.Digest
		d.locked = refuseLocked(ctx, s, changes) != nil
		return nil
	})
	if err != nil {
		d.Unknown = err.Error()
	}
	return d
}

// String says how the server differs, on one line.
func (d *drift) String() string {
	file := fmt.Sprintf("%s, applied %s", d.File, clock(d.Applied))
	if d.Edited {
		file += " and edited since"
	}
	switch {
	case d.File == "":
		return d.Unknown
	case d.Unknown != "":
		return fmt.Sprintf("not compared with %s: %s", file, d.Unknown)
	case len(d.Changes) == 0:
		return "matches " + file
	}
	said := make([]string, 0, mostDrift+1)
	for _, c := range d.Changes[:min(len(d.Changes), mostDrift)] {
		said = append(said, c.String())
	}
	if more := len(d.Changes) - mostDrift; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	next := "alcove config apply " + quoted(d.File)
	if d.locked {
		next = fmt.Sprintf("alcove stop, alcove lock apply %s and then %s", quoted(d.File), next)
	}
	return fmt.Sprintf("differs from %s: %s would %s", file, next, strings.Join(said, "; "))
}

// examineConfiguration says how a server differs from the configuration file that was applied last. Without one there is nothing to say.
func (a *app) examineConfiguration(ctx context.Context, reached bool) []finding {
	if !reached {
		d, _ := a.lastApplied()
		switch {
		case d == nil:
			return nil
		case d.Unknown == "":
			return []finding{{"configuration", fine, fmt.Sprintf("%s, applied %s, is compared with the next server", d.File, clock(d.Applied))}}
		}
		return []finding{{"configuration", noted, d.String()}}
	}
	d := a.drift(ctx)
	switch {
	case d == nil:
		return nil
	case d.Unknown == "" && len(d.Changes) == 0:
		return []finding{{"configuration", fine, d.String()}}
	}
	return []finding{{"configuration", noted, d.String()}}
}
