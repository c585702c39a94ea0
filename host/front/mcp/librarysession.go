package mcp

import (
	"context"
	"errors"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// librarySession is what the library's sessions have in common.
type librarySession interface {
	server.SessionWithClientInfo
	server.SessionWithProtocolVersion
}

// innerOf returns the session of a client, without what stands for it during a message.
func innerOf(client server.ClientSession) server.ClientSession {
	if within, ok := client.(interface{ inner() librarySession }); ok {
		return within.inner()
	}
	return client
}

// askable is what stands for a client's session during a message, and passes questions on to it.
type askable struct{ librarySession }

func (a askable) inner() librarySession { return a.librarySession }

// RequestElicitation implements server.SessionWithElicitation.
func (a askable) RequestElicitation(ctx context.Context, r protocol.ElicitationRequest) (*protocol.ElicitationResult, error) {
	client, ok := innerOf(a.librarySession).(server.SessionWithElicitation)
	if !ok {
		return nil, server.ErrElicitationNotSupported
	}
	return client.RequestElicitation(ctx, r)
}

// RequestSampling implements server.SessionWithSampling.
func (a askable) RequestSampling(ctx context.Context, r protocol.CreateMessageRequest) (*protocol.CreateMessageResult, error) {
	client, ok := innerOf(a.librarySession).(server.SessionWithSampling)
	if !ok {
		return nil, errors.New("the client cannot be asked for its model")
	}
	return client.RequestSampling(ctx, r)
}

// ListRoots implements server.SessionWithRoots.
func (a askable) ListRoots(ctx context.Context, r protocol.ListRootsRequest) (*protocol.ListRootsResult, error) {
	client, ok := innerOf(a.librarySession).(server.SessionWithRoots)
	if !ok {
		return nil, server.ErrRootsNotSupported
	}
	return client.ListRoots(ctx, r)
}
