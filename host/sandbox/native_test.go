package sandbox

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// nativeOf is a module's native code, as a program carries it.
func nativeOf(t testing.TB, module []byte) (*Precompiled, *Native) {
	t.Helper()
	p, err := Precompile(module)
	must.Do(t, err)
	name, code, err := p.Native()
	must.Do(t, err)
	return p, &Native{Code: p.Code, Engine: p.Engine, Name: name, Sum: hexDigest(code), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(code)), nil }}
}

// withoutCompiler is a configuration with which nothing can be compiled.
func withoutCompiler(t testing.TB) Config {
	t.Helper()
	config := testConfig(t)
	config.Compiler.Path = filepath.Join(t.TempDir(), "no compiler")
	return config
}

func TestNativeCodeThatTheProgramCarriesIsNotCompiled(t *testing.T) {
	module := packedAs(t, "notes", "")
	_, native := nativeOf(t, module)
	config := withoutCompiler(t)
	s := newSandbox(t, config)
	m, err := s.Admit(t.Context(), module, Options{Native: native})
	must.Do(t, err)
	if r := ask(t, m, "c"); string(r.Output) != "1121" {
		t.Errorf("output %s, %v, want 1121", r.Output, r.Error)
	}
	if left := entries(t, Config{Cache: Cache{Dir: s.work.native()}}, ""); len(left) != 0 {
		t.Errorf("there are still %q", left)
	}
	if !fromCache(t, config, module) {
		t.Error("it is not in the cache")
	}
}

// Native code that is not of this module, engine and processor, or is damaged, never runs: the module is compiled.
func TestNativeCodeThatDoesNotFitIsNotRun(t *testing.T) {
	module := packedAs(t, "notes", "")
	_, native := nativeOf(t, module)
	_, other := nativeOf(t, otherCode(t))
	damaged := errors.New("damaged")
	for name, change := range map[string]func(*Native){
		"another module's":      func(n *Native) { *n = *other },
		"another engine":        func(n *Native) { n.Engine = "wazero-v0.0.0-amd64-linux" },
		"another processor":     func(n *Native) { n.Name = strings.Repeat("0", 64) },
		"a name that is a path": func(n *Native) { n.Name = "../" + n.Name },
		"nothing": func(n *Native) {
			n.Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
		},
		"no native code": func(n *Native) {
			n.Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("WAZEVO")), nil }
		},
		"another module's under this's name": func(n *Native) { n.Open = other.Open },
		"cannot be opened":                   func(n *Native) { n.Open = func() (io.ReadCloser, error) { return nil, damaged } },
		"cut off within what was compressed": func(n *Native) { n.Open = compressed(t, n, func(b []byte) []byte { return b[:len(b)/2] }) },
		"one byte of what was compressed":    func(n *Native) { n.Open = compressed(t, n, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) },
	} {
		changed := *native
		change(&changed)
		if m, err := newSandbox(t, withoutCompiler(t)).Admit(t.Context(), module, Options{Native: &changed}); err == nil {
			t.Errorf("%s: %s was admitted where nothing can be compiled", name, m.Family())
		}
		if name != "another processor" && name != "cannot be opened" {
			continue // the others are compiled in the same way
		}
		m, err := newSandbox(t, testConfig(t)).Admit(t.Context(), module, Options{Native: &changed})
		if err != nil {
			t.Errorf("%s: it is not compiled: %v", name, err)
			continue
		}
		if r := ask(t, m, "c"); string(r.Output) != "1121" {
			t.Errorf("%s: output %s, %v, want 1121", name, r.Output, r.Error)
		}
	}
}

// compressed is native code as an image has it, changed.
func compressed(t testing.TB, n *Native, change func([]byte) []byte) func() (io.ReadCloser, error) {
	t.Helper()
	code, err := n.Open()
	must.Do(t, err)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = io.Copy(z, code)
	must.Do(t, errors.Join(err, z.Close()))
	return func() (io.ReadCloser, error) { return gzip.NewReader(bytes.NewReader(change(bytes.Clone(b.Bytes())))) }
}

func TestAnotherManifestOfAKnownBodyNeedsNoBytes(t *testing.T) {
	config := testConfig(t)
	module, other := packedAs(t, "notes", ""), packedAs(t, "other", "")
	p, native := nativeOf(t, module)
	s := newSandbox(t, config)
	source := func(module []byte, reads *int) Source {
		manifest, err := ManifestBytes(module)
		must.Do(t, err)
		return Source{hexDigest(module), manifest, func() (Binary, error) { *reads++; return Hash(module), nil }}
	}
	first, second := 0, 0
	_, err := s.AdmitSource(t.Context(), source(module, &first), Options{Body: p.Body, Native: native})
	must.Do(t, err)
	m, err := s.AdmitSource(t.Context(), source(other, &second), Options{Body: p.Body, Native: native})
	must.Do(t, err)
	if first != 1 || second != 0 {
		t.Errorf("the first was read %d times, the other %d times", first, second)
	}
	if r := ask(t, m, "c"); m.Family() != "other" || m.Digest() != hexDigest(other) || string(r.Output) != "1121" {
		t.Errorf("family %s with digest %s answers %s, want other with digest %s and 1121", m.Family(), m.Digest(), r.Output, hexDigest(other))
	}
	third := 0
	if _, err := s.AdmitSource(t.Context(), source(otherCode(t), &third), Options{Body: hexDigest([]byte("unknown"))}); err != nil || third != 1 {
		t.Errorf("one of an unknown body was read %d times: %v", third, err)
	}
}
