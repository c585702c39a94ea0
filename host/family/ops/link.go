package ops

import (
	"context"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// A link is a key in the memory's own namespace, or namespace#key in another. One with a # is tried as a key first.

// ref formats a reference to a memory from a namespace.
func ref(from string, to memory.Ref) string {
	if to.Namespace == from {
		return to.Key
	}
	return to.Namespace + "#" + to.Key
}

// maySee reports whether links from and to a namespace may be read.
func (call *Call) maySee(namespace string) bool {
	return call.Powers.Allows(abi.CanLinkRead, namespace) && call.Caller.Rights.MayRead(namespace)
}

func linkList(call *Call, ctx context.Context, r abi.LinkListRequest) (out abi.LinkListResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanLinkRead, namespace); err != nil {
		return out, err
	}
	found, err := call.Stage.Get(ctx, namespace, []string{r.Key})
	if err != nil {
		return out, err
	}
	out.Links, out.LinkedFrom = []string{}, []string{}
	if found[0] != nil {
		if out.Links, err = call.seen(ctx, namespace, found[0].Links); err != nil {
			return out, err
		}
	}
	q := memory.LinkQuery{To: memory.Ref{Namespace: namespace, Key: r.Key}, Limit: r.Limit, May: call.maySee}
	if r.After != "" {
		if q.After, err = call.refAfter(r.After); err != nil {
			return out, err
		}
	}
	from, more, err := call.Stage.LinkedFrom(ctx, q)
	for _, one := range from {
		out.LinkedFrom = append(out.LinkedFrom, ref(namespace, one))
	}
	if more {
		last := from[len(from)-1]
		out.Next = last.Namespace + "#" + last.Key
	}
	return out, err
}

// refAfter parses the start of the next page.
func (call *Call) refAfter(after string) (memory.Ref, error) {
	namespace, key, ok := strings.Cut(after, "#")
	if !ok || namespace == "" || key == "" {
		return memory.Ref{}, invalid("after %.128q is not the next of a page before", after)
	}
	return memory.Ref{Namespace: namespace, Key: key}, nil
}

// seen drops links that name a namespace whose links may not be read.
func (call *Call) seen(ctx context.Context, namespace string, links []string) ([]string, error) {
	list := []string{}
	for _, link := range links {
		other, key, foreign := strings.Cut(link, "#")
		if foreign && key != "" && other != namespace && !call.maySee(other) {
			own, err := call.Stage.Get(ctx, namespace, []string{link})
			if err != nil {
				return nil, err
			}
			if own[0] == nil {
				continue
			}
		}
		list = append(list, link)
	}
	return list, nil
}

// target returns a link as stored: without the namespace if it is the memory's own. One to a namespace whose links may
// not be read is denied, whether the namespace exists or not.
func (call *Call) target(ctx context.Context, namespace, to string) (string, error) {
	other, key, foreign := strings.Cut(to, "#")
	if !foreign || other == "" || key == "" {
		return to, nil
	}
	own, err := call.Stage.Get(ctx, namespace, []string{to})
	if err != nil || own[0] != nil {
		return to, err
	}
	if other == namespace {
		return key, nil
	}
	if err := call.Powers.Check(abi.CanLinkRead, other); err != nil {
		return "", err
	}
	return to, call.mayRead(other)
}

func linkAdd(call *Call, ctx context.Context, r abi.LinkAddRequest) (out abi.LinkAddResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.mayChange(abi.CanLinkWrite, namespace); err != nil {
		return out, err
	}
	targets := make([]string, len(r.To))
	for i, to := range r.To {
		if targets[i], err = call.target(ctx, namespace, to); err != nil {
			return out, err
		}
	}
	err = call.relink(ctx, namespace, r.Key, func(links []string) []string {
		for _, to := range targets {
			if !slices.Contains(links, to) {
				links = append(links, to)
				out.Added++
			}
		}
		return links
	})
	return out, err
}

func linkRemove(call *Call, ctx context.Context, r abi.LinkRemoveRequest) (out abi.LinkRemoveResponse, err error) {
	namespace := call.in(r.Namespace)
	err = call.relink(ctx, namespace, r.Key, func(links []string) []string {
		kept := slices.DeleteFunc(links, func(link string) bool {
			return slices.Contains(r.To, link) || slices.Contains(r.To, namespace+"#"+link)
		})
		out.Removed = len(links) - len(kept)
		return kept
	})
	return out, err
}

// relink stages a memory with changed links.
func (call *Call) relink(ctx context.Context, namespace, key string, change func([]string) []string) error {
	if err := call.mayChange(abi.CanLinkWrite, namespace); err != nil {
		return err
	}
	found, err := call.Stage.Get(ctx, namespace, []string{key})
	if err != nil {
		return err
	}
	if found[0] == nil {
		return &abi.Error{Code: abi.CodeNotFound, Message: "there is no memory " + key}
	}
	links := change(slices.Clone(found[0].Links))
	if links == nil {
		links = []string{}
	}
	_, err = call.Stage.Patch(ctx, namespace, []memory.Patch{{Key: key, Links: links}})
	return err
}
