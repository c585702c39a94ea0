package tool

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/host/memory"
)

// Listing selects the families whose tools a client's list shows, in addition to the core tools.
type Listing int

const (
	ListLoaded   Listing = iota // families that it loaded
	ListAll                     // all families
	ListNoFamily                // none
)

// SessionOptions configures a session.
type SessionOptions struct {
	Branch, Namespace string // empty: memory.Default
	// Project is the namespace of the project that the client works in; empty: none is known. Calls that name no namespace search it before
	// others, and leave out those beside it: see memory.Search. It is not where they store.
	Project   string
	Families  []string // loaded from the start
	Stateless bool     // it ends with the call
	Listing   Listing
	Profile   string // the client's name for the listing
}

// Session is the state between a client's calls: their default branch and namespace, and the families it loaded.
type Session struct {
	options SessionOptions

	mu                sync.Mutex
	listing           Listing
	profile           string
	branch, namespace string
	families          map[string]bool
	loads, moves      int
}

// SessionState is where a session is: what the next server needs to go on with it.
type SessionState struct {
	Branch    string   `json:"branch"`
	Namespace string   `json:"namespace"`
	Families  []string `json:"families"` // that are loaded
	Changes   int      `json:"changes"`  // of the session so far
}

// NewSession returns a new session.
func NewSession(o SessionOptions) *Session {
	s := &Session{options: o, listing: o.Listing, profile: o.Profile, branch: cmp.Or(o.Branch, memory.Default), namespace: cmp.Or(o.Namespace, memory.Default), families: map[string]bool{}}
	for _, name := range o.Families {
		s.families[name] = true
	}
	return s
}

// Stateless reports whether the session ends with the call.
func (s *Session) Stateless() bool { return s.options.Stateless }

// Project returns the namespace of the project that the client works in; empty: none is known.
func (s *Session) Project() string { return s.options.Project }

// List changes what the client's list shows, once it is known who the client is.
func (s *Session) List(profile string, l Listing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.profile, s.listing = profile, l
}

// ListsAll reports whether the client's list has the tools of all families.
func (s *Session) ListsAll() bool { return s.listed() == ListAll }

// Lists reports whether the client's list has the tools of a family.
func (s *Session) Lists(family string) bool {
	l := s.listed()
	return l == ListAll || l == ListLoaded && s.Has(family)
}

func (s *Session) listed() Listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing
}

// Profile returns the client's name for its listing.
func (s *Session) Profile() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profile
}

// Has reports whether a family is loaded.
func (s *Session) Has(family string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.families[family]
}

// Load marks a family as loaded.
func (s *Session) Load(family string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.families[family] {
		s.families[family] = true
		s.loads++
	}
}

// Unload marks a family as not loaded.
func (s *Session) Unload(family string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.families[family] {
		delete(s.families, family)
		s.loads++
	}
}

// State returns where the session is.
func (s *Session) State() SessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SessionState{s.branch, s.namespace, append([]string{}, slices.Sorted(maps.Keys(s.families))...), s.loads + s.moves}
}

// Changes returns the number of changes to State.
func (s *Session) Changes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads + s.moves
}

// Loads returns the number of changes to Loaded.
func (s *Session) Loads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

// Loaded returns the loaded families, including any that no longer exist.
func (s *Session) Loaded() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.families))
}

// At returns the default branch and namespace of calls.
func (s *Session) At() (branch, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.branch, s.namespace
}

// Move changes the default branch and namespace; an empty name leaves its default unchanged.
func (s *Session) Move(branch, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	branch, namespace = cmp.Or(branch, s.branch), cmp.Or(namespace, s.namespace)
	if branch != s.branch || namespace != s.namespace {
		s.branch, s.namespace = branch, namespace
		s.moves++
	}
}
