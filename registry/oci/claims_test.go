package oci

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	spec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/alcove-memory/alcove/registry/signature"
)

// answered serves a manifest under every tag or digest that begins with sha256-.
func answered(t *testing.T, kind string, manifest any) http.HandlerFunc {
	t.Helper()
	data, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Header().Set("Docker-Content-Digest", string(digest.FromBytes(data)))
		w.Write(data)
	}
}

func TestWhatIsTooMuchOfCosignIsLeftOut(t *testing.T) {
	layer := spec.Descriptor{MediaType: signature.SimpleSigning, Digest: digest.FromString("x"), Size: 1, Annotations: map[string]string{signatureOfLayer: "eA=="}}
	with := func(change func(*spec.Descriptor)) []spec.Descriptor {
		d := layer
		change(&d)
		return []spec.Descriptor{d}
	}
	image := func(layers []spec.Descriptor) http.HandlerFunc {
		return answered(t, spec.MediaTypeImageManifest, spec.Manifest{MediaType: spec.MediaTypeImageManifest, Layers: layers})
	}
	many := slices.Repeat([]spec.Descriptor{{MediaType: spec.MediaTypeImageManifest, ArtifactType: "text/plain", Digest: digest.FromString("x"), Size: 1}}, mostAttachments+1)
	bundles := slices.Repeat([]spec.Descriptor{{MediaType: spec.MediaTypeImageManifest, ArtifactType: bundleType, Digest: digest.FromString("x"), Size: 1}}, 1)
	for name, c := range map[string]struct {
		answers map[string]http.HandlerFunc
		want    string
	}{
		"layers":                      {map[string]http.HandlerFunc{"manifests/sha256-": image(slices.Repeat([]spec.Descriptor{layer}, mostLayers+1))}, "17 layers: the limit is 16"},
		"bytes of a payload":          {map[string]http.HandlerFunc{"manifests/sha256-": image(with(func(d *spec.Descriptor) { d.Size = signature.ClaimLimit + 1 }))}, "the limit is 16384"},
		"another hash":                {map[string]http.HandlerFunc{"manifests/sha256-": image(with(func(d *spec.Descriptor) { d.Digest = "md5:00" }))}, "only sha256"},
		"no signature":                {map[string]http.HandlerFunc{"manifests/sha256-": image(with(func(d *spec.Descriptor) { d.Annotations = nil }))}, "has no signature"},
		"a payload that is not there": {map[string]http.HandlerFunc{"manifests/sha256-": image([]spec.Descriptor{layer})}, "not found"},
		"attachments":                 {map[string]http.HandlerFunc{"referrers/": answered(t, spec.MediaTypeImageIndex, spec.Index{MediaType: spec.MediaTypeImageIndex, Manifests: many})}, "more than 100 attachments"},
		"a bundle that is not there":  {map[string]http.HandlerFunc{"referrers/": answered(t, spec.MediaTypeImageIndex, spec.Index{MediaType: spec.MediaTypeImageIndex, Manifests: bundles})}, "not found"},
		"a registry that fails":       {map[string]http.HandlerFunc{"manifests/sha256-": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }}, "403"},
	} {
		r, handler := registryOf(t, nil, c.answers)
		r.Registry = at(t, handler)
		a, got, err := Client{PlainHTTP: true}.Pull(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		claims, refused := Client{PlainHTTP: true}.Claims(t.Context(), got, a)
		if len(claims.Claims) != 0 || !strings.Contains(fmt.Sprint(refused), c.want) {
			t.Errorf("too many %s: %d claims, refused %v, want the reason %q", name, len(claims.Claims), refused, c.want)
		}
	}
}
