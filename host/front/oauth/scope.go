package oauth

import (
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
)

// scope is a scope of a token, which is a right of a key, and what it means to a person.
type scope struct {
	right memory.Right
	words string
}

func allScopes() []scope {
	return []scope{
		{memory.ToRead, "Read memories"},
		{memory.ToWrite, "Store, change and forget memories"},
		{memory.ToBranch, "Create, merge and delete branches"},
		{memory.ToUse(memory.AllFamilies), "Use the tools of all families"},
		{memory.ToConfigure, "Change settings that families share"},
		{memory.ToAdministerScopes, "Change who may read and write shared namespaces"},
		{memory.ToAdministerSites, "Accept what websites changed"},
		{memory.ToActAs, "Act in the name of other agents"},
	}
}

// usual is how many of the scopes a client gets that asks for none.
const usual = 4

// Scopes are the scopes that clients ask for: others are given only to clients that name them.
func Scopes() (names []string) {
	for _, s := range allScopes()[:usual] {
		names = append(names, string(s.right))
	}
	return names
}

// wanted returns the rights that a client asks for, in the order of the page. What there is no right for is left out: the answer says
// which scope a token has.
func wanted(text string) (rights []memory.Right) {
	names := strings.Fields(text)
	if len(names) == 0 {
		names = Scopes()
	}
	for _, s := range allScopes() {
		if slices.Contains(names, string(s.right)) {
			rights = append(rights, s.right)
		}
	}
	for _, name := range names {
		right := memory.Right(name)
		if strings.HasPrefix(name, "family:") && memory.IsRight(right) && !slices.Contains(rights, right) {
			rights = append(rights, right)
		}
	}
	return rights
}

// inWords says what a right means.
func inWords(right memory.Right) string {
	for _, s := range allScopes() {
		if s.right == right {
			return s.words
		}
	}
	return "Use the tools of the family " + strings.TrimPrefix(string(right), "family:")
}

// textOf is the scope of a token with rights.
func textOf(rights []memory.Right) string {
	names := make([]string, len(rights))
	for i, r := range rights {
		names[i] = string(r)
	}
	return strings.Join(names, " ")
}

// offered returns the rights of some that a person has, and can give.
func offered(rights []memory.Right, who memory.Caller) []memory.Right {
	return slices.DeleteFunc(slices.Clone(rights), func(right memory.Right) bool {
		switch right {
		case memory.ToRead:
			return !who.Rights.ReadsAnything()
		case memory.ToWrite:
			return who.Rights.WritesNothing()
		}
		return !who.Rights.May(right)
	})
}
