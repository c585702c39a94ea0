package lifecycle

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// proposals is what the names of the family's proposals begin with.
const proposals = "proposals/lifecycle/"

// mostWaiting is how many proposals are looked into, and mostProposed how many changes of each.
const (
	mostWaiting  = 30
	mostProposed = 1000
)

// waiting are the memories of the call's namespace that proposals of the family change which somebody has yet to merge or drop: they are not
// proposed anew. It is empty where the call writes directly, and where the family may not read branches.
func waiting(c *alcove.Call) (map[string]bool, error) {
	who, err := c.CallerGet()
	if err != nil || !who.Proposes {
		return nil, err
	}
	branches, err := c.BranchList()
	if alcove.CodeOf(err) == alcove.Denied {
		return nil, nil
	}
	keys, looked := map[string]bool{}, 0
	for i := len(branches.Branches) - 1; i >= 0 && looked < mostWaiting; i-- {
		b := &branches.Branches[i]
		if !strings.HasPrefix(b.Name, proposals) || b.Parent != c.Branch {
			continue
		}
		looked++
		if err := proposed(c, b.Name, keys); err != nil {
			return nil, err
		}
	}
	return keys, err
}

// proposed adds the memories that a proposal changes. One that was dropped meanwhile changes none.
func proposed(c *alcove.Call, branch string, keys map[string]bool) error {
	for limit := mostProposed; limit > 0; limit /= 4 {
		diff, err := c.BranchDiff(alcove.BranchDiffRequest{Source: branch, Namespaces: []string{c.Namespace}, Limit: limit})
		if alcove.CodeOf(err) == alcove.Exhausted { // the memories are long
			continue
		}
		if code := alcove.CodeOf(err); code == alcove.NotFound || code == alcove.Denied {
			return nil
		}
		for i := range diff.Differences {
			d := &diff.Differences[i]
			changed := d.Source != nil && (d.Base == nil || d.Source.Version != d.Base.Version) // there, and not only here
			if d.Collection == "" && changed {
				keys[d.Key] = true
			}
		}
		return err
	}
	return nil
}
