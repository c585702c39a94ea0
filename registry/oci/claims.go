package oci

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/alcove-memory/alcove/registry/signature"
)

// What cosign attaches to an artifact.
const (
	bundleType       = "application/vnd.dev.sigstore.bundle.v0.3+json"
	signedType       = "application/vnd.dev.cosign.artifact.sig.v1+json"
	signatureOfLayer = "dev.cosignproject.cosign/signature"
	bundleLimit      = 64 << 10 // bytes
)

// Claims gets what cosign signed about an artifact that was pulled. refused is why the rest does not hold.
func (c Client) Claims(ctx context.Context, r Reference, a Artifact) (claims signature.Claims, refused []error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Time, DefaultTime))
	defer cancel()
	repository, done, err := c.open(r)
	if err != nil {
		return claims, []error{err}
	}
	defer done()
	claims.Manifest = a.Text
	list, refused := allClaims(ctx, repository, r, int64(len(a.Text)))
	for _, one := range list {
		switch err := about(one, r); {
		case err == nil:
			claims.Claims = append(claims.Claims, one)
		case !errors.Is(err, signature.ErrStatement):
			refused = append(refused, err)
		}
	}
	return claims, refused
}

// about checks that a claim is about the artifact of a reference, in its repository.
func about(c signature.Claim, r Reference) error {
	sum, repository, err := c.About()
	if err != nil {
		return err
	}
	if sum != r.Digest {
		return fmt.Errorf("it is of the artifact %.100s, not %s", sum, r.Digest)
	}
	if want := repositoryName(r); repository != "" && repository != want && !strings.HasPrefix(repository, want+":") && !strings.HasPrefix(repository, want+"@") {
		return fmt.Errorf("it is of the repository %.200s, not %s", repository, want)
	}
	return nil
}

// repositoryName is the name of a repository as cosign writes it.
func repositoryName(r Reference) string {
	host := r.Registry
	if host == "docker.io" {
		host = "index.docker.io"
	}
	return host + "/" + r.Repository
}

// allClaims gets signatures of both forms: those with a tag made of the artifact's digest, and those that refer to it.
func allClaims(ctx context.Context, from *remote.Repository, r Reference, size int64) (list []signature.Claim, refused []error) {
	list, refused = taggedClaims(ctx, from, strings.Replace(r.Digest, ":", "-", 1)+".sig")
	subject := spec.Descriptor{MediaType: spec.MediaTypeImageManifest, Digest: digest.Digest(r.Digest), Size: size}
	referrers, err := referring(ctx, from, subject)
	if err != nil {
		refused = append(refused, fmt.Errorf("list what is attached: %w", err))
	}
	for _, d := range referrers {
		if len(list) == signature.MostClaims {
			return list, append(refused, fmt.Errorf("more than %d are not read", signature.MostClaims))
		}
		more, errs := referringClaims(ctx, from, d)
		list, refused = append(list, more...), append(refused, errs...)
	}
	return list[:min(len(list), signature.MostClaims)], refused
}

// taggedClaims reads the image of signatures with a tag, if there is one.
func taggedClaims(ctx context.Context, from *remote.Repository, tag string) ([]signature.Claim, []error) {
	data, err := fetchManifest(ctx, from, Reference{Tag: tag})
	if Missing(err) {
		return nil, nil
	}
	var m spec.Manifest
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return nil, []error{fmt.Errorf("get what has the tag %s: %w", tag, err)}
	}
	return simpleClaims(ctx, from, m)
}

// referring lists what cosign attached to an artifact.
func referring(ctx context.Context, from *remote.Repository, subject spec.Descriptor) (list []spec.Descriptor, err error) {
	seen := 0
	err = from.Referrers(ctx, subject, "", func(page []spec.Descriptor) error {
		for _, d := range page {
			if seen++; seen > mostAttachments {
				return fmt.Errorf("it has more than %d attachments", mostAttachments)
			}
			switch d.ArtifactType {
			case bundleType, signedType, spec.MediaTypeEmptyJSON, "": // in lists of registries without referrers cosign 3 writes that of the configuration
				list = append(list, d)
			}
		}
		return nil
	})
	return list, err
}

