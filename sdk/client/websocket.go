package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	connectWithin = 10 * time.Second
	silentFor     = 90 * time.Second // without a frame, a server that sends a ping every 30 s is gone
	refusalLimit  = 64 << 10         // bytes of an answer that is no WebSocket
	controlLimit  = 125              // bytes of a control frame's payload
)

// Opcodes of frames.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

// webSocket is the client's side of a WebSocket connection (RFC 6455), without extensions.
type webSocket struct {
	conn    net.Conn
	r       *bufio.Reader
	limit   int        // bytes of a message
	writing sync.Mutex // held to write a frame
}

// dialWebSocket connects to a URL of http or https.
func dialWebSocket(ctx context.Context, u *url.URL, header http.Header, config *tls.Config, limit int) (*webSocket, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	conn, err := dialHost(ctx, u, config)
	if err != nil {
		return nil, unanswered(ctx, err)
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })()
	w := &webSocket{conn: conn, r: bufio.NewReader(conn), limit: limit}
	if err := w.upgrade(ctx, u, header); err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

func dialHost(ctx context.Context, u *url.URL, config *tls.Config) (net.Conn, error) {
	port := u.Port()
	if u.Scheme != "https" {
		if port == "" {
			port = "80"
		}
		return new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	}
	if port == "" {
		port = "443"
	}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
}

// upgrade makes an HTTP connection a WebSocket.
func (w *webSocket) upgrade(ctx context.Context, u *url.URL, header http.Header) error {
	nonce := make([]byte, 16)
	rand.Read(nonce)
	key := base64.StdEncoding.EncodeToString(nonce)
	r := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: header.Clone(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	r.Header.Del("Content-Type")
	for name, value := range map[string]string{"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key} {
		r.Header.Set(name, value)
	}
	if err := r.Write(w.conn); err != nil {
		return unanswered(ctx, err)
	}
	answer, err := http.ReadResponse(w.r, r)
	if err != nil {
		return unanswered(ctx, err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, refusalLimit))
		return refusal(answer.StatusCode, body)
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	if !strings.EqualFold(answer.Header.Get("Upgrade"), "websocket") || answer.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) {
		return &Error{Code: Internal, Message: "the server does not speak WebSocket: is it an alcove server?"}
	}
	return nil
}

// errMalformed means that a server does not keep to the protocol.
var errMalformed = errors.New("the server sent a malformed frame")

// read returns the next message. It answers pings.
func (w *webSocket) read() ([]byte, error) {
	var message []byte
	for begun := false; ; {
		op, final, payload, err := w.readFrame(w.limit - len(message))
		if err != nil {
			return nil, err
		}
		switch {
		case op == opPing:
			err = w.write(opPong, payload)
		case op == opPong:
		case op == opClose:
			w.write(opClose, payload[:min(len(payload), 2)]) // the server may be gone
			err = closed(payload)
		case op == opContinuation == begun && op <= opBinary:
			message, begun = append(message, payload...), true
			if final {
				return message, nil
			}
		default:
			err = errMalformed
		}
		if err != nil {
			return nil, err
		}
	}
}

// closed returns why a server closed the connection.
func closed(payload []byte) error {
	if len(payload) < 2 {
		return io.EOF
	}
	return fmt.Errorf("the server closed the stream: %d %s", binary.BigEndian.Uint16(payload), payload[2:])
}

func (w *webSocket) readFrame(limit int) (op byte, final bool, payload []byte, err error) {
	w.conn.SetReadDeadline(time.Now().Add(silentFor))
	var head [2]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return 0, false, nil, err
	}
	op, final = head[0]&0x0f, head[0]&0x80 != 0
	length := uint64(head[1] & 0x7f)
	control := op >= opClose
	if head[0]&0x70 != 0 || head[1]&0x80 != 0 || control && (!final || length > controlLimit) {
		return 0, false, nil, errMalformed
	}
	if more := map[uint64]int{126: 2, 127: 8}[length]; more > 0 {
		var extended [8]byte
		if _, err := io.ReadFull(w.r, extended[8-more:]); err != nil {
			return 0, false, nil, err
		}
		length = binary.BigEndian.Uint64(extended[:])
	}
	if !control && length > uint64(max(limit, 0)) {
		return 0, false, nil, tooLong(w.limit)
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(w.r, payload)
	return op, final, payload, err
}

// write sends a frame, masked as the protocol wants it of clients.
func (w *webSocket) write(op byte, payload []byte) error {
	frame := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(n))
	}
	var mask [4]byte
	rand.Read(mask[:])
	frame = append(frame, mask[:]...)
	for i, b := range payload {
		frame = append(frame, b^mask[i%4])
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	w.conn.SetWriteDeadline(time.Now().Add(connectWithin))
	_, err := w.conn.Write(frame)
	return err
}

func (w *webSocket) close() {
	w.write(opClose, []byte{0x03, 0xe8}) // 1000; the server may be gone
	w.conn.Close()
}
