package family

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Trouble is what went wrong with a family again and again since the server began.
type Trouble struct {
	Kind  string    `json:"kind"`  // the class of a failure of its guest, or Ungranted
	Count int64     `json:"count"` // how often
	Last  time.Time `json:"last"`
	Says  string    `json:"says"` // the last error, one line
}

// Ungranted is the kind of operations that a family asked for without the power to.
const Ungranted = "ungranted"

const longestTrouble = 300 // bytes of a text

// troubles counts what goes wrong, by family and kind. The zero value has none. Its methods may be called concurrently.
type troubles struct {
	mu   sync.Mutex
	seen map[string]map[string]Trouble
}

func (t *troubles) add(family, kind string, err error, now time.Time) {
	text := err.Error()
	if len(text) > longestTrouble {
		text = strings.ToValidUTF8(text[:longestTrouble], "") + "…"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[string]map[string]Trouble{}
	}
	if t.seen[family] == nil {
		t.seen[family] = map[string]Trouble{}
	}
	t.seen[family][kind] = Trouble{kind, t.seen[family][kind].Count + 1, now, text}
}

// of lists the troubles of a family, the latest first.
func (t *troubles) of(family string) (list []Trouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.seen[family] {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Trouble) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Kind, b.Kind)) })
	return list
}
