package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
)

// AttachmentLimit bounds what is attached to an artifact, in bytes.
const AttachmentLimit = 4 << 20

const mostAttachments = 100

// Attachment is what somebody attached to an artifact, such as its provenance or its bill of materials: an artifact that refers to it.
type Attachment struct {
	Type   string `json:"type"`   // media type
	Digest string `json:"digest"` // of the artifact that refers
	Bytes  int64  `json:"bytes"`  // of its manifest
}

// Attach pushes data of a media type as an artifact that refers to another. It returns the digest of the new one.
func (c Client) Attach(ctx context.Context, r Reference, kind, title string, data []byte) (string, error) {
	if _, _, err := mime.ParseMediaType(kind); err != nil || len(data) == 0 || len(data) > AttachmentLimit {
		return "", fmt.Errorf("the attachment has the type %.100q and %d bytes: give a media type, and at most %d bytes", kind, len(data), AttachmentLimit)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	repository, done, err := c.open(r)
	if err != nil {
		return "", err
	}
	defer done()
	subject, err := described(ctx, repository, r)
	if err != nil {
		return "", err
	}
	layer, empty := blobOf(kind, title, data), blob{spec.DescriptorEmptyJSON, spec.DescriptorEmptyJSON.Data}
	m := spec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: spec.MediaTypeImageManifest, ArtifactType: kind, Config: empty.Descriptor,
		Layers: []spec.Descriptor{layer.Descriptor}, Subject: &subject}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	for _, b := range []blob{layer, empty} {
		if err := repository.Blobs().Push(ctx, b.Descriptor, bytes.NewReader(b.data)); err != nil {
			return "", fmt.Errorf("push the attachment: %w", err)
		}
	}
	manifest := blobOf(spec.MediaTypeImageManifest, "", text)
	manifest.ArtifactType = kind
	if err := repository.Manifests().Push(ctx, manifest.Descriptor, bytes.NewReader(text)); err != nil {
		return "", fmt.Errorf("push the manifest of the attachment: %w", err)
	}
	return string(manifest.Digest), nil
}

// described is the artifact that a reference names.
func described(ctx context.Context, from *remote.Repository, r Reference) (spec.Descriptor, error) {
	data, err := fetchManifest(ctx, from, r)
	if err != nil {
		return spec.Descriptor{}, err
	}
	sum := digest.FromBytes(data)
	if r.Digest != "" && r.Digest != string(sum) {
		return spec.Descriptor{}, fmt.Errorf("the registry answered with the artifact %s, not %s", sum, r.Digest)
	}
	return spec.Descriptor{MediaType: spec.MediaTypeImageManifest, Digest: sum, Size: int64(len(data))}, nil
}

// Attachments lists what is attached to an artifact.
func (c Client) Attachments(ctx context.Context, r Reference) (list []Attachment, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	repository, done, err := c.open(r)
	if err != nil {
		return nil, err
	}
	defer done()
	subject, err := described(ctx, repository, r)
	if err != nil {
		return nil, err
	}
	err = repository.Referrers(ctx, subject, "", func(page []spec.Descriptor) error {
		for _, d := range page {
			if len(list) == mostAttachments {
				return fmt.Errorf("it has more than %d attachments", mostAttachments)
			}
			list = append(list, Attachment{d.ArtifactType, string(d.Digest), d.Size})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list what is attached: %w", err)
	}
	return list, nil
}

// Attached gets what an attachment of an artifact has, by its digest.
func (c Client) Attached(ctx context.Context, r Reference, sum string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	r.Tag, r.Digest = "", sum
	repository, done, err := c.open(r)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := fetchManifest(ctx, repository, r)
	if err != nil {
		return nil, err
	}
	var m spec.Manifest
	if got := digest.FromBytes(text); string(got) != sum {
		return nil, fmt.Errorf("the registry answered with %s, not %s", got, sum)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read the manifest of the attachment: %w", err)
	}
	if m.Subject == nil || len(m.Layers) != 1 || m.Layers[0].Size <= 0 || m.Layers[0].Size > AttachmentLimit || !digestForm().MatchString(string(m.Layers[0].Digest)) {
		return nil, errors.New("it is not an attachment of one layer, or too large")
	}
	return fetchBlob(ctx, repository, spec.Descriptor{MediaType: m.Layers[0].MediaType, Digest: m.Layers[0].Digest, Size: m.Layers[0].Size})
}
