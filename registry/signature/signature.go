// Package signature signs WebAssembly modules and verifies their signatures, in the format of the WebAssembly tool conventions.
//
// The signature data is the content of a module's first section, a custom one named signature, or it is kept apart from the
// module. It covers everything behind that section: code, manifest, and all other custom sections.
package signature

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

const (
	sectionName   = "signature"
	delimiterName = "signature_delimiter"
	domain        = "wasmsig"
	header        = "\x01\x01\x01" // version of the specification, WebAssembly modules, SHA-256
	ed25519ID     = 1
	preamble      = 8 // bytes of a module before its sections
)

// Bounds of signature data.
const (
	DataLimit      = 64 << 10 // bytes
	mostSets       = 16
	mostHashes     = 64
	mostSignatures = 64 // of a set
)

// set is some hashes and the signatures that cover all of them.
type set struct {
	hashes     []byte // SHA-256 sums, one behind the other
	signatures []one
}

type one struct {
	keyID     []byte // a hint of the signer; not trusted
	algorithm byte
	bytes     []byte
}

// Sign returns a module with a signature by a key in it. Signatures that cover the module stay; others are dropped.
func Sign(module []byte, key crypto.Signer) ([]byte, error) {
	data, bare, err := Split(module)
	if err != nil {
		return nil, err
	}
	if data, err = addSignature(bare, data, key); err != nil {
		return nil, err
	}
	return Attach(bare, data)
}

// SignDetached returns signature data for a module without a signature section: the given data, which may be empty, and a
// signature by a key.
func SignDetached(bare, data []byte, key crypto.Signer) ([]byte, error) {
	data, claims, err := splitSignature(data)
	if err != nil {
		return nil, err
	}
	if data, err = addSignature(bare, data, key); err != nil {
		return nil, err
	}
	return claims.Beside(data)
}

// addSignature adds a signature by a key to those of a module.
func addSignature(bare, data []byte, key crypto.Signer) ([]byte, error) {
	whole, parts, err := hashesOf(bare)
	if err != nil {
		return nil, err
	}
	var kept []set
	if len(data) > 0 {
		if kept, err = decode(data); err != nil {
			return nil, err
		}
	}
	kept = slices.DeleteFunc(kept, func(s set) bool { return !s.covers(whole, parts) })
	made, err := signedBy(key, message(parts))
	if err != nil {
		return nil, err
	}
	mine := one{algorithm: ed25519ID, bytes: made}
	at := slices.IndexFunc(kept, func(s set) bool { return bytes.Equal(s.hashes, parts) })
	switch {
	case at < 0:
		kept = append(kept, set{hashes: parts, signatures: []one{mine}})
	case slices.ContainsFunc(kept[at].signatures, func(have one) bool { return bytes.Equal(have.bytes, mine.bytes) }):
	default:
		kept[at].signatures = append(kept[at].signatures, mine)
	}
	encoded := encode(kept)
	_, err = decode(encoded) // within the bounds
	return encoded, err
}

// signedBy has a key sign a text, wherever the key is, and verifies that it did.
func signedBy(key crypto.Signer, text []byte) ([]byte, error) {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("the key is not an Ed25519 key")
	}
	made, err := key.Sign(nil, text, crypto.Hash(0))
	if err == nil && !ed25519.Verify(public, text, made) {
		err = fmt.Errorf("the signature does not belong to the public key %s", FormatPublic(public))
	}
	return made, err
}

// Attach returns a module with signature data as its first section.
func Attach(bare, data []byte) ([]byte, error) {
	if len(data) > DataLimit {
		return nil, errTooLong
	}
	begin := min(preamble, len(bare))
	return slices.Concat(bare[:begin], sectionFor(data), bare[begin:]), nil
}

// Split returns a module's signature data, which is nil in an unsigned one, and the module without that section.
func Split(module []byte) (data, bare []byte, err error) {
	data, rest, err := sectionsOf(module)
	if err != nil || data == nil {
		return nil, module, err
	}
	return data, append(slices.Clip(slices.Clone(module[:preamble])), rest...), nil
}

// Content is what signatures of a module have to cover. It retains nothing of the module's bytes.
type Content struct {
	own          []byte // signature data in the module; empty: none
	whole, parts []byte // hashes of the sections behind it
}

