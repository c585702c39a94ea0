package tool

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/host/memory"
)

// Listing says whose tools are in a client's list beside the core ones.
type Listing int

const (
	ListLoaded   Listing = iota // those of the families that it loaded
	ListAll                     // those of all families
	ListNoFamily                // none
)

// SessionOptions say how a session begins.
type SessionOptions struct {
	Branch, Namespace string   // empty: memory.Default
	Families          []string // that are loaded from the start
	Stateless         bool     // it ends with the call
	Listing           Listing
	Profile           string // the name that the client knows the listing by
}

// Session is what lasts between the calls of a client: where they go when they do not say, and the families it loaded.
type Session struct {
	options SessionOptions

	mu                sync.Mutex
	branch, namespace string
	families          map[string]bool
	loads             int
}

// NewSession begins a session.
func NewSession(o SessionOptions) *Session {
	s := &Session{options: o, branch: cmp.Or(o.Branch, memory.Default), namespace: cmp.Or(o.Namespace, memory.Default), families: map[string]bool{}}
	for _, name := range o.Families {
		s.families[name] = true
	}
	return s
}

// Stateless reports whether the session ends with the call.
func (s *Session) Stateless() bool { return s.options.Stateless }

// ListsAll reports whether the client's list has the tools of all families.
func (s *Session) ListsAll() bool { return s.options.Listing == ListAll }

// Lists reports whether the client's list has the tools of a family.
func (s *Session) Lists(family string) bool {
	return s.options.Listing == ListAll || s.options.Listing == ListLoaded && s.Has(family)
}

// Profile is the name that the client knows its listing by.
func (s *Session) Profile() string { return s.options.Profile }

// Has reports whether a family is loaded.
func (s *Session) Has(family string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.families[family]
}

// Load notes that a family is loaded.
func (s *Session) Load(family string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.families[family] {
		s.families[family] = true
		s.loads++
	}
}

// Unload notes that a family is not loaded any more.
func (s *Session) Unload(family string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.families[family] {
		delete(s.families, family)
		s.loads++
	}
}

// Loads counts the changes of Loaded.
func (s *Session) Loads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

// Loaded lists the families that are loaded, also those that there are no longer.
func (s *Session) Loaded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.families))
}

// At is where calls go that do not say.
func (s *Session) At() (branch, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.branch, s.namespace
}

// Move changes where calls go; empty names change nothing.
func (s *Session) Move(branch, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.branch, s.namespace = cmp.Or(branch, s.branch), cmp.Or(namespace, s.namespace)
}
