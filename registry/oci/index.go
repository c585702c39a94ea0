package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
)

// IndexType is the media type of a list of families, as an artifact and as its only layer.
const IndexType = "application/vnd.alcove.families.index.v1+jsonl"

// IndexLimit bounds a list of families, in bytes.
const IndexLimit = 16 << 20

// PushIndex puts a list of families into a registry. The same list has the same digest everywhere.
func (c Client) PushIndex(ctx context.Context, r Reference, data []byte) (Reference, error) {
	if r.Digest != "" || r.Tag == "" {
		return r, fmt.Errorf("%s: give a tag, and no digest", r)
	}
	if len(data) == 0 || len(data) > IndexLimit {
		return r, fmt.Errorf("the index has %d bytes: the limit is %d", len(data), IndexLimit)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	repository, done, err := c.open(r)
	if err != nil {
		return r, err
	}
	defer done()
	layer, empty := blobOf(IndexType, "index.jsonl", data), blob{spec.DescriptorEmptyJSON, spec.DescriptorEmptyJSON.Data}
	for _, b := range []blob{layer, empty} {
		if err := repository.Blobs().Push(ctx, b.Descriptor, bytes.NewReader(b.data)); err != nil {
			return r, fmt.Errorf("push the index: %w", err)
		}
	}
	text, err := json.Marshal(spec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: spec.MediaTypeImageManifest, ArtifactType: IndexType,
		Config: empty.Descriptor, Layers: []spec.Descriptor{layer.Descriptor}})
	if err != nil {
		return r, err
	}
	manifest := blobOf(spec.MediaTypeImageManifest, "", text)
	if err := repository.Manifests().PushReference(ctx, manifest.Descriptor, bytes.NewReader(text), r.Tag); err != nil {
		return r, fmt.Errorf("push the manifest of the index: %w", err)
	}
	r.Digest = string(manifest.Digest)
	return r, nil
}

// PullIndex gets a list of families.
func (c Client) PullIndex(ctx context.Context, r Reference) ([]byte, error) {
	if r.Tag == "" && r.Digest == "" {
		r.Tag = "latest"
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	repository, done, err := c.open(r)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := fetchManifest(ctx, repository, r)
	if err != nil {
		return nil, err
	}
	if got := digest.FromBytes(text); r.Digest != "" && string(got) != r.Digest {
		return nil, fmt.Errorf("the registry answered with %s, not %s", got, r.Digest)
	}
	var m spec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read the manifest of the index: %w", err)
	}
	if len(m.Layers) != 1 || m.Layers[0].MediaType != IndexType {
		return nil, fmt.Errorf("it is not an index of families: it has not one layer of the type %s", IndexType)
	}
	return boundedBlob(ctx, repository, m.Layers[0], IndexLimit)
}
