package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Bounds of a search for names that are spelled like another.
const (
	mostCompared = 20_000 // names of a namespace
	longestNear  = 64     // letters of the name
	mostAlike    = 5      // entities
)

// likeness is an entity with a name that is spelled like another.
type likeness struct {
	id     alcove.ID
	entity *entity
	name   string
	away   int // how far it is from the other: twice the edits, and one more where it is only a word of a name
}

type likenesses []likeness

// best is the entity that is nearest; nil for none, and where several are as near.
func (l likenesses) best() *likeness {
	if len(l) == 0 || len(l) > 1 && l[0].away == l[1].away {
		return nil
	}
	return &l[0]
}

func (l likenesses) names() (list []string) {
	for i := range l {
		list = append(list, l[i].name)
	}
	return list
}

// alike are the entities of a namespace with a name, or a word of a name, that is spelled like the key of an id, the nearest first.
func alike(c *alcove.Call, wanted alcove.ID) (list likenesses, err error) {
	letters := []rune(folded(wanted.Key))
	if edits(letters) == 0 {
		return nil, nil
	}
	keys, away, err := namesLike(c, wanted.Namespace, letters)
	if len(keys) == 0 || err != nil {
		return nil, unseen(err)
	}
	owners, err := aliases.In(wanted.Namespace).GetAll(c, keys)
	if err != nil {
		return nil, err
	}
	for i, owner := range owners {
		if owner == nil || slices.ContainsFunc(list, func(l likeness) bool { return l.id.Key == owner.Value.EntityID }) {
			continue
		}
		id := alcove.ID{Namespace: wanted.Namespace, Key: owner.Value.EntityID}
		e, err := getEntity(c, id)
		if err != nil {
			return nil, err
		}
		if e != nil {
			list = append(list, likeness{id, e, e.Name, away[i]})
		}
	}
	return list[:min(len(list), mostAlike)], nil
}

// namesLike are the folded names that are spelled like some letters, the nearest first, and how far they are.
func namesLike(c *alcove.Call, namespace string, letters []rune) (keys []string, away []int, err error) {
	type near struct {
		key  string
		away int
	}
	var found []near
	compared := 0
	for page, err := range c.Scan(alcove.RecordScanRequest{Collection: aliases.Name, Namespace: namespace, Prefixes: []string{""}}) {
		if err != nil {
			return nil, nil, err
		}
		for _, key := range page.Keys {
			if n := awayFrom(letters, key); n >= 0 {
				found = append(found, near{key, n})
			}
		}
		if compared += len(page.Keys); compared >= mostCompared {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.away, b.away) })
	for _, n := range found[:min(len(found), 4*mostAlike)] {
		keys, away = append(keys, n.key), append(away, n.away)
	}
	return keys, away, nil
}

// awayFrom is how far a name, or the nearest of its words, is from some letters; -1 if it is not alike.
func awayFrom(letters []rune, name string) int {
	most := edits(letters)
	if n := words.Distance(letters, []rune(name), most); n <= most {
		return 2 * n
	}
	least := most + 1
	if strings.Contains(name, " ") {
		for word := range strings.FieldsSeq(name) {
			least = min(least, words.Distance(letters, []rune(word), most))
		}
	}
	if least > most {
		return -1
	}
	return 2*least + 1
}

// edits is how many letters of a name may be wrong: none of a short one.
func edits(letters []rune) int {
	switch n := len(letters); {
	case n < 4 || n > longestNear:
		return 0
	case n < 8:
		return 1
	}
	return 2
}
