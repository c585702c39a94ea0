// Package retention says how much of its past a space keeps.
package retention

import (
	"fmt"
	"time"
)

// Policy says how much past is kept. The zero value keeps everything.
type Policy struct {
	// Keep is how far back branches can be read, in seconds; 0: for ever.
	Keep int64 `json:"keep_s,omitempty"`
	// Branches are the ages of branches that replace Keep, in seconds; 0: for ever.
	Branches map[string]int64 `json:"branches_s,omitempty"`
	// Versions is how many versions of each memory stay in its history, the newest, however old they are.
	Versions int `json:"versions,omitempty"`
	// Namespaces are those that keep more in histories than their branch can be read back. A rule replaces Versions.
	Namespaces map[string]Namespace `json:"namespaces,omitempty"`
}

// Namespace says what stays in the histories of a namespace's memories: whatever any field keeps.
type Namespace struct {
	Keep     int64 `json:"keep_s,omitempty"`   // versions up to this age, in seconds; 0: none by age
	Forever  bool  `json:"forever,omitempty"`  // all versions
	Versions int   `json:"versions,omitempty"` // the newest of each memory
}

// The limits of a policy.
const (
	LeastAge     = time.Minute
	MostAge      = 200 * 365 * 24 * time.Hour
	MostVersions = 1_000_000 // of a memory
	MostRules    = 1000      // for namespaces
)

// Age is how far back a branch can be read; 0: for ever.
func (p Policy) Age(branch string) time.Duration {
	if keep, ok := p.Branches[branch]; ok {
		return seconds(keep)
	}
	return seconds(p.Keep)
}

// Age is the age up to which versions stay in the histories of the namespace; 0: none by age.
func (n Namespace) Age() time.Duration { return seconds(n.Keep) }

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// Check is an error that names the limit a policy exceeds. It does not check the names of branches and namespaces.
func (p Policy) Check() error {
	if len(p.Namespaces) > MostRules {
		return fmt.Errorf("a policy for %d namespaces: at most %d can have one of their own", len(p.Namespaces), MostRules)
	}
	ages, counts := []int64{p.Keep}, []int{p.Versions}
	for _, keep := range p.Branches {
		ages = append(ages, keep)
	}
	for _, n := range p.Namespaces {
		ages, counts = append(ages, n.Keep), append(counts, n.Versions)
	}
	for _, n := range counts {
		if n < 0 || n > MostVersions {
			return fmt.Errorf("%d versions of each memory: keep 0 to %d", n, MostVersions)
		}
	}
	for _, keep := range ages {
		if keep != 0 && (keep < int64(LeastAge/time.Second) || keep > int64(MostAge/time.Second)) {
			return fmt.Errorf("an age of %d seconds: keep a minute at least, or 0 for ever", keep)
		}
	}
	return nil
}
