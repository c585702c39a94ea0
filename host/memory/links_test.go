package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
)

// linkModel does random things to linked memories and holds links back against plain scans.
type linkModel struct{ *indexModel }

var linkNamespaces = []string{"default", "other", "work"}

func (m linkModel) name() string {
	return []string{"a", "b", "c", "d", "work#a", "other#b", "e#f", "x"}[m.rng.Intn(8)]
}

func (m linkModel) link() string {
	if m.rng.Intn(2) == 0 {
		return m.name()
	}
	return linkNamespaces[m.rng.Intn(3)] + "#" + m.name()
}

func (m linkModel) item() Item {
	it := Item{Key: m.name(), Value: json.RawMessage(fmt.Sprint(m.rng.Intn(1000)))}
	for range m.rng.Intn(3) {
		if to := m.link(); !slices.Contains(it.Links, to) {
			it.Links = append(it.Links, to)
		}
	}
	if m.rng.Intn(4) == 0 {
		it.ExpiresAt = time.UnixMicro(m.ticks.Load()).Add(time.Duration(1+m.rng.Intn(20)) * time.Second)
	}
	return it
}

func (m linkModel) step() {
	m.ticks.Add(time.Second.Microseconds())
	namespace, branch := linkNamespaces[m.rng.Intn(3)], m.branch()
	switch n := m.rng.Intn(100); {
	case n < 40:
		stored, err := m.s.Store(context.Background(), Location{branch, namespace}, []Item{m.item()}, Write{})
		if err != nil {
			m.fatal("store: %v", err)
		}
		if branch == Default {
			m.versions = append(m.versions, stored[0].Version)
		}
		m.trace = append(m.trace, fmt.Sprintf("store %v on %s", stored[0], branch))
	case n < 50:
		if _, err := m.s.Forget(context.Background(), Location{branch, namespace}, []string{m.name()}, Write{}); err != nil {
			m.fatal("forget: %v", err)
		}
	case n < 57:
		m.forks++
		name := fmt.Sprintf("b%d", m.forks)
		if _, err := m.s.Fork(context.Background(), branch, name, AsOf{}, Write{}); err != nil {
			m.fatal("fork: %v", err)
		}
		m.branches = append(m.branches, name)
	case n < 64 && len(m.branches) > 1:
		m.merge()
	case n < 66:
		m.close()
		m.open()
	case n < 68:
		var known *Error
		if _, err := m.s.Purge(context.Background(), purge.Request{Namespace: namespace, Key: m.name()}); err != nil && (!errors.As(err, &known) || known.Code != NotFound) {
			m.fatal("purge: %v", err)
		}
	case n < 70:
		settled(m.t, m.s)
	default:
		m.look()
	}
}

func (m linkModel) look() {
	at := AsOf{}
	if len(m.versions) > 0 && m.rng.Intn(3) == 0 {
		at.Version = m.versions[m.rng.Intn(len(m.versions))]
	}
	rights := FullRights()
	if m.rng.Intn(3) == 0 {
		rights = RightsTo([]string{"default", "other"}, nil)
	}
	t, err := m.s.As(Caller{Rights: rights}).StageAt(context.Background(), m.branch(), at)
	if err != nil {
		return // the branch is younger
	}
	for range 3 {
		if at.IsNow() && m.rng.Intn(2) == 0 && rights.writesAll() {
			if _, err := t.Put(context.Background(), linkNamespaces[m.rng.Intn(3)], []Item{m.item()}); err != nil {
				m.fatal("put: %v", err)
			}
		}
		m.compare(t, Ref{Namespace: linkNamespaces[m.rng.Intn(2)], Key: m.name()})
	}
}

func (m linkModel) compare(t *Stage, to Ref) {
	m.t.Helper()
	var got []Ref
	q := LinkQuery{To: to, Limit: m.rng.Intn(4)}
	for {
		page, more, err := t.LinkedFrom(context.Background(), q)
		if err != nil {
			m.fatal("links back to %v: %v", to, err)
		}
		if got = append(got, page...); !more {
			break
		}
		q.After = page[len(page)-1]
	}
	if m.s.indexes.Covering(memories, nil, t.lineage()) != nil {
		m.answered++
	}
	if want := m.naive(t, to); !slices.Equal(got, want) {
		m.fatal("links back to %v at %d on %s: %v; a scan has %v", to, t.version, t.branch.Name, got, want)
	}
}

// naive reads every memory and resolves every link.
func (m linkModel) naive(t *Stage, to Ref) (list []Ref) {
	m.t.Helper()
	for _, namespace := range linkNamespaces {
		if !t.access.caller.Rights.MayRead(namespace) {
			continue
		}
		page, _, err := t.List(context.Background(), namespace, "", "", 0)
		if err != nil {
			m.fatal("list: %v", err)
		}
		keys := map[string]bool{}
		for _, memory := range page {
			keys[memory.Key] = true
		}
		for _, memory := range page {
			if slices.ContainsFunc(memory.Links, func(link string) bool {
				return naiveLink(namespace, link, keys) == to || to == (Ref{Namespace: namespace, Key: link})
			}) {
				list = append(list, Ref{Namespace: namespace, Key: memory.Key})
			}
		}
	}
	return list
}

func naiveLink(namespace, link string, keys map[string]bool) Ref {
	if other, key, ok := strings.Cut(link, "#"); ok && !keys[link] {
		return Ref{Namespace: other, Key: key}
	}
	return Ref{Namespace: namespace, Key: link}
}

func TestLinksBackAreAsAPlainScanHasThem(t *testing.T) {
	seeds := 4
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := linkModel{newIndexModel(t, int64(seed))}
			m.rng = rand.New(rand.NewSource(int64(100 + seed)))
			for range 250 {
				m.step()
			}
			for _, branch := range m.branches {
				m.compare(stage(t, m.s, branch), Ref{Namespace: "default", Key: "a"}) // has it built
				settled(t, m.s)
				for range 10 {
					m.compare(stage(t, m.s, branch), Ref{Namespace: linkNamespaces[m.rng.Intn(3)], Key: m.name()})
				}
			}
			if m.answered < 50 {
				t.Errorf("an index answered %d questions", m.answered)
			}
			m.close()
		})
	}
}

func TestAStoreWhoseLinksNobodyAsksForKeepsNoIndexOfThem(t *testing.T) {
	s := testSpace(t)
	if _, err := s.Store(t.Context(), Location{}, []Item{{Key: "tea", Value: json.RawMessage(`1`), Links: []string{"boat"}}}, Write{}); err != nil {
		t.Fatal(err)
	}
	settled(t, s)
	if list := s.indexes.Shadows(s.catalogue.Named(Default).ID); len(list) != 0 {
		t.Errorf("indexes %v are kept", list)
	}
}
