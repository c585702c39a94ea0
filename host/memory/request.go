package memory

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// request identifies a write, so that its repetition is recognised. parts are its full content.
func request(w Write, operation string, parts ...any) store.Request {
	if w.RequestID == "" {
		return store.Request{}
	}
	content, err := json.Marshal(parts)
	if err != nil { // parts are plain data with valid JSON
		content = fmt.Append(nil, parts...)
	}
	req, sum := store.Request{Caller: w.identity(), ID: w.RequestID}, sha256.New()
	io.WriteString(sum, operation+"\x00") //nolint:errcheck // a hash takes everything
	sum.Write(content)
	sum.Sum(req.Digest[:0])
	return req
}

// once begins an attempt of a request, after any other attempt has ended, and looks for what an earlier one committed. An attempt that did not
// wait could be acknowledged before readers see the commit, or clash with it. The caller calls end, also after an error.
func (s *Space) once(ctx context.Context, req store.Request) (done store.Committed, again bool, end func(), err error) {
	if end, err = s.inFlight.acquire(ctx, req); err != nil {
		return done, false, end, err
	}
	done, again, err = s.replayed(ctx, req)
	return done, again, end, err
}

// replayed looks for an earlier commit of the same request.
func (s *Space) replayed(ctx context.Context, req store.Request) (store.Committed, bool, error) {
	if req == (store.Request{}) {
		return store.Committed{}, false, nil
	}
	c, done, err := s.engine.Requested(ctx, req)
	return c, done, s.translate("look up the request", err)
}

// orReplayed returns what the same request committed before, if it did, in place of an error of its repetition.
func (s *Space) orReplayed(ctx context.Context, req store.Request, err error) (store.Committed, error) {
	if done, again, failed := s.replayed(ctx, req); again || failed != nil {
		return done, failed
	}
	return store.Committed{}, err
}

func answerKey(w Write) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: answers, Name: w.identity() + "\x00" + w.RequestID}
}
