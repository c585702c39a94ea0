package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// Native is native code that was compiled together with this program, which is trusted as the program is. It spares a user
// the first compilation of a module that the program carries.
type Native struct {
	Code   string                        // SHA-256 of the rewritten module, hexadecimal
	Engine string                        // the engine's version and platform
	Name   string                        // the engine's name for it: a digest of the module and the processor's features
	Sum    string                        // SHA-256 of its bytes, hexadecimal
	Open   func() (io.ReadCloser, error) // its bytes
}

// linkNative links native code that came with this program. It returns nil if there is none, or it is damaged, or of another
// rewritten module, engine or processor: such a module is compiled. The caller holds compiling.
func (s *Sandbox) linkNative(ctx context.Context, digest [sha256.Size]byte, binary []byte, n *Native) (*code, error) {
	if n == nil || n.Code != hex.EncodeToString(digest[:]) || n.Engine != s.work.engine || !isNativeName(n.Name) {
		return nil, nil
	}
	c, err := s.linkPlaced(ctx, digest, binary, n)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return c, err
	}
	s.log.Info("the native code that came with the program is not used: compiling the module", "reason", err)
	return nil, nil
}

func (s *Sandbox) linkPlaced(ctx context.Context, digest [sha256.Size]byte, binary []byte, n *Native) (*code, error) {
	path, err := s.work.place(n)
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	return s.linkNew(ctx, digest, binary, cachedOnly())
}

// place writes native code to where wazero finds it.
func (w *workspace) place(n *Native) (path string, err error) {
	if err := w.ready(); err != nil {
		return "", err
	}
	from, err := n.Open()
	if err != nil {
		return "", fmt.Errorf("read the native code: %w", err)
	}
	defer from.Close()
	f, err := os.CreateTemp(w.dir, "native-*")
	if err != nil {
		return "", notWritten(w.shown, err)
	}
	defer os.Remove(f.Name()) // no effect once renamed
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(from, maxEntry))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("write the native code: %w", err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != n.Sum {
		return "", fmt.Errorf("write the native code: its SHA-256 is %s, not %s", sum, n.Sum)
	}
	path = filepath.Join(w.native(), n.Name)
	return path, os.Rename(f.Name(), path)
}

// Precompiled is a module that a program carries, as rewritten for this version of the sandbox.
type Precompiled struct {
	Body   string // digest of the module without custom sections
	Code   string // SHA-256 of the rewritten module, hexadecimal
	Engine string // the engine's version and platform

	rewritten []byte
	functions int
}

// Precompile checks and rewrites a vetted module for a program that carries it.
func Precompile(module []byte) (*Precompiled, error) {
	a := &admission{binary: module}
	if err := a.check(); err != nil {
		return nil, err
	}
	if err := a.rewrite(); err != nil {
		return nil, err
	}
	functions, err := a.functions()
	if err != nil {
		return nil, err
	}
	engine, err := engineName()
	if err != nil {
		return nil, fmt.Errorf("find the engine's name: %w", err)
	}
	body, _, _, _ := bodyOf(module) // it was checked
	return &Precompiled{
		Body: hex.EncodeToString(body[:]), Code: hexDigest(a.rewritten), Engine: engine,
		rewritten: a.rewritten, functions: functions,
	}, nil
}

// engineName returns the name of the directory in which wazero keeps native code.
func engineName() (string, error) {
	w, err := openWorkspace([]string{os.TempDir()})
	if err != nil {
		return "", err
	}
	defer w.close()
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(w.dir, dirEngine))
	if err != nil {
		return "", err
	}
	err = errors.Join(w.named(), cache.Close(context.Background()))
	return w.engine, err
}

// Native compiles the module in this process, for its processor. name is the engine's name for the code.
func (p *Precompiled) Native() (name string, native []byte, err error) {
	dir, err := os.MkdirTemp("", "alcove-compile-*")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, childInput), p.rewritten, 0o600); err != nil {
		return "", nil, err
	}
	if _, err := compileIn(dir); err != nil {
		return "", nil, fmt.Errorf("compile the module: %w", err)
	}
	path, err := compiledIn(filepath.Join(dir, childOutput), p.Engine)
	if err != nil {
		return "", nil, err
	}
	if native, err = readEntryFile(path); err != nil {
		return "", nil, err
	}
	return filepath.Base(path), native, checkEntry(native, p.functions)
}
