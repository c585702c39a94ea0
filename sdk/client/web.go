package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// web sends operations over HTTP.
type web struct {
	options Options
	base    *url.URL
	client  *http.Client
}

func newWeb(base *url.URL, o Options) *web {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig, t.MaxIdleConnsPerHost = o.TLS, 64
	return &web{o, base, &http.Client{Transport: t, CheckRedirect: refuseRedirect}}
}

// refuseRedirect keeps the key from other servers.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (w *web) do(ctx context.Context, operation []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.base.JoinPath("operation").String(), bytes.NewReader(operation))
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	r.Header = newHeader(w.options)
	answer, err := w.client.Do(r)
	if err != nil {
		return nil, unanswered(ctx, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(w.options.MaxAnswer)+1))
	switch {
	case len(body) > w.options.MaxAnswer:
		return nil, tooLong(w.options.MaxAnswer)
	case err != nil:
		return nil, unanswered(ctx, err)
	case answer.StatusCode != http.StatusOK:
		return nil, refusal(answer.StatusCode, body)
	}
	return body, nil
}

// newHeader returns what says who a client is.
func newHeader(o Options) http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if o.Key != "" {
		h.Set("Authorization", "Bearer "+o.Key)
	}
	if o.Agent != "" {
		h.Set("Alcove-Agent", o.Agent)
	}
	return h
}

// unanswered returns the error of a request without an answer: the context's, if that is why.
func unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.As(err, new(*tls.CertificateVerificationError)) {
		return &Error{Code: Unavailable, Message: "the server's certificate is not trusted: " + err.Error(), cause: err}
	}
	return &lostError{false, err}
}

// refusal returns the error of a request that the server did not take.
func refusal(status int, body []byte) error {
	e := decodeError(body)
	if e == nil {
		e = &Error{Code: Internal, Message: fmt.Sprintf("the server answered %d %s: is %q an alcove server?", status, http.StatusText(status), strings.TrimSpace(string(body[:min(len(body), 60)])))}
	}
	if status == http.StatusServiceUnavailable {
		return &lostError{true, e}
	}
	return e
}

func (w *web) close() error {
	w.client.CloseIdleConnections()
	return nil
}
