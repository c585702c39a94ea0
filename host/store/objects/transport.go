package objects

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	mostRequests = 1000            // of one operation, such as a listing
	mostAnswer   = 8 << 20         // bytes of an answer that is no object
	silence      = 2 * time.Minute // after which a connection is given up
)

// allowance is what an operation may have of the server.
type allowance struct {
	requests atomic.Int64
	answer   int64 // bytes of each answer
}

type allowanceKey struct{}

// within bounds the requests of an operation, and the bytes of each answer.
func within(ctx context.Context, requests, answer int64) context.Context {
	a := &allowance{answer: answer}
	a.requests.Store(requests)
	return context.WithValue(ctx, allowanceKey{}, a)
}

// guard keeps a server from sending without end and from sending the client elsewhere.
type guard struct{ next http.RoundTripper }

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	a, ok := r.Context().Value(allowanceKey{}).(*allowance)
	if !ok {
		a = &allowance{answer: mostAnswer}
		a.requests.Store(1)
	}
	if a.requests.Add(-1) < 0 {
		return refusal(r, fmt.Sprintf("the server wants more than %d requests for one operation", mostRequests)), nil
	}
	answer, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 && answer.StatusCode < 400 && answer.StatusCode != http.StatusNotModified {
		_ = answer.Body.Close() // not read
		return refusal(r, fmt.Sprintf("the server redirects to %.200q: give the right --endpoint and --region, nothing is sent elsewhere", hostOf(answer.Header.Get("Location")))), nil
	}
	answer.Body = &bounded{ReadCloser: answer.Body, left: a.answer, most: a.answer}
	return answer, nil
}

func hostOf(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return location
	}
	return u.Host
}

// refusal is an answer in the server's place, which the library does not try again.
func refusal(r *http.Request, why string) *http.Response {
	var text bytes.Buffer
	text.WriteString("<Error><Code>Refused</Code><Message>")
	_ = xml.EscapeText(&text, []byte(why)) // a buffer takes all
	text.WriteString("</Message></Error>")
	return &http.Response{
		Status: "400 Bad Request", StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/xml"}}, ContentLength: int64(text.Len()), Body: io.NopCloser(&text),
	}
}

// bounded ends an answer with an error where it is too long.
type bounded struct {
	io.ReadCloser
	left, most int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the server's answer has more than %d bytes", b.most)
	}
	return n, err
}

// transport connects to servers. A connection on which nothing moves is closed.
func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dial := (&net.Dialer{Timeout: 30 * time.Second}).DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return idleTimeoutConn{c}, err
	}
	t.ResponseHeaderTimeout = silence
	t.DisableCompression = true // an object is what is stored
	t.MaxResponseHeaderBytes = 64 << 10
	return guard{t}
}

// idleTimeoutConn is a connection that fails when nothing is read or written for a time.
type idleTimeoutConn struct{ net.Conn }

func (c idleTimeoutConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c idleTimeoutConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
