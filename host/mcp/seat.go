package mcp

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/alcove-memory/alcove/host/memory"
)

// Session is what a client's calls mean when they do not say. The zero Session is a client of the default branch
// and namespace that may write.
type Session struct {
	Namespace string // empty: default
	Branch    string // empty: default
	Agent     string // empty: the name that the client gives itself
	ReadOnly  bool
	Profile   string   // which tools are listed; empty: ProfileAgent
	Families  []string // whose tools are listed from the start
}

type sessionKey struct{}

// WithSession says what the requests of a context mean, to Handler: whoever checks who a client is knows.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

func sessionOf(ctx context.Context) Session {
	session, _ := ctx.Value(sessionKey{}).(Session)
	return session
}

// seat is what a client's session remembers: where its calls go when they do not say, which switching moves, and the
// families that it loaded.
type seat struct {
	stateless bool // it is gone after this call

	mu                sync.Mutex
	branch, namespace string
	families          map[string]bool
}

func newSeat(s Session) *seat {
	at := &seat{branch: cmp.Or(s.Branch, memory.Default), namespace: cmp.Or(s.Namespace, memory.Default), families: map[string]bool{}}
	for _, name := range s.Families {
		at.families[name] = true
	}
	return at
}

// has reports whether a family is loaded.
func (s *seat) has(family string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.families[family]
}

// load notes that a family is loaded, or is not any more.
func (s *seat) load(family string, loaded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if loaded {
		s.families[family] = true
	} else {
		delete(s.families, family)
	}
}

// loaded lists the families that are loaded, whether there are such or not.
func (s *seat) loaded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.families))
}

func (s *seat) at() (branch, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.branch, s.namespace
}

// move changes what is not empty.
func (s *seat) move(branch, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.branch, s.namespace = cmp.Or(branch, s.branch), cmp.Or(namespace, s.namespace)
}

const longestAgent = 128 // characters of an agent's name

// agentName makes what a client calls itself fit to be kept: one line, not too long.
func agentName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(strings.TrimSpace(name)); len(runes) > longestAgent {
		return string(runes[:longestAgent])
	}
	return strings.TrimSpace(name)
}
