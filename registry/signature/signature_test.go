package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A module of a type, a custom section and code; the conventions sign everything behind the signature section.
var module = slices.Concat([]byte("\x00asm\x01\x00\x00\x00"), []byte("\x01\x04\x01\x60\x00\x00"), custom("alcove.manifest", `{"name":"notes"}`), []byte("\x03\x02\x01\x00"), []byte("\x0a\x04\x01\x02\x00\x0b"))

func custom(name, content string) []byte {
	return append([]byte{0}, sizedBytes(nil, append(sizedBytes(nil, []byte(name)), content...))...)
}

func keyOf(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func publicOf(n byte) ed25519.PublicKey { return keyOf(n).Public().(ed25519.PublicKey) }

func signed(t *testing.T, module []byte, keys ...byte) []byte {
	t.Helper()
	for _, k := range keys {
		var err error
		if module, err = Sign(module, keyOf(k)); err != nil {
			t.Fatal(err)
		}
	}
	return module
}

func by(t *testing.T, module, data []byte, key byte) bool {
	t.Helper()
	s, err := Open(module, data)
	return err == nil && s.By(publicOf(key))
}

func TestTheSectionIsAsTheConventionsSay(t *testing.T) {
	got := signed(t, module, 1)
	hash := sha256.Sum256(module[8:])
	signature := ed25519.Sign(keyOf(1), append([]byte("wasmsig\x01\x01\x01"), hash[:]...))
	want := slices.Concat(module[:8], []byte{0, 117}, []byte("\x09signature"),
		[]byte{1, 1, 1, 1}, []byte{102, 1}, hash[:], []byte{1}, []byte{67, 0, 1, 64}, signature, module[8:])
	if !bytes.Equal(got, want) {
		t.Errorf("signed\n%s, want\n%s", hex.EncodeToString(got), hex.EncodeToString(want))
	}
	data, bare, err := Split(got)
	if err != nil || !bytes.Equal(bare, module) || !by(t, module, data, 1) {
		t.Errorf("apart: %d bytes, %v", len(data), err)
	}
}

func TestAnAuthorAndAReviewerSignTheSameModule(t *testing.T) {
	both := signed(t, module, 1, 2)
	if !by(t, both, nil, 1) || !by(t, both, nil, 2) || by(t, both, nil, 3) {
		t.Error("author and reviewer signed it, and nobody else")
	}
	if again := signed(t, both, 2); !bytes.Equal(again, both) {
		t.Error("a second signature by the same key is kept")
	}
}

func TestASignatureHoldsForNothingElse(t *testing.T) {
	whole := signed(t, module, 1)
	other := slices.Clone(module)
	other[len(other)-2] = 1
	data, _, _ := Split(whole)
	copied, _ := Attach(other, data)
	delimited := slices.Concat(module, custom(delimiterName, "0123456789abcdef"))
	parts := signed(t, slices.Concat(delimited, custom("debug", "x")), 1)
	cut := parts[:len(parts)-len(custom("debug", "x"))]
	cases := map[string][]byte{
		"unsigned":              module,
		"a byte of code":        flip(whole, len(whole)-2),
		"a byte of manifest":    flip(whole, bytes.Index(whole, []byte("notes"))),
		"a section appended":    slices.Concat(whole, custom("note", "x")),
		"a section cut off":     whole[:len(whole)-6],
		"of another module":     copied,
		"in a second place":     slices.Concat(module, whole[8:len(whole)-len(module)+8]),
		"partial, and cut off":  cut,
		"partial, and appended": slices.Concat(parts, custom("more", "x")),
		"a byte of itself":      flip(whole, 100),
	}
	for name, m := range cases {
		if by(t, m, nil, 1) {
			t.Errorf("%s: it is taken as signed", name)
		}
	}
	if !by(t, parts, nil, 1) {
		t.Error("the module with a delimiter is signed as a whole")
	}
}

// A signature covers what follows its section. So that the module has no other digest with the same signature, the section has one form.
func TestNumbersOfTheSignatureSectionAreInTheirShortestForm(t *testing.T) {
	whole := signed(t, module, 1)
	long := func(at int) []byte { // the number at an index, in a byte more
		return slices.Concat(whole[:at], []byte{whole[at] | 0x80, 0}, whole[at+1:])
	}
	grown := func(m []byte, sizes ...int) []byte { // the sizes around it, each of which has become one more
		for _, at := range sizes {
			m[at]++
		}
		return m
	}
	const section, name, sets, set, hashes = 9, 10, 23, 24, 25 // indexes in the module
	for what, m := range map[string][]byte{
		"the length of the section": long(section), "the length of its name": grown(long(name), section), "the number of sets": grown(long(sets), section),
		"the length of a set": grown(long(set), section), "the number of hashes": grown(long(hashes), section, set),
	} {
		if by(t, m, nil, 1) {
			t.Errorf("%s takes a byte more than it needs: the module is taken as signed, want it refused", what)
		}
	}
	if !by(t, whole, nil, 1) {
		t.Error("the module is not signed")
	}
}

func flip(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 1
	return data
}

func TestAnEmptyHashListSignsNothing(t *testing.T) {
	// One set without hashes, signed as such: it would be good for any module.
	free := one{algorithm: ed25519ID, bytes: ed25519.Sign(keyOf(1), message(nil))}
	data := encode([]set{{signatures: []one{free}}})
	if s, err := Open(module, data); err == nil && s.By(publicOf(1)) {
		t.Error("it is taken as signed")
	}
}

func TestTooMuchSignatureDataIsRefused(t *testing.T) {
	for name, data := range map[string][]byte{
		"bytes":      make([]byte, DataLimit+1),
		"sets":       append([]byte(header), 17),
		"hashes":     append([]byte(header), 1, 1, 65),
		"signatures": slices.Concat([]byte(header), []byte{1, 34, 1}, make([]byte, 32), []byte{65}),
	} {
		if _, err := Open(module, data); err == nil {
			t.Errorf("too many %s are taken", name)
		}
	}
}

func TestKeysAreReadAsTheyWereWritten(t *testing.T) {
	pair, err := ParsePair(EncodePair(keyOf(7)))
	if err != nil || !pair.Equal(keyOf(7)) {
		t.Errorf("ParsePair: %v, want the pair that was written", err)
	}
	for _, form := range [][]byte{EncodePublic(publicOf(7)), []byte(FormatPublic(publicOf(7)) + "\n")} {
		if public, err := ParsePublic(form); err != nil || !public.Equal(publicOf(7)) {
			t.Errorf("ParsePublic(%q) = %x, %v, want %x", form, public, err, publicOf(7))
		}
	}
	torn := EncodePair(keyOf(7))
	torn[64] ^= 1
	if _, err := ParsePair(torn); err == nil {
		t.Error("halves of two keys are taken")
	}
	if _, err := ParsePair([]byte("ssh-ed25519 AAAA author@laptop")); err == nil || !strings.Contains(err.Error(), "ssh-agent:COMMENT") {
		t.Errorf("a key of SSH: got %v, want how it signs", err)
	}
	if _, err := ParsePublic(EncodePair(keyOf(7))); err == nil {
		t.Error("a secret key is taken as a public one")
	}
}

func FuzzOpen(f *testing.F) {
	whole, _ := Sign(module, keyOf(1))
	f.Add(whole, []byte(nil))
	data, _, _ := Split(whole)
	f.Add(module, data)
	f.Fuzz(func(t *testing.T, m, data []byte) {
		s, err := Open(m, data)
		if err != nil {
			return
		}
		if again := (Signed{sets: s.sets}); again.None() && s.By(publicOf(1)) {
			t.Error("a module without signatures is signed")
		}
		signed, err := Sign(m, keyOf(2))
		if err != nil {
			return // a section that is cut off
		}
		if s, err := Open(signed, nil); err != nil || !s.By(publicOf(2)) {
			t.Errorf("it was signed, and is not: %v", err)
		}
		if _, _, err := Split(signed); errors.Is(err, errCut) {
			t.Error("it was cut off by being signed")
		}
	})
}

// BenchmarkOpen is the verification of a module of 1 MiB by one key.
func BenchmarkOpen(b *testing.B) {
	big := slices.Concat(module, custom("data", string(make([]byte, 1<<20))))
	whole, _ := Sign(big, keyOf(1))
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		if s, err := Open(whole, nil); err != nil || !s.By(publicOf(1)) {
			b.Fatalf("Open: %v, want a signature by the first key", err)
		}
	}
}
