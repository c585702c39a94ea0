package feed

import (
	"slices"

	"github.com/alcove-memory/alcove/host/internal/namespace"
)

const (
	mostFiltered  = 10_000  // notices that one page examines for those selected
	mostPassed    = 100_000 // changes that one page reads for notices
	changesAtOnce = 1000    // changes read at once
	mostCompleted = 64      // notices of one commit completed at once
	pageBytes     = 1 << 20 // of payloads, after which a page ends
)

// Query selects notices. Empty fields match everything.
type Query struct {
	Branch     string   // of which Read is given the branch
	Namespaces []string // nil: all
	Kinds      []string // one that ends in ".*" matches all kinds of a family
	Agents     []string
	After      uint64 // a watermark
	Limit      int    // about so many notices, never part of a commit
	// Most bounds the notices of one commit in a page: of a larger one, a page has a part, and Within of its Page says where the
	// next begins. 0: unbounded.
	Most   int
	Within int // notices of the first commit after After that were read; 0: none
}

// draft is a page that is being filled.
type draft struct {
	Page
	query  Query
	viewer string // the agent that reads
	within int    // notices to skip of the first commit that has any
	bytes  int    // of payloads
}

func (p *draft) full() bool {
	return p.Within > 0 || len(p.Notices) >= p.query.Limit || p.bytes >= pageBytes || p.Passed >= mostFiltered
}

// add adds the notices of a commit that the query selects. complete fills in what notices made of changes lack; nil: nothing.
func (p *draft) add(version uint64, commit []Notice, complete func([]Notice) error) error {
	if len(commit) == 0 {
		p.Watermark = version
		return nil
	}
	before, done := len(p.Notices), min(p.within, len(commit))
	p.within = 0
	for done < len(commit) {
		chunk := commit[done:min(done+mostCompleted, len(commit))]
		if added := len(p.Notices) - before; p.query.Most > 0 && added > 0 && added+len(chunk) > p.query.Most {
			p.Within = done
			return nil
		}
		if err := p.choose(chunk, complete); err != nil {
			return err
		}
		done += len(chunk)
	}
	p.Watermark = version
	return nil
}

// addKnown adds complete notices, and what else is known to be new.
func (p *draft) addKnown(known recent) {
	for rest := known.notices; len(rest) > 0; {
		version, n := rest[0].Watermark, 0
		for n < len(rest) && rest[n].Watermark == version {
			n++
		}
		p.add(version, rest[:n], nil) // without complete it cannot fail
		if rest = rest[n:]; p.full() {
			p.More = p.Within > 0 || len(rest) > 0
			if p.More {
				return
			}
		}
	}
	p.Watermark = max(p.Watermark, known.upTo)
}

// choose adds those of some notices that the query selects.
func (p *draft) choose(notices []Notice, complete func([]Notice) error) error {
	var mine []Notice
	for _, n := range notices {
		if namespace.Selects(p.query.Namespaces, n.Namespace) {
			mine = append(mine, n)
		}
	}
	p.Passed += len(notices)
	if complete != nil && len(mine) > 0 {
		if err := complete(mine); err != nil {
			return err
		}
	}
	for _, n := range mine {
		if p.selects(n) {
			p.Notices, p.bytes = append(p.Notices, n), p.bytes+len(n.Payload)
			p.Passed--
		}
	}
	return nil
}

func (p *draft) selects(n Notice) bool {
	q := p.query
	return n.Kind != unread && n.isFor(p.viewer) && (len(q.Kinds) == 0 || slices.ContainsFunc(q.Kinds, n.isOf)) && (len(q.Agents) == 0 || slices.Contains(q.Agents, n.Agent))
}
