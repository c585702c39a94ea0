package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"weak"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// written is an image of a module with these manifests, by name.
func written(t testing.TB, module []byte, manifests map[string]string, names ...string) []byte {
	t.Helper()
	packed := map[string][]byte{}
	for name, manifest := range manifests {
		packed[name] = append(bytes.Clone(module), section(manifest)...)
	}
	var b bytes.Buffer
	must.Do(t, Write(&b, Content{Module: module, Packed: packed, Names: names}))
	return b.Bytes()
}

var someModule = append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Repeat([]byte("code"), 5000)...)

func TestAnImageGivesBackWhatWasPacked(t *testing.T) {
	manifests := map[string]string{"ann": `{"name":"ann","description":"<b> & \"é\" alcove.manifest"}`, "bob": `{}` + strings.Repeat(" ", 200)}
	data := written(t, someModule, manifests, "ann", "bob")
	if len(data) > len(someModule)/2 {
		t.Errorf("%d bytes are %d", len(someModule), len(data))
	}
	i, err := Open(data)
	must.Do(t, err)
	for n, f := range i.Families() {
		name := []string{"ann", "bob"}[n]
		want := append(bytes.Clone(someModule), section(manifests[name])...)
		sum := sha256.Sum256(want)
		got, err := f.Read()
		must.Do(t, err)
		if f.Name != name || f.Manifest != manifests[name] || f.Digest != hex.EncodeToString(sum[:]) || !bytes.Equal(got, want) {
			t.Errorf("family %d is %s with digest %s and manifest %q, want %s and what was packed", n, f.Name, f.Digest, f.Manifest, name)
		}
	}
}

// The state of the hash that is kept from the first family must not vouch for the manifest of a second one.
func TestAManifestIsComparedThoughItsModuleWasHashedBefore(t *testing.T) {
	data := written(t, someModule, map[string]string{"ann": `{"name":"ann"}`, "bob": `{"name":"bob"}`}, "ann", "bob")
	bad := bytes.Replace(data, []byte(`{"name":"bob"}`), []byte(`{"name":"eve"}`), 1)
	if bytes.Equal(bad, data) {
		t.Fatal("the manifest is not in the image as it is")
	}
	i, err := Open(bad)
	must.Do(t, err)
	for range 2 { // with the module unpacked before, and unpacked again
		must.Do(t, i.Families()[0].Check())
		if _, err := i.Families()[1].Read(); err == nil || !strings.Contains(err.Error(), "unpack family bob: its SHA-256 is") {
			t.Errorf("the changed manifest gives %v", err)
		}
		i.last = weak.Pointer[[]byte]{}
	}
}

// Read returns a copy, so that callers may change it.
func TestAPackedModuleThatIsChangedDoesNotChangeTheNext(t *testing.T) {
	i, err := Open(written(t, someModule, map[string]string{"ann": `{}`, "bob": `{ }`}, "ann", "bob"))
	must.Do(t, err)
	for range 2 {
		for _, f := range i.Families() {
			got, err := f.Read()
			must.Do(t, err)
			if digestOf(got) != f.Digest {
				t.Fatalf("%s has another digest than its index says", f.Name)
			}
			clear(got)
		}
	}
}

