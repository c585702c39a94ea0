package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/memory"
)

// Paths of the routes.
const (
	introducePath = "/sync/introduce"
	versionsPath  = "/sync/versions"
	receivePath   = "/sync/receive"
)

// Server serves the pulls and pushes of other spaces. Callers must have checked the token, host and origin of each request.
type Server struct {
	Memory *memory.Space
	Caller func(*http.Request) memory.Caller // who sent a request
	Page   int                               // versions in a page; 0: 500
	// Longest returns how many bytes the body of a request may have; nil: longestBody.
	Longest func(*http.Request) int64

	turns   turns
	waiting atomic.Int32 // waiting requests
	reading reading
	packing packing
}

// reading bounds the pages that are in memory at once. The zero value is ready for use.
type reading struct {
	once  sync.Once
	slots chan struct{}
}

// mostReading bounds the pages that are received at once; others wait.
const mostReading = 4

// enter waits for a slot. The caller calls leave.
func (r *reading) enter(ctx context.Context) (leave func(), err error) {
	r.once.Do(func() { r.slots = make(chan struct{}, mostReading) })
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Routes returns the handlers by path. All take POST.
func (s *Server) Routes() map[string]http.HandlerFunc {
	routes := map[string]http.HandlerFunc{}
	for path, serve := range map[string]http.HandlerFunc{introducePath: s.serveIntroduction, versionsPath: s.serveVersions, receivePath: s.taking(s.receive), waitPath: s.serveWait,
		countsPath: s.serveCounts, countPath: s.taking(s.count), recordsPath: s.serveRecords, recordPath: s.taking(s.record),
		historyPath: s.serveHistories, historyKnownPath: s.serveKnownHistories, historyReceivePath: s.taking(s.takeHistories)} {
		routes[path] = func(w http.ResponseWriter, r *http.Request) {
			if s.Longest != nil {
				r.Body = http.MaxBytesReader(w, r.Body, s.Longest(r))
			}
			serve(w, r)
		}
	}
	return routes
}

// introduce answers an introduction.
func (s *Server) introduce(ctx context.Context, who memory.Caller, r introduction) (a introduced, err error) {
	us := s.Memory.As(who)
	if err := s.Memory.CheckScope(r.Scope); err != nil {
		return a, err
	}
	if err := checkBranch(r.Branch); err != nil {
		return a, err
	}
	to := memory.ToRead
	if r.Push {
		to = memory.ToWrite
		newest, err := s.Memory.Newest(ctx)
		if err != nil {
			return a, err
		}
		if err := s.Memory.CheckKnown(r.Known, newest); err != nil {
			return a, err
		}
		if err := us.Adopt(ctx, cmp.Or(r.Branch, memory.Default), r.Known, r.Scope, memory.Write{}); err != nil {
			return a, err
		}
	}
	p, err := us.Peer(ctx, r.Branch, 0, r.Scope, to)
	if err != nil {
		return a, err
	}
	a = introduced{Space: p.Space, Branch: p.Branch, At: p.At, Scope: p.Scope, Known: p.Known}
	if err := s.introduceRecords(ctx, us, r, &a); err != nil {
		return a, err
	}
	if !r.Push {
		a.Counts, err = us.CountMark(ctx, p.Scope)
		return a, err
	}
	if a.Counts, err = us.CountsKnown(ctx, r.Space, r.Scope.Within(p.Scope)); err != nil {
		return a, err
	}
	name, err := nameOf(r.Space)
	if err != nil {
		return a, err
	}
	was, ok := (&receiver{space: s.Memory, caller: who, tracking: trackingBranch(name, r.Branch)}).state(ctx)
	if ok && was.Space == r.Space {
		a.Received = &was
	}
	return a, nil
}

// nameOf returns the name of a space for its tracking branch.
func nameOf(space string) (string, error) {
	if len(space) < 12 || len(space) > 64 || strings.Trim(space, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", invalid("%q is not the id of a space", clip(space))
	}
	return strings.ToLower(space[:12]), nil
}

// checkBranch refuses branches that track other spaces.
func checkBranch(name string) error {
	if strings.HasPrefix(name, memory.Tracking) {
		return invalid("branch %q tracks another space: exchange the branch that it is merged into", clip(name))
	}
	return nil
}

// versions lists the versions that another space lacks.
func (s *Server) versions(ctx context.Context, who memory.Caller, r request) (page, error) {
	us := s.Memory.As(who)
	if err := s.Memory.CheckScope(r.Scope); err != nil {
		return page{}, err
	}
	newest, err := s.Memory.Newest(ctx)
	if err == nil {
		err = s.Memory.CheckKnown(r.Known, newest)
	}
	if err != nil {
		return page{}, err
	}
	p, err := us.Peer(ctx, r.Branch, r.At, r.Scope, memory.ToRead)
	if err != nil {
		return page{}, err
	}
	return listed(ctx, us, p, r.Known, r.From, s.Page)
}

// receive receives a pushed page.
func (s *Server) receive(ctx context.Context, who memory.Caller, pg page) (done Result, err error) {
	name, err := nameOf(pg.Space)
	if err == nil {
		err = checkBranch(pg.Branch)
	}
	if err != nil {
		return done, err
	}
	r := &receiver{s.Memory, who, cmp.Or(pg.Branch, memory.Default), trackingBranch(name, pg.Branch), cmp.Or(pg.Strategy, memory.Newest)}
	end, err := s.turns.take(ctx, r.tracking)
	if err != nil {
		return done, err
	}
	defer end()
	if len(pg.versions) > 0 {
		if err := s.mayWrite(who, pg); err != nil {
			return done, err
		}
	}
	if _, underway := r.state(ctx); !underway {
		if done, ok, err := r.whole(ctx, pg.Scope, pg); ok || err != nil {
			return done, err
		}
	}
	p, err := r.begin(ctx, progress{Space: pg.Space, Branch: r.branch, Scope: pg.Scope, At: pg.At})
	if err != nil {
		return done, err
	}
	_, done, err = r.take(ctx, p, pg)
	return done, err
}

// mayWrite returns an error before a branch is made for a page that the caller may not write.
func (s *Server) mayWrite(who memory.Caller, pg page) error {
	rights := s.Memory.As(who).Caller().Rights
	for _, v := range pg.versions {
		if !rights.MayWrite(v.Namespace) {
			return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("this key may not write namespace %q", clip(v.Namespace)), Rule: "write namespace"}
		}
	}
	return nil
}

