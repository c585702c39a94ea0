package main

import (
	"strings"

	"github.com/alcove-memory/alcove/host/store/datadir"
	hostsettings "github.com/alcove-memory/alcove/host/store/settings"
)

// printRestored reports a restore, and the missing modules and keys.
func (a *app) printRestored(dir string, r datadir.Restored) error {
	if a.asJSON {
		return a.printJSON(r)
	}
	if err := a.printLoaded(dir, r.Report); err != nil {
		return err
	}
	for _, line := range restoredLines(r.Settings) {
		if err := a.printf("%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// printImportedBundle reports an imported bundle, and the families without which nothing is stored.
func (a *app) printImportedBundle(dir string, r datadir.Restored) error {
	if a.asJSON {
		return a.printJSON(r)
	}
	if err := a.printLoaded(dir, r.Report); err != nil {
		return err
	}
	for _, f := range r.Settings.Families {
		name, first := strings.TrimSpace(f.Family+" "+f.Version), "install it (alcove family install FILE) and "
		if f.Carried {
			first = ""
		}
		if err := a.printf("nothing is stored without family %s (sha256 %s), as where the bundle was made: %sgrant it what it needs (alcove family grant %s), "+
			"or do without it (alcove family revoke %s store)\n", name, f.Digest, first, f.Family, f.Family); err != nil {
			return err
		}
	}
	return nil
}

func restoredLines(s hostsettings.Restored) (lines []string) {
	for _, name := range s.Kept {
		lines = append(lines, name+" of the directory is kept")
	}
	for _, f := range s.Families {
		lines = append(lines, restoredFamily(f))
		for _, digest := range f.Missing {
			lines = append(lines, "  its module with the SHA-256 "+digest+" is not in the backup: alcove family install FILE"+missingEffect(f, digest))
		}
	}
	if len(s.Families) == 0 {
		lines = append(lines, "no family has a grant")
	}
	for _, name := range s.Dropped {
		lines = append(lines, "where the backup was made nothing was stored without family "+name+"; here memories are stored without it")
	}
	if len(s.Endpoints) > 0 {
		lines = append(lines, "endpoints: "+strings.Join(s.Endpoints, ", ")+"; their keys are not in a backup")
	}
	if s.Audit > 0 {
		lines = append(lines, "the audit log is restored up to the backup and continues after it: alcove audit verify --anchor FILE compares it with heads that were kept elsewhere")
	}
	if s.Embedders {
		lines = append(lines, "embedders.json is restored; keys and models are not in a backup")
	}
	return lines
}

func restoredFamily(f hostsettings.Family) string {
	line := strings.TrimSpace("family "+f.Family+" "+f.Version) + " has its grant"
	if f.Guard != "" {
		line += ", and nothing is stored without it"
	}
	return line
}

// missingEffect is the effect of a missing module.
func missingEffect(f hostsettings.Family, digest string) string {
	if digest == f.Guard {
		return "; until then nothing is stored, unless a watched folder has it"
	}
	return ""
}
