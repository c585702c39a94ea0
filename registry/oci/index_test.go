package oci

import (
	"net/http"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
)

func TestAnIndexThatIsNoneOrTooLargeIsRefused(t *testing.T) {
	layer := spec.Descriptor{MediaType: IndexType, Digest: digest.FromString("x"), Size: 1}
	large, other, hashed := layer, layer, layer
	large.Size, other.MediaType, hashed.Digest = IndexLimit+1, "text/plain", "md5:00"
	for name, c := range map[string]struct {
		layers []spec.Descriptor
		want   string
	}{
		"bytes":           {[]spec.Descriptor{large}, "the limit is 16777216"},
		"another type":    {[]spec.Descriptor{other}, "not an index of families"},
		"two layers":      {[]spec.Descriptor{layer, layer}, "not an index of families"},
		"another hash":    {[]spec.Descriptor{hashed}, "only sha256"},
		"nothing":         {nil, "not an index of families"},
		"a missing layer": {[]spec.Descriptor{layer}, "not found"},
	} {
		r, handler := registryOf(t, nil, map[string]http.HandlerFunc{"manifests/": answered(t, spec.MediaTypeImageManifest, spec.Manifest{Layers: c.layers})})
		r.Registry, r.Digest = at(t, handler), ""
		if data, err := (Client{PlainHTTP: true}).PullIndex(t.Context(), r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d bytes, %v, want an error with %q", name, len(data), err, c.want)
		}
	}
	if _, err := (Client{}).PushIndex(t.Context(), Reference{Registry: "r.example.org", Repository: "families", Tag: "1"}, make([]byte, IndexLimit+1)); err == nil {
		t.Error("a large index is pushed, want an error")
	}
}