func TestWhatWasNotPackedFromTheModuleIsNotWritten(t *testing.T) {
	for name, packed := range map[string][]byte{
		"another module": append([]byte("\x00asm\x01\x00\x00\x00other"), section(`{}`)...), "no manifest": someModule,
		"more behind": append(append(bytes.Clone(someModule), section(`{}`)...), 1),
	} {
		var b bytes.Buffer
		if err := Write(&b, Content{Module: someModule, Packed: map[string][]byte{"f": packed}, Names: []string{"f"}}); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// A changed image either cannot be read, or gives the packed modules that its index has digests of.
func TestAChangedImageIsNoticedWhenItIsRead(t *testing.T) {
	good := written(t, someModule, map[string]string{"ann": `{"name":"ann"}`}, "ann")
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 1 << (at % 8)
		i, err := Open(bad)
		if err != nil || len(i.Families()) == 0 {
			continue
		}
		f := i.Families()[0]
		data, err := f.Read()
		if err != nil {
			continue
		}
		sum := sha256.Sum256(data)
		if f.Digest != hex.EncodeToString(sum[:]) && !strings.EqualFold(f.Digest, hex.EncodeToString(sum[:])) {
			t.Errorf("byte %d: it gives a module without its digest", at)
		}
	}
	for n := range len(good) {
		if i, err := Open(good[:n]); err == nil && len(i.Families()) > 0 {
			if _, err := i.Families()[0].Read(); err == nil {
				t.Errorf("the first %d bytes give a module", n)
			}
		}
	}
}

func TestAModuleThatClaimsToBeHugeIsNotUnpacked(t *testing.T) {
	head, err := json.Marshal(index{Bytes: 1 << 40, Families: []Family{{Name: "f"}}})
	must.Do(t, err)
	i, err := Open(append(binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(head))), head...))
	must.Do(t, err)
	if _, err := i.Families()[0].Read(); err == nil || !strings.Contains(err.Error(), "module_bytes") {
		t.Errorf("Read of a module that claims 1 TiB: %v, want an error that names module_bytes", err)
	}
}

func TestAnImageWithoutAllOfItsManifestsIsRefused(t *testing.T) {
	for name, families := range map[string][]Family{
		"cut off": {{Name: "f", Bytes: 1}}, "a negative length": {{Name: "f", Bytes: -1}}, "an overflow": {{Name: "f"}, {Name: "g", Bytes: 1<<63 - 1}},
	} {
		head, err := json.Marshal(index{Families: families})
		must.Do(t, err)
		if _, err := Open(append(binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(head))), head...)); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func FuzzImage(f *testing.F) {
	f.Add(written(f, someModule[:100], map[string]string{"ann": `{}`}, "ann"))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := Open(data)
		if err != nil {
			return
		}
		for _, x := range i.Families() {
			if got, err := x.Read(); err == nil && digestOf(got) != strings.ToLower(x.Digest) {
				t.Errorf("%s has another digest", x.Name)
			}
		}
	})
}

func TestNativeCodeThatIsNotWhatWasStoredIsNoticed(t *testing.T) {
	const engine = "e"
	code := bytes.Repeat([]byte("native code "), 1000)
	n := &Native{Code: "c", Engine: engine, Name: "n"}
	must.Do(t, n.Compress(code))
	c := Content{Module: someModule, Packed: map[string][]byte{"ann": append(bytes.Clone(someModule), section(`{}`)...)}, Names: []string{"ann"}, Body: "b", Native: n}
	var b bytes.Buffer
	must.Do(t, Write(&b, c))
	i, err := Open(b.Bytes())
	must.Do(t, err)
	got := i.Families()[0].Native()
	if i.Families()[0].Body() != "b" || got.Code != "c" || got.Engine != engine || got.Name != "n" || got.Sum != digestOf(code) {
		t.Errorf("body %q, native code %+v, want body b and code c for engine %q", i.Families()[0].Body(), got, engine)
	}
	must.Do(t, got.Check())
	_, err = i.Families()[0].Read()
	must.Do(t, err)
	for at := b.Len() - len(n.packed) + 10; at < b.Len(); at++ {
		bad := bytes.Clone(b.Bytes())
		bad[at] ^= 1
		i, err := Open(bad)
		must.Do(t, err)
		if i.Native().Check() == nil && !bytes.Equal(opened(t, i.Native()), code) {
			t.Errorf("byte %d is not noticed", at)
		}
	}
	i, err = Open(b.Bytes()[:b.Len()-20])
	must.Do(t, err)
	if i.Native().Check() == nil {
		t.Error("that it is cut off is not noticed")
	}
}

func opened(t *testing.T, n *Native) []byte {
	r, err := n.Open()
	must.Do(t, err)
	defer r.Close()
	code, err := io.ReadAll(r)
	must.Do(t, err)
	return code
}
