package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
)

// mostDrift bounds how many differences from a configuration file are named.
const mostDrift = 5

// examineConfiguration says how a server differs from the configuration file that was applied last. Without one there is nothing to say.
func (a *app) examineConfiguration(ctx context.Context, dir string, reached bool) []finding {
	last, err := configfile.LastApplied(dir)
	switch {
	case err != nil:
		return []finding{{"configuration", noted, err.Error()}}
	case last.Path == "":
		return nil
	case !reached:
		return []finding{{"configuration", fine, fmt.Sprintf("%s, applied %s, is compared with the next server", last.Path, clock(last.At))}}
	}
	var changes []configfile.Change
	var digest string
	err = a.asOperator(ctx, func(s operator.Server) (err error) {
		changes, digest, err = a.planFile(ctx, s, last.Path)
		return err
	})
	if err != nil {
		return []finding{{"configuration", noted, "not compared with the file that was applied last: " + err.Error()}}
	}
	return []finding{drift(last, digest, changes)}
}

func drift(last configfile.Applied, digest string, changes []configfile.Change) finding {
	file := fmt.Sprintf("%s, applied %s", last.Path, clock(last.At))
	if digest != last.Digest {
		file += " and edited since"
	}
	if len(changes) == 0 {
		return finding{"configuration", fine, "as in " + file}
	}
	said := make([]string, 0, mostDrift+1)
	for _, c := range changes[:min(len(changes), mostDrift)] {
		said = append(said, c.String())
	}
	if more := len(changes) - mostDrift; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	return finding{"configuration", noted, fmt.Sprintf("differs from %s: alcove config apply %s would %s", file, quoted(last.Path), strings.Join(said, "; "))}
}
