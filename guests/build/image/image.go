// Package image is the form in which a program carries families that are one module with a manifest each: the module and its
// native code, compressed, and an index of the manifests and the digests of the packed modules. Nothing is unpacked before it
// is needed.
package image

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"weak"

	"github.com/klauspost/compress/zstd"

	"github.com/alcove-memory/alcove/abi"
)

// Image has the packed modules of some families. Its methods may be called concurrently.
type Image struct {
	families []Family
	body     string
	size     int     // of the module, in bytes
	packed   []byte  // the module, compressed
	native   *Native // nil: none

	mu     sync.Mutex
	last   weak.Pointer[[]byte] // the module, while somebody has it: families are often loaded one after the other
	hashed []byte               // state of SHA-256 behind the module, which belongs to packed; nil: it was not unpacked yet
}

// Family is one family of an image.
type Family struct {
	Name     string `json:"name"`
	Digest   string `json:"digest"` // SHA-256 of its packed module, hexadecimal
	Manifest string `json:"-"`      // what the packed module's section for it holds
	Bytes    int    `json:"bytes"`  // of the manifest

	image *Image
}

// Native is a module's native code for one platform.
type Native struct {
	Code   string `json:"code"`   // SHA-256 of the module that was compiled, as rewritten by the sandbox, hexadecimal
	Engine string `json:"engine"` // that compiled it, and its platform
	Name   string `json:"name"`   // the engine's name for the native code
	Sum    string `json:"sum"`    // SHA-256 of the native code, hexadecimal

	packed []byte // compressed
}

// Compress sets the native code and its sum.
func (n *Native) Compress(code []byte) (err error) {
	n.Sum = digestOf(code)
	if n.packed, err = compress(code); err != nil {
		return fmt.Errorf("compress the native code: %w", err)
	}
	return n.Check()
}

// Open returns the native code. The caller compares it with the sum.
func (n *Native) Open() (io.ReadCloser, error) { return decompress(n.packed) }

// Check unpacks the native code, if there is any, and compares it with its sum.
func (n *Native) Check() error {
	if n == nil {
		return nil
	}
	code, err := n.Open()
	if err != nil {
		return fmt.Errorf("unpack the native code: %w", err)
	}
	defer code.Close()
	h := sha256.New()
	if _, err := io.Copy(h, code); err != nil {
		return fmt.Errorf("unpack the native code: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != n.Sum {
		return fmt.Errorf("unpack the native code: its SHA-256 is %s, not %s: build or download this program again", got, n.Sum)
	}
	return nil
}

// index is what an image begins with, after magic and its length in 4 bytes. The manifests follow as they are, because every start
// reads them; then the module and its native code, both compressed by Zstandard.
type index struct {
	Bytes    int      `json:"bytes"`  // of the module
	Packed   int      `json:"packed"` // bytes of the module, compressed
	Body     string   `json:"body,omitempty"`
	Native   *Native  `json:"native,omitempty"`
	Families []Family `json:"families"`
}

const magic = "ALCOVE families 1\n"

// Content is what an image has.
type Content struct {
	Module []byte
	Packed map[string][]byte // the packed modules by family: the module with the section for a manifest behind it
	Names  []string          // of the families, in order
	Body   string            // as the sandbox precompiled it: a digest without custom sections; empty: unknown
	Native *Native           // nil: none
}

// Write writes an image.
func Write(w io.Writer, c Content) error {
	x := index{Bytes: len(c.Module), Body: c.Body, Native: c.Native}
	var manifests []byte
	for _, name := range c.Names {
		manifest, err := manifestOf(c.Module, c.Packed[name])
		if err != nil {
			return fmt.Errorf("write the image: family %s: %w", name, err)
		}
		x.Families = append(x.Families, Family{Name: name, Digest: digestOf(c.Packed[name]), Bytes: len(manifest)})
		manifests = append(manifests, manifest...)
	}
	module, err := compress(c.Module)
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	x.Packed = len(module)
	head, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("write the image: %w", err)
	}
	parts := [][]byte{binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(head))), head, manifests, module}
	if c.Native != nil {
		parts = append(parts, c.Native.packed)
	}
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("write the image: %w", err)
		}
	}
	return nil
}

// window is how far back Zstandard finds what repeats: a module's native code repeats what is all over it.
const window = 32 << 20

func compress(data []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(data, nil), z.Close()
}

