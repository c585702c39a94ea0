package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tetratelabs/wazero"
	"golang.org/x/sys/cpu"

	"github.com/alcove-memory/alcove/abi"
)

// code is a compiled module, shared by all modules with the same rewritten form. Memory, limits and instances are per
// module.
type code struct {
	digest   [sha256.Size]byte // of the rewritten module
	compiled wazero.CompiledModule
	users    int      // reference count; guarded by the sandbox's mu
	original original // memory of an instance that has just started
}

// share returns the code of a rewritten module and adds a reference to it. It returns nil if the code is not in memory.
func (s *Sandbox) share(digest [sha256.Size]byte) *code {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.codes[digest]
	if c != nil {
		c.users++
	}
	return c
}

// add registers compiled code with one reference. If another caller registered it first, add returns theirs.
func (s *Sandbox) add(digest [sha256.Size]byte, compiled wazero.CompiledModule) *code {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.codes[digest]
	if c != nil {
		c.users++
		compiled.Close(context.Background())
		return c
	}
	c = &code{digest: digest, compiled: compiled, users: 1}
	s.codes[digest] = c
	return c
}

// release drops a reference from share or add. Dropping the last one frees the code.
func (s *Sandbox) release(c *code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.users--; c.users > 0 {
		return
	}
	delete(s.codes, c.digest)
	c.original.free()
	c.compiled.Close(context.Background())
}

// codeName returns the cache entry of a rewritten module's code for this engine and processor.
func (s *Sandbox) codeName(digest [sha256.Size]byte) string {
	features := fmt.Sprintf("%+v %+v", cpu.X86, cpu.ARM64)
	return entryName(hex.EncodeToString(digest[:]), s.work.engine, runtime.GOOS, runtime.GOARCH, features)
}

// load returns the code of a rewritten module from memory or the cache, or nil if it is in neither.
func (s *Sandbox) load(ctx context.Context, digest [sha256.Size]byte) (*code, error) {
	if c := s.share(digest); c != nil {
		return c, nil
	}
	select { // one at a time, to bound memory
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return nil, fmt.Errorf("load the compiled module: %w", ctx.Err())
	}
	if c := s.share(digest); c != nil {
		return c, nil
	}
	rewritten, native, err := s.unpack(digest)
	if err != nil {
		if !errors.Is(err, errNoEntry) {
			s.log.Warn("a compiled module cannot be read from the cache, and is compiled again", "error", err)
		} else if errors.Is(err, errInvalid) {
			s.log.Warn("a compiled module in the cache was not authentic, and is compiled again", "entry", s.codeName(digest))
		}
		return nil, nil
	}
	defer os.Remove(native)
	return s.link(digest, rewritten)
}

// link makes wazero load native code from the workspace. It returns nil if the code is not this engine's. The caller holds
// loading.
func (s *Sandbox) link(digest [sha256.Size]byte, rewritten []byte) (*code, error) {
	r, err := s.engine()
	if err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(cachedOnly(), rewritten)
	if err != nil {
		return nil, nil
	}
	return s.add(digest, compiled), nil
}

// isNativeName reports whether wazero could have named native code so: a digest of the module and the processor's features.
func isNativeName(name string) bool {
	return len(name) == 2*sha256.Size && strings.Trim(name, "0123456789abcdef") == ""
}

// codeMagic begins a cache entry. wazero's file name, the length of the rewritten module in 8 bytes, the rewritten module
// and the native code follow.
const codeMagic = "ALCOVE code 1\n"

// pack writes code to the cache. native is wazero's file.
func (s *Sandbox) pack(digest [sha256.Size]byte, rewritten []byte, native string) error {
	f, err := os.Open(native)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.cache.put(dirCode, s.codeName(digest), func(w io.Writer) error {
		head := append([]byte(codeMagic), filepath.Base(native)...)
		head = binary.LittleEndian.AppendUint64(head, uint64(len(rewritten)))
		if _, err := w.Write(append(head, rewritten...)); err != nil {
			return err
		}
		_, err := io.Copy(w, f)
		return err
	})
}

// unpack reads code from the cache and, once it is authenticated, moves the native code to where wazero finds it.
func (s *Sandbox) unpack(digest [sha256.Size]byte) (rewritten []byte, native string, err error) {
	if s.cache.dir == "" {
		return nil, "", errNoEntry
	}
	if err := s.work.ready(); err != nil {
		return nil, "", err
	}
	f, err := os.CreateTemp(s.work.dir, "native-*")
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(f.Name()) // no effect once renamed
	var name string
	err = s.cache.get(dirCode, s.codeName(digest), func(r io.Reader, size int64) error {
		name, rewritten, err = readCode(r, size)
		if err != nil {
			return err
		}
		_, err := io.Copy(f, r)
		return err
	})
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, "", err
	}
	native = filepath.Join(s.work.native(), name)
	return rewritten, native, os.Rename(f.Name(), native)
}

// readCode reads an entry up to its native code.
func readCode(r io.Reader, size int64) (name string, rewritten []byte, err error) {
	head := make([]byte, len(codeMagic)+2*sha256.Size+8)
	if _, err := io.ReadFull(r, head); err != nil || !bytes.HasPrefix(head, []byte(codeMagic)) {
		return "", nil, errInvalid
	}
	name = string(head[len(codeMagic) : len(head)-8])
	length := binary.LittleEndian.Uint64(head[len(head)-8:])
	if !isNativeName(name) || length > uint64(size) || length > maxMetered+uint64(abi.DefaultModuleLimits().ModuleBytes) {
		return "", nil, errInvalid
	}
	rewritten = make([]byte, length)
	if _, err := io.ReadFull(r, rewritten); err != nil {
		return "", nil, errInvalid
	}
	return name, rewritten, nil
}
