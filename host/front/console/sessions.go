package console

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

const (
	mostSessions = 1000
	idle         = 12 * time.Hour // after the last request of a session
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
}

// operator reports whether the session is the operator's.
func (s *session) operator() bool { return s.key == "" }

// sessions are the sessions of this process, by the digest of their secret.
type sessions struct {
	mu     sync.Mutex
	open   map[digest]*session
	latest uint64
}

func newSessions() *sessions { return &sessions{open: map[digest]*session{}} }

// begin begins a session of a key's holder, or of the operator for an empty key. Where there is no room, the session ends that was
// unused for longest among those of the holder who has most.
func (s *sessions) begin(key string) (secret string) {
	secret = newSecret()
	ended, end := context.WithCancelCause(context.Background())
	begun := &session{key: key, by: digestOf(secret), ended: ended, end: end}
	begun.idle = time.AfterFunc(idle, func() { s.drop(begun, over("it was unused for 12 hours")) })
	s.mu.Lock()
	var displaced *session
	if len(s.open) >= mostSessions {
		displaced = s.dispensable()
	}
	s.latest++
	begun.used = s.latest
	s.open[begun.by] = begun
	s.mu.Unlock()
	if displaced != nil {
		s.drop(displaced, over("newer sessions took its place"))
	}
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
	by := digestOf(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.open[by]
	if found != nil {
		s.latest++
		found.used = s.latest
		found.idle.Reset(idle)
	}
	return found
}

// drop ends a session and the requests that it has open.
func (s *sessions) drop(gone *session, why error) {
	s.mu.Lock()
	delete(s.open, gone.by)
	s.mu.Unlock()
	gone.idle.Stop()
	gone.end(why)
}

func (s *sessions) close() {
	s.mu.Lock()
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