func referringClaims(ctx context.Context, from *remote.Repository, d spec.Descriptor) ([]signature.Claim, []error) {
	data, err := fetchManifest(ctx, from, Reference{Digest: string(d.Digest)})
	if err == nil && digest.FromBytes(data) != d.Digest {
		err = fmt.Errorf("the registry answered with %s, not %s", digest.FromBytes(data), d.Digest)
	}
	if err != nil {
		return nil, []error{err}
	}
	var m spec.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, []error{fmt.Errorf("read the manifest of an attachment: %w", err)}
	}
	switch cmp.Or(m.ArtifactType, m.Config.MediaType) {
	case signedType:
		return simpleClaims(ctx, from, m)
	case bundleType:
		one, err := bundledClaim(ctx, from, m)
		if err != nil {
			return nil, []error{err}
		}
		return []signature.Claim{one}, nil
	}
	return nil, nil
}

// simpleClaims reads the layers of an image of signatures: each is a payload, and an annotation has its signature.
func simpleClaims(ctx context.Context, from *remote.Repository, m spec.Manifest) (list []signature.Claim, refused []error) {
	if len(m.Layers) > mostLayers {
		return nil, []error{fmt.Errorf("they have %d layers: the limit is %d", len(m.Layers), mostLayers)}
	}
	for _, l := range m.Layers {
		if l.MediaType != signature.SimpleSigning {
			continue
		}
		one, err := simpleClaim(ctx, from, l)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		list = append(list, one)
	}
	return list, refused
}

func simpleClaim(ctx context.Context, from *remote.Repository, l spec.Descriptor) (c signature.Claim, err error) {
	made, err := base64.StdEncoding.DecodeString(l.Annotations[signatureOfLayer])
	if err != nil || len(made) == 0 {
		return c, fmt.Errorf("a layer has no signature in %s", signatureOfLayer)
	}
	payload, err := boundedBlob(ctx, from, l, signature.ClaimLimit)
	return signature.Claim{Type: l.MediaType, Payload: payload, Signature: made}, err
}

// bundledClaim reads a bundle of sigstore.
func bundledClaim(ctx context.Context, from *remote.Repository, m spec.Manifest) (c signature.Claim, err error) {
	if len(m.Layers) != 1 || m.Layers[0].MediaType != bundleType {
		return c, errors.New("the bundle has not one layer of its type")
	}
	data, err := boundedBlob(ctx, from, m.Layers[0], bundleLimit)
	if err != nil {
		return c, err
	}
	var b struct {
		Envelope json.RawMessage `json:"dsseEnvelope"`
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return c, fmt.Errorf("read the bundle: %w", err)
	}
	if b.Envelope == nil {
		return c, errors.New("the bundle has no envelope of DSSE")
	}
	e, err := signature.OpenEnvelope(b.Envelope)
	if err != nil {
		return c, err
	}
	if len(e.Signatures) != 1 {
		return c, fmt.Errorf("the envelope has %d signatures, not one", len(e.Signatures))
	}
	return signature.Claim{Type: e.PayloadType, Payload: e.Payload, Signature: e.Signatures[0].Sig}, nil
}

func boundedBlob(ctx context.Context, from *remote.Repository, d spec.Descriptor, most int64) ([]byte, error) {
	if d.Size <= 0 || d.Size > most {
		return nil, fmt.Errorf("the layer %s has %d bytes: the limit is %d", d.MediaType, d.Size, most)
	}
	if !digestForm().MatchString(string(d.Digest)) {
		return nil, fmt.Errorf("the layer %s has the digest %.100q: only sha256 is read", d.MediaType, d.Digest)
	}
	return fetchBlob(ctx, from, spec.Descriptor{MediaType: d.MediaType, Digest: d.Digest, Size: d.Size})
}
