package policy

import (
	"fmt"
	"strings"
)

// Offline is how an operator changes the lock file of a locked directory: by one that was reviewed.
const Offline = "alcove stop, then alcove lock apply FILE"

// Advice tells how an operator changes what families may do.
type Advice struct{ Locked bool } // the directory is, and takes reviewed files alone

// Run says how an operator can do something, by a command that a locked server refuses.
func (a Advice) Run(do, command string) string {
	if a.Locked {
		return fmt.Sprintf("the server is locked, so an operator can %s in a reviewed file alone, with: %s", do, Offline)
	}
	return fmt.Sprintf("an operator can %s, with: %s", do, command)
}

// Grant is Run for a change of a family's grant: words are what alcove family grant takes behind the name.
func (a Advice) Grant(do, family string, words ...string) string {
	return a.Run(do, "alcove family grant "+family+" "+strings.Join(words, " "))
}