// Read hashes the sections of a module, once for all signatures of it. They begin behind the signature, so that no hash of the whole
// file has theirs in it.
func Read(module []byte) (Content, error) {
	own, rest, err := sectionsOf(module)
	if err != nil {
		return Content{}, err
	}
	c := Content{own: slices.Clone(own[:min(len(own), DataLimit+1)])} // so much is refused when it is decoded
	c.whole, c.parts, err = hashesOfSections(rest)
	return c, err
}

// Signed returns the signatures that cover the module, as Open does. digest is the SHA-256 of the module, in hexadecimal.
func (c Content) Signed(data []byte, digest string) (s Signed, err error) {
	data, claims, err := splitSignature(data)
	if err != nil {
		return s, err
	}
	s.claims = claims.cover(digest)
	if len(data) == 0 {
		data = c.own
	}
	if len(data) == 0 {
		return s, nil
	}
	sets, err := decode(data)
	if err != nil {
		return Signed{}, err
	}
	s.sets = slices.DeleteFunc(sets, func(s set) bool { return !s.covers(c.whole, c.parts) })
	return s, nil
}

// In reports whether a module has signature data in it.
func In(module []byte) bool {
	own, _, err := sectionsOf(module)
	return err == nil && len(own) > 0
}

// Signed is the signatures that cover a module. It holds for the bytes that it was read from. The zero Signed has none.
type Signed struct {
	sets   []set
	claims []Claim
}

// Open reads the signatures that cover a whole module. Signature data that is given replaces the module's own. An unsigned
// module has none, and signatures of other modules, and of parts of this one, are left out.
func Open(module, data []byte) (Signed, error) {
	if _, _, err := sectionsOf(module); err != nil || len(data) == 0 && !In(module) {
		return Signed{}, err
	}
	c, err := Read(module)
	if err != nil {
		return Signed{}, err
	}
	return c.Signed(data, sumOf(module))
}

// None reports whether nobody signed the module.
func (s Signed) None() bool {
	return len(s.claims) == 0 && !slices.ContainsFunc(s.sets, func(one set) bool { return len(one.signatures) > 0 })
}

// By reports whether a key signed the module, or an artifact of a registry that has it.
func (s Signed) By(key crypto.PublicKey) bool {
	return slices.ContainsFunc(s.sets, func(one set) bool { return one.signedBy(key) }) ||
		slices.ContainsFunc(s.claims, func(one Claim) bool { return one.By(key) })
}

// sectionsOf returns a module's signature data, which is nil in an unsigned one, and the sections behind it.
func sectionsOf(module []byte) (data, rest []byte, err error) {
	if len(module) < preamble || string(module[:4]) != "\x00asm" {
		return nil, nil, errors.New("it is not a WebAssembly module")
	}
	rest = module[preamble:]
	if len(rest) == 0 {
		return nil, rest, nil
	}
	name, content, behind, err := section(rest)
	if err != nil || name != sectionName {
		return nil, rest, err
	}
	if !bytes.Equal(rest[:len(rest)-len(behind)], sectionFor(content)) {
		return nil, nil, errLong
	}
	return content, behind, nil
}

// sectionFor returns the section with signature data.
func sectionFor(data []byte) []byte {
	return sizedBytes([]byte{0}, append(sizedBytes(nil, []byte(sectionName)), data...))
}

// covers reports whether the hashes are those of the whole module: its only one, or one for each part between delimiters.
// Others, which are partial signatures, would let sections be cut off or added.
func (s set) covers(whole, parts []byte) bool {
	return bytes.Equal(s.hashes, whole) || bytes.Equal(s.hashes, parts)
}

func (s set) signedBy(key crypto.PublicKey) bool {
	public, ok := key.(ed25519.PublicKey)
	m := message(s.hashes)
	return ok && slices.ContainsFunc(s.signatures, func(o one) bool { return o.algorithm == ed25519ID && verifies(public, m, o.bytes) })
}

func message(hashes []byte) []byte { return append([]byte(domain+header), hashes...) }

func hashesOf(bare []byte) (whole, parts []byte, err error) {
	if len(bare) < preamble {
		return nil, nil, errors.New("it is not a WebAssembly module")
	}
	return hashesOfSections(bare[preamble:])
}