// decompress starts no goroutines.
func decompress(packed []byte) (io.ReadCloser, error) {
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// manifestOf is the manifest that a packed module has beyond the module.
func manifestOf(module, packed []byte) (string, error) {
	behind, ok := bytes.CutPrefix(packed, module)
	_, manifest, found := strings.Cut(string(behind), abi.Section)
	if !ok || !found || !bytes.Equal(section(manifest), behind) {
		return "", errors.New("its packed module is not the module with a manifest behind it")
	}
	return manifest, nil
}

// section is the custom section with a manifest.
func section(manifest string) []byte {
	content := binary.AppendUvarint(nil, uint64(len(abi.Section)))
	content = append(append(content, abi.Section...), manifest...)
	return append(binary.AppendUvarint([]byte{0}, uint64(len(content))), content...)
}

// Open reads the index of an image. data must not change afterwards.
func Open(data []byte) (*Image, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
		return nil, errors.New("read the image of families: it is none, or cut off")
	}
	end := 4 + int(binary.LittleEndian.Uint32(rest))
	var x index
	if err := json.Unmarshal(rest[4:end], &x); err != nil {
		return nil, fmt.Errorf("read the image of families: %w", err)
	}
	i := &Image{families: x.Families, body: x.Body, size: x.Bytes, native: x.Native}
	rest = rest[end:]
	for n := range i.families {
		f := &i.families[n]
		manifest, behind, ok := cut(rest, f.Bytes)
		if !ok {
			return nil, errors.New("read the image of families: it is cut off")
		}
		f.image, f.Manifest, rest = i, string(manifest), behind
	}
	if i.packed, rest, ok = cut(rest, x.Packed); !ok {
		return nil, errors.New("read the image of families: it is cut off")
	}
	if i.native != nil {
		i.native.packed = rest
	}
	return i, nil
}

// cut splits data behind a number of bytes, and reports whether it has so many.
func cut(data []byte, size int) (head, rest []byte, ok bool) {
	if size < 0 || size > len(data) {
		return nil, nil, false
	}
	return data[:size], data[size:], true
}

// Families are the families of the image, in its order. The caller must not change them.
func (i *Image) Families() []Family { return i.families }

// Native returns the native code of the image's module; nil: there is none.
func (i *Image) Native() *Native { return i.native }

// Body returns the digest of the image's module without custom sections; empty if the image does not have it.
func (f Family) Body() string { return f.image.body }

// Native returns the native code of the image's module; nil: there is none.
func (f Family) Native() *Native { return f.image.native }

// Read unpacks the family's packed module, and fails if it does not have the digest. The module that the families share is hashed
// once for each image, and only the manifest for each family.
func (f Family) Read() ([]byte, error) {
	module, err := f.verified()
	if err != nil {
		return nil, fmt.Errorf("unpack family %s: %w", f.Name, err)
	}
	return append(module[:len(module):len(module)], section(f.Manifest)...), nil
}

// Check is Read without the packed module.
func (f Family) Check() error {
	if _, err := f.verified(); err != nil {
		return fmt.Errorf("unpack family %s: %w", f.Name, err)
	}
	return nil
}

// verified unpacks the shared module, and compares the digest of the family's packed module.
func (f Family) verified() ([]byte, error) {
	module, state, err := f.image.unpacked()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("resume the SHA-256 of the module: %w", err)
	}
	h.Write(section(f.Manifest))
	if got := hex.EncodeToString(h.Sum(nil)); got != strings.ToLower(f.Digest) {
		return nil, fmt.Errorf("its SHA-256 is %s, not %s: build or download this program again", got, f.Digest)
	}
	return module, nil
}

// unpacked returns the module, and the state of SHA-256 behind it. The state outlives the unpacked bytes: packed does not change, and
// Zstandard's sum finds what goes wrong when it is unpacked again.
func (i *Image) unpacked() (module, state []byte, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if module := i.last.Value(); module != nil {
		return *module, i.hashed, nil
	}
	if module, err = i.unpack(); err != nil {
		return nil, nil, err
	}
	if i.hashed == nil {
		h := sha256.New()
		h.Write(module)
		if i.hashed, err = h.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
			return nil, nil, err
		}
	}
	i.last = weak.Make(&module)
	return module, i.hashed, nil
}

func (i *Image) unpack() ([]byte, error) {
	if most := abi.DefaultModuleLimits().ModuleBytes; i.size < 0 || int64(i.size) > most {
		return nil, fmt.Errorf("the module has %d bytes, and %s is %d", i.size, abi.LimitModuleBytes, most)
	}
	z, err := decompress(i.packed)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	module := make([]byte, i.size)
	if _, err := io.ReadFull(z, module); err != nil {
		return nil, err
	}
	if n, err := z.Read(make([]byte, 1)); n > 0 || err != io.EOF { // which checks Zstandard's sum
		return nil, fmt.Errorf("it has more than %d bytes, or is damaged: %v", i.size, err)
	}
	return module, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