func (s *Server) serveIntroduction(w http.ResponseWriter, r *http.Request) {
	var in introduction
	if err := decode(r.Body, &in); err != nil {
		refuse(w, err)
		return
	}
	answer, err := s.introduce(r.Context(), s.Caller(r), in)
	reply(w, answer, err)
}

func (s *Server) serveVersions(w http.ResponseWriter, r *http.Request) {
	var in request
	err := decode(r.Body, &in)
	if err == nil {
		var pg page
		if pg, err = s.versions(r.Context(), s.Caller(r), in); err == nil {
			w.Header().Set("Content-Type", "application/zstd")
			s.packing.write(w, pg) //nolint:errcheck // the client retries
			return
		}
	}
	refuse(w, err)
}

// taking serves requests with a page.
func (s *Server) taking(take func(context.Context, memory.Caller, page) (Result, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		leave, err := s.reading.enter(r.Context())
		if err != nil {
			refuse(w, err)
			return
		}
		defer leave()
		pg, err := s.packing.read(r.Body)
		if err != nil {
			refuse(w, invalid("%v", err))
			return
		}
		done, err := take(r.Context(), s.Caller(r), pg)
		reply(w, done, err)
	}
}

// decode reads a request.
func decode(body io.Reader, into any) error {
	in := json.NewDecoder(io.LimitReader(body, longestBody))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return invalid("read the request: %v", err)
	}
	return nil
}

func reply(w http.ResponseWriter, answer any, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the client retries
}

// failure is an error on the wire.
type failure struct {
	Code      memory.Code `json:"code"`
	Message   string      `json:"message"`
	Retryable bool        `json:"retryable,omitempty"`
}

func refuse(w http.ResponseWriter, err error) {
	f := failure{Code: memory.Internal, Message: "the server failed"}
	if e, ok := errors.AsType[*memory.Error](err); ok {
		f = failure{e.Code, err.Error(), e.Retryable}
	}
	status := map[memory.Code]int{memory.InvalidArgument: 400, memory.Denied: 403, memory.NotFound: 404, memory.Conflict: 409, memory.Exhausted: 429, memory.Unavailable: 503}[f.Code]
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(cmp.Or(status, http.StatusInternalServerError))
	json.NewEncoder(w).Encode(map[string]failure{"error": f}) //nolint:errcheck // the client retries
}

func invalid(format string, args ...any) error {
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