// hashesOfSections returns the hash of all sections, and the hashes up to each delimiter and to the end.
func hashesOfSections(all []byte) (whole, parts []byte, err error) {
	h, last := sha256.New(), ""
	for rest := all; len(rest) > 0; {
		name, _, behind, err := section(rest)
		if err != nil {
			return nil, nil, err
		}
		h.Write(rest[:len(rest)-len(behind)])
		rest, last = behind, name
		if name == delimiterName {
			parts = h.Sum(parts)
		}
		if len(parts) > mostHashes*sha256.Size {
			return nil, nil, fmt.Errorf("it has more than %d sections %s", mostHashes, delimiterName)
		}
	}
	whole = h.Sum(nil)
	if last != delimiterName {
		parts = append(parts, whole...)
	}
	return whole, parts, nil
}

// section splits off a section. name and content are those of a custom one.
func section(data []byte) (name string, content, rest []byte, err error) {
	whole, rest, err := sized(data[1:])
	if err != nil || data[0] != 0 {
		return "", nil, rest, err
	}
	called, content, err := sized(whole)
	return string(called), content, rest, err
}

func decode(data []byte) ([]set, error) {
	if len(data) > DataLimit {
		return nil, errTooLong
	}
	rest, ok := bytes.CutPrefix(data, []byte(header))
	if !ok {
		return nil, errors.New("the signature is of an unknown version: sign the module with alcove family sign, or with wasmsign2 0.2.6 or later")
	}
	sets, err := list(rest, mostSets, decodeSet)
	if err == nil && !bytes.Equal(encode(sets), data) {
		err = errLong
	}
	if err != nil {
		return nil, fmt.Errorf("the signature is malformed: %w", err)
	}
	return sets, nil
}

func decodeSet(data []byte) (s set, err error) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n == 0 || n > mostHashes || int(n)*sha256.Size > len(data)-used {
		return set{}, errors.New("a set has no hashes, too many, or is cut off")
	}
	end := used + int(n)*sha256.Size
	s.hashes = data[used:end]
	s.signatures, err = list(data[end:], mostSignatures, decodeOne)
	return s, err
}

func decodeOne(data []byte) (o one, err error) {
	var rest []byte
	if o.keyID, rest, err = sized(data); err != nil {
		return one{}, err
	}
	if len(rest) == 0 {
		return one{}, errCut
	}
	o.algorithm = rest[0]
	if o.bytes, rest, err = sized(rest[1:]); err != nil {
		return one{}, err
	}
	if len(rest) > 0 {
		return one{}, errors.New("something follows a signature")
	}
	return o, nil
}

// list reads a number of elements, each with its length before it. Nothing may follow.
func list[T any](data []byte, most uint64, read func([]byte) (T, error)) ([]T, error) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > most {
		return nil, fmt.Errorf("it has more than %d elements, or is cut off", most)
	}
	var all []T
	rest := data[used:]
	for range n {
		element, behind, err := sized(rest)
		if err != nil {
			return nil, err
		}
		t, err := read(element)
		if err != nil {
			return nil, err
		}
		all, rest = append(all, t), behind
	}
	if len(rest) > 0 {
		return nil, errors.New("something follows its last element")
	}
	return all, nil
}

func encode(sets []set) []byte {
	out := binary.AppendUvarint([]byte(header), uint64(len(sets)))
	for _, s := range sets {
		content := append(binary.AppendUvarint(nil, uint64(len(s.hashes)/sha256.Size)), s.hashes...)
		content = binary.AppendUvarint(content, uint64(len(s.signatures)))
		for _, o := range s.signatures {
			content = sizedBytes(content, sizedBytes(append(sizedBytes(nil, o.keyID), o.algorithm), o.bytes))
		}
		out = sizedBytes(out, content)
	}
	return out
}

// sizedBytes appends bytes with their length before them.
func sizedBytes(to, data []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(data))), data...)
}

var errTooLong = fmt.Errorf("the signature has more than %d bytes", DataLimit)

var errCut = errors.New("it is cut off")

// errLong refuses other bytes for the same signature, which nothing signs: a module would have several digests.
var errLong = errors.New("a number of the signature section takes more bytes than it needs: sign the module again")

// sized splits off bytes with their length before them.
func sized(data []byte) (content, rest []byte, err error) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return nil, nil, errCut
	}
	return data[used : used+int(n)], data[used+int(n):], nil
}
