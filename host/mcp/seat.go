package mcp

import (
	"context"
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
	Profile   string // which tools are offered; all profiles have the same ones so far
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

// seat is where a client's calls go when they do not say. Switching moves it.
type seat struct {
	stateless bool // it is gone after this call

	mu                sync.Mutex
	branch, namespace string
}

func newSeat(s Session) *seat {
	return &seat{branch: or(s.Branch, memory.Default), namespace: or(s.Namespace, memory.Default)}
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
	s.branch, s.namespace = or(branch, s.branch), or(namespace, s.namespace)
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
