package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry"
)

// Files are the files below the directories that an operator named.
type Files interface {
	List(r registry.Root, q abi.FileListRequest) (abi.FileListResponse, error)
	Read(r registry.Root, q abi.FileReadRequest) (abi.FileReadResponse, error)
	// Write calls leaving once before the first file is written, after all checks; its error prevents all writes.
	Write(ctx context.Context, r registry.Root, q abi.FileWriteRequest, leaving func(context.Context) error) (abi.FileWriteResponse, error)
	// Check returns why a directory cannot be a root.
	Check(r registry.Root) error
}

// root returns a root that the family and its caller may use, and its name. Without a name it is the only one that the family may use.
func (call *Call) root(c abi.Capability, name string) (string, registry.Root, error) {
	roots := map[string]registry.Root{}
	if call.host.Roots != nil {
		roots = call.host.Roots()
	}
	usable := slices.DeleteFunc(slices.Sorted(maps.Keys(roots)), func(each string) bool { return !call.Powers.Allows(c, each) })
	if name == "" && len(usable) == 1 {
		name = usable[0]
	}
	if name != "" && slices.Contains(usable, name) && call.host.Files != nil {
		return name, roots[name], call.mayUse(c, name, roots[name])
	}
	if name != "" && !call.Powers.Allows(c, name) {
		return "", registry.Root{}, call.Powers.Check(c, name)
	}
	message := "no directory is named that this family may use: " + call.Powers.Advice().Run("name one, and grant it", "alcove root add")
	if len(usable) > 0 {
		message = fmt.Sprintf("say which root: there are %s", strings.Join(usable, ", "))
	}
	return "", registry.Root{}, &abi.Error{Code: abi.CodeUnavailable, Message: message}
}

// mayUse checks the caller's right to a root: files know no namespaces, so that it is the right to the root's namespace, or to all.
func (call *Call) mayUse(c abi.Capability, name string, r registry.Root) error {
	rights := call.space().Caller().Rights
	may, of := rights.MayRead, rights.Readable
	if c == abi.CanFileWrite {
		may, of = rights.MayWrite, rights.Writable
	}
	_, all := of()
	if r.Namespace == "" && all || r.Namespace != "" && may(r.Namespace) {
		return nil
	}
	return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("%s for %s is denied, because the caller has no right to what the root belongs to", c, name), Details: map[string]any{"capability": string(c)}}
}

// refusedFile converts a failure of files for the guest.
func (call *Call) refusedFile(err error) error {
	var known *abi.Error
	if errors.As(err, &known) {
		return known
	}
	return call.outside(err)
}

func fileList(call *Call, _ context.Context, r abi.FileListRequest) (answer abi.FileListResponse, err error) {
	_, root, err := call.root(abi.CanFileRead, r.Root)
	if err != nil {
		return answer, err
	}
	answer, err = call.host.Files.List(root, r)
	return answer, call.refusedFile(err)
}

func fileRead(call *Call, _ context.Context, r abi.FileReadRequest) (answer abi.FileReadResponse, err error) {
	_, root, err := call.root(abi.CanFileRead, r.Root)
	if err != nil {
		return answer, err
	}
	answer, err = call.host.Files.Read(root, r)
	return answer, call.refusedFile(err)
}

func fileWrite(call *Call, ctx context.Context, r abi.FileWriteRequest) (answer abi.FileWriteResponse, err error) {
	name, root, err := call.root(abi.CanFileWrite, r.Root)
	if err != nil {
		return answer, err
	}
	out := outsideRequest{what: fmt.Sprintf("a write of %d files to %s, %s first,", len(r.Files), name, shownPath(r.Files[0].Path))}
	answer, err = call.host.Files.Write(ctx, root, r, out.leave)
	out.ended(fmt.Sprintf("answered: %d written", answer.Written), err)
	return answer, out.outcome(call.refusedFile(err))
}
