// Package oci pushes families to OCI registries, and pulls them.
//
// An artifact has the layout that the CNCF gives Wasm artifacts: a configuration of the type application/vnd.wasm.config.v0+json and
// a layer application/wasm. Two further layers have the family's manifest, which the module contains too, and its detached signature.
// Layers of other types are not read. Nothing of an artifact is compressed.
package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/registry/signature"
)

// Media types of an artifact and of its parts.
const (
	ArtifactType  = "application/vnd.alcove.family.v1"
	ConfigType    = "application/vnd.wasm.config.v0+json"
	ModuleType    = "application/wasm"
	ManifestType  = "application/vnd.alcove.family.manifest.v1+json"
	SignatureType = "application/vnd.alcove.family.signature.v1"
)

// Scheme is what a reference in a lock file begins with.
const Scheme = "oci://"

// Bounds of what a registry sends.
const (
	DefaultTime    = 5 * time.Minute // of a push or a pull
	answerLimit    = 64 << 10        // bytes of an artifact's own manifest, and of an error
	mostLayers     = 16
	referenceLimit = 512 // bytes
)

// Reference names an artifact: by its digest, by a tag, which a registry may move, or by both, of which the digest counts.
type Reference struct {
	Registry   string // host, and perhaps a port
	Repository string
	Tag        string
	Digest     string // sha256: and hexadecimal digits
}

var digestForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// Parse reads a reference in the form HOST/REPOSITORY:TAG@DIGEST, of which tag or digest may be left out; oci:// may precede it.
func Parse(text string) (Reference, error) {
	if len(text) > referenceLimit {
		return Reference{}, fmt.Errorf("the reference has more than %d bytes", referenceLimit)
	}
	name, sum, pinned := strings.Cut(strings.TrimPrefix(text, Scheme), "@")
	r, err := registry.ParseReference(name)
	switch {
	case err != nil:
		return Reference{}, fmt.Errorf("%s: give HOST/REPOSITORY:TAG or HOST/REPOSITORY@sha256:…: %w", text, err)
	case pinned && !digestForm().MatchString(sum):
		return Reference{}, fmt.Errorf("%s: give sha256: and 64 hexadecimal digits behind the @", text)
	}
	return Reference{Registry: r.Registry, Repository: r.Repository, Tag: r.Reference, Digest: sum}, nil
}

func (r Reference) String() string {
	text := Scheme + r.Registry + "/" + r.Repository
	if r.Tag != "" {
		text += ":" + r.Tag
	}
	if r.Digest != "" {
		text += "@" + r.Digest
	}
	return text
}

// Artifact is a family as a registry has it.
type Artifact struct {
	Name      string // of the family, for the titles of layers; Pull leaves it empty
	Module    []byte
	Manifest  []byte // as the module has it; nil: the artifact has none, as those of other programs
	Signature []byte // detached; nil: none
	Text      []byte // its own manifest, as the registry has it; Push makes it
}

// Client talks to registries. The zero Client sends no credentials, and uses TLS.
type Client struct {
	PlainHTTP   bool          // without TLS, to registries of this machine alone
	Time        time.Duration // of a push or a pull; 0: DefaultTime
	Credentials Credentials   // nil: none
}

// Pull gets an artifact, and the reference with the digest that it has. An artifact with another digest than the
// reference is refused; a tag is resolved once.
func (c Client) Pull(ctx context.Context, r Reference) (Artifact, Reference, error) {
	if r.Tag == "" && r.Digest == "" {
		return Artifact{}, r, errors.New("give a tag or a digest")
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	repository, done, err := c.open(r)
	if err != nil {
		return Artifact{}, r, err
	}
	defer done()
	data, err := fetchManifest(ctx, repository, r)
	if err != nil {
		return Artifact{}, r, err
	}
	sum := digest.FromBytes(data).String()
	if r.Digest != "" && r.Digest != sum {
		return Artifact{}, r, fmt.Errorf("the registry answered with the artifact %s: it is not the one that was reviewed", sum)
	}
	r.Digest = sum
	parts, err := partsOf(data)
	if err != nil {
		return Artifact{}, r, err
	}
	a := Artifact{Text: data}
	for kind, into := range map[string]*[]byte{ModuleType: &a.Module, ManifestType: &a.Manifest, SignatureType: &a.Signature} {
		part, found := parts[kind]
		if !found {
			continue
		}
		if *into, err = fetchBlob(ctx, repository, part); err != nil {
			return Artifact{}, r, fmt.Errorf("get the layer %s: %w", kind, err)
		}
	}
	return a, r, nil
}

func fetchManifest(ctx context.Context, from *remote.Repository, r Reference) ([]byte, error) {
	described, body, err := from.Manifests().FetchReference(ctx, cmp.Or(r.Digest, r.Tag))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := readAll(body, answerLimit)
	if err != nil {
		return nil, fmt.Errorf("get the artifact's manifest: %w", err)
	}
	if sum := digest.FromBytes(data); described.Digest != sum {
		return nil, fmt.Errorf("the registry says that the artifact is %s, and sends %s", described.Digest, sum)
	}
	return data, nil
}

// partsOf reads an artifact's manifest, and returns its layers by their types.
func partsOf(data []byte) (map[string]spec.Descriptor, error) {
	var m spec.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read the artifact's manifest: %w", err)
	}
	if m.MediaType != "" && m.MediaType != spec.MediaTypeImageManifest {
		return nil, fmt.Errorf("it is of the type %.100s: give the digest of one artifact of the type %s", m.MediaType, spec.MediaTypeImageManifest)
	}
	if len(m.Layers) > mostLayers {
		return nil, fmt.Errorf("it has %d layers: the limit is %d", len(m.Layers), mostLayers)
	}
	limits, parts := limitsOf(), map[string]spec.Descriptor{}
	for _, l := range m.Layers {
		most, ours := limits[l.MediaType]
		if !ours {
			continue
		}
		if _, twice := parts[l.MediaType]; twice {
			return nil, fmt.Errorf("it has more than one layer of the type %s", l.MediaType)
		}
		if !digestForm().MatchString(string(l.Digest)) {
			return nil, fmt.Errorf("the layer %s has the digest %.100q: only sha256 is read", l.MediaType, l.Digest)
		}
		if l.Size <= 0 || l.Size > most {
			return nil, fmt.Errorf("the layer %s has %d bytes: the limit is %d", l.MediaType, l.Size, most)
		}
		parts[l.MediaType] = spec.Descriptor{MediaType: l.MediaType, Digest: l.Digest, Size: l.Size}
	}
	if _, found := parts[ModuleType]; !found {
		return nil, fmt.Errorf("it has no layer of the type %s: it is not an artifact of a module", ModuleType)
	}
	return parts, nil
}

