package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

const (
	mostSessions = 1000
	idle         = 12 * time.Hour // after the last request of a session
	keptAgain    = time.Hour      // after which the time of a session's end is kept again
	secretBytes  = 32
)

// digest stands for a secret, which is not kept.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

func newSecret() string {
	secret := make([]byte, secretBytes)
	rand.Read(secret)
	return base64.RawURLEncoding.EncodeToString(secret)
}

// tokenOf returns the token that the application sends with each request of a session. Only who has the session's secret can derive it.
func tokenOf(secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("alcove console csrf"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// session is a browser in which the operator or the holder of a key logged in.
type session struct {
	key   string // id of the API key; empty: the operator
	by    digest
	ended context.Context // with the session
	end   context.CancelCauseFunc
	idle  *time.Timer // ends it
	used  uint64      // orders requests
	until time.Time   // it is kept for the next server; guarded by sessions.mu
}

// operator reports whether the session is the operator's.
func (s *session) operator() bool { return s.key == "" }

// sessions are the sessions of a server, by the digest of their secret.
type sessions struct {
	keep func([]byte) // for the next server; nil: nothing does

	keeping sync.Mutex // held while they are kept
	mu      sync.Mutex
	open    map[digest]*session
	latest  uint64
	closed  bool // what ends now goes on with the next server
}

// keptSession is a session as the next server finds it.
type keptSession struct {
	By    []byte    `json:"sha256"`
	Key   string    `json:"key,omitempty"`
	Until time.Time `json:"until"`
}

// newSessions returns the sessions that an earlier server kept.
func newSessions(kept []byte, keep func([]byte)) (*sessions, error) {
	s := &sessions{keep: keep, open: map[digest]*session{}}
	if kept == nil {
		return s, nil
	}
	var list []keptSession
	if err := json.Unmarshal(kept, &list); err != nil {
		return nil, fmt.Errorf("read the console's sessions of an earlier server: %w", err)
	}
	for _, k := range list {
		if left := time.Until(k.Until); left > 0 && len(k.By) == len(digest{}) {
			s.add(k.Key, digest(k.By), min(left, idle))
		}
	}
	return s, nil
}

// add adds a session that ends after a while without requests.
func (s *sessions) add(key string, by digest, left time.Duration) {
	begun := &session{key: key, by: by, until: time.Now().Add(left)}
	begun.ended, begun.end = context.WithCancelCause(context.Background())
	begun.idle = time.AfterFunc(left, func() { s.drop(begun, over("it was unused for 12 hours")) })
	s.mu.Lock()
	var displaced *session
	if len(s.open) >= mostSessions {
		displaced = s.dispensable()
	}
	s.latest++
	begun.used = s.latest
	s.open[by] = begun
	s.mu.Unlock()
	if displaced != nil {
		s.drop(displaced, over("newer sessions took its place"))
	}
}

// save keeps the sessions for the next server.
func (s *sessions) save() {
	if s.keep == nil {
		return
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	s.mu.Lock()
	list, closed := make([]keptSession, 0, len(s.open)), s.closed
	for _, each := range s.open {
		list = append(list, keptSession{each.by[:], each.key, each.until})
	}
	s.mu.Unlock()
	if data, err := json.Marshal(list); err == nil && !closed {
		s.keep(data)
	}
}

// begin begins a session of a key's holder, or of the operator for an empty key. Where there is no room, the session ends that was
// unused for longest among those of the holder who has most.
func (s *sessions) begin(key string) (secret string) {
	secret = newSecret()
	s.add(key, digestOf(secret), idle)
	s.save()
	return secret
}

// dispensable returns the session that ends first for want of room. The caller holds mu.
func (s *sessions) dispensable() (least *session) {
	count := map[string]int{}
	for _, each := range s.open {
		count[each.key]++
	}
	for _, each := range s.open {
		if least == nil || count[each.key] > count[least.key] || count[each.key] == count[least.key] && each.used < least.used {
			least = each
		}
	}
	return least
}

// find returns the session with a secret, which is in use with that; nil: there is none.
func (s *sessions) find(secret string) *session {
	found, stale := s.touch(digestOf(secret))
	if stale {
		s.save()
	}
	return found
}

// touch is find; stale means that the next server would end the session a good while too early.
func (s *sessions) touch(by digest) (found *session, stale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found = s.open[by]; found == nil {
		return nil, false
	}
	s.latest++
	found.used = s.latest
	found.idle.Reset(idle)
	if stale = time.Until(found.until) < idle-keptAgain; stale {
		found.until = time.Now().Add(idle)
	}
	return found, stale
}

// drop ends a session and the requests that it has open.
func (s *sessions) drop(gone *session, why error) {
	s.mu.Lock()
	delete(s.open, gone.by)
	s.mu.Unlock()
	gone.idle.Stop()
	gone.end(why)
	s.save()
}

func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	all := make([]*session, 0, len(s.open))
	for _, each := range s.open {
		all = append(all, each)
	}
	s.mu.Unlock()
	for _, each := range all {
		s.drop(each, over("the server is stopping"))
	}
}

// over is why the requests of a session end with it.
func over(why string) error {
	return &memory.Error{Code: memory.Denied, Message: "the console's session is over, because " + why + ": log in again"}
}