// limitsOf returns how many bytes each part of an artifact may have.
func limitsOf() map[string]int64 {
	l := abi.DefaultModuleLimits()
	return map[string]int64{ModuleType: l.ModuleBytes, ManifestType: l.ManifestBytes, SignatureType: signature.DataLimit}
}

func fetchBlob(ctx context.Context, from *remote.Repository, d spec.Descriptor) ([]byte, error) {
	body, err := from.Blobs().Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := readAll(body, d.Size)
	if err != nil {
		return nil, err
	}
	if sum := digest.FromBytes(data); sum != d.Digest {
		return nil, fmt.Errorf("its digest is %s, not %s", sum, d.Digest)
	}
	return data, nil
}

func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("more than %d bytes came", most)
	}
	return data, err
}

// Push puts an artifact into a registry, with the tag of the reference, if it has one. It returns the reference with the artifact's
// digest; the same artifact has the same digest everywhere.
func (c Client) Push(ctx context.Context, r Reference, a Artifact) (Reference, error) {
	if r.Digest != "" {
		return r, errors.New("give a tag, or none: the push determines the digest")
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	repository, done, err := c.open(r)
	if err != nil {
		return r, err
	}
	defer done()
	manifest, blobs, err := encode(a)
	if err != nil {
		return r, err
	}
	for _, b := range blobs {
		if there, err := repository.Blobs().Exists(ctx, b.Descriptor); err != nil {
			return r, err
		} else if there {
			continue
		}
		if err := repository.Blobs().Push(ctx, b.Descriptor, bytes.NewReader(b.data)); err != nil {
			return r, fmt.Errorf("push the part %s: %w", b.MediaType, err)
		}
	}
	r.Digest = string(manifest.Digest)
	if err := repository.Manifests().PushReference(ctx, manifest.Descriptor, bytes.NewReader(manifest.data), cmp.Or(r.Tag, r.Digest)); err != nil {
		return r, fmt.Errorf("push the artifact's manifest: %w", err)
	}
	return r, nil
}

// blob is bytes with their description.
type blob struct {
	spec.Descriptor
	data []byte
}

func blobOf(kind, title string, data []byte) blob {
	b := blob{spec.Descriptor{MediaType: kind, Digest: digest.FromBytes(data), Size: int64(len(data))}, data}
	if title != "" {
		b.Annotations = map[string]string{spec.AnnotationTitle: title}
	}
	return b
}

// config is the configuration of a Wasm artifact. All of it but the module's digest is constant: pushing again changes nothing.
type config struct {
	Created      string   `json:"created"`
	Architecture string   `json:"architecture"`
	OS           string   `json:"os"`
	LayerDigests []string `json:"layerDigests"`
}

// encode returns an artifact's manifest and the blobs that it names.
func encode(a Artifact) (manifest blob, blobs []blob, err error) {
	module := blobOf(ModuleType, a.Name+".wasm", a.Module)
	layers := []blob{module, blobOf(ManifestType, a.Name+".json", a.Manifest)}
	if len(a.Signature) > 0 {
		layers = append(layers, blobOf(SignatureType, a.Name+".wasm.sig", a.Signature))
	}
	limits := limitsOf()
	m := spec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: spec.MediaTypeImageManifest, ArtifactType: ArtifactType}
	for _, l := range layers {
		if most := limits[l.MediaType]; l.Size > most {
			return manifest, nil, fmt.Errorf("the part %s has %d bytes: the limit is %d", l.MediaType, l.Size, most)
		}
		m.Layers = append(m.Layers, l.Descriptor)
	}
	data, err := json.Marshal(config{Created: "1970-01-01T00:00:00Z", Architecture: "wasm", OS: "wasip1", LayerDigests: []string{string(module.Digest)}})
	if err != nil {
		return manifest, nil, err
	}
	described := blobOf(ConfigType, "", data)
	m.Config = described.Descriptor
	if data, err = json.Marshal(m); err != nil {
		return manifest, nil, err
	}
	return blobOf(spec.MediaTypeImageManifest, "", data), append(layers, described), nil
}
