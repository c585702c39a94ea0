package channel

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// scoop describes the archives of Windows as a manifest, which belongs into a bucket.
func scoop(_ context.Context, m *Material) error {
	type download struct {
		URL        string `json:"url"`
		Hash       string `json:"hash,omitempty"`
		ExtractDir string `json:"extract_dir"`
	}
	here, later := map[string]download{}, map[string]download{}
	for goarch, name := range map[string]string{"amd64": "64bit", "arm64": "arm64"} {
		p := product.Platform{OS: "windows", Arch: goarch}
		if !m.has(p) {
			continue
		}
		sum, err := m.digest(archiveOf(p))
		if err != nil {
			return err
		}
		here[name] = download{m.URL(archiveOf(p)), sum, m.folderOf(p)}
		later[name] = download{product.Homepage + "/releases/download/v$version/" + archiveOf(p), "", product.Name + "-$version-" + p.String()}
	}
	if len(here) == 0 {
		return nil
	}
	data, err := json.MarshalIndent(map[string]any{
		"version": m.Semantic(), "description": product.Summary, "homepage": product.Homepage, "license": product.Licence, "architecture": here,
		"bin": product.Name + ".exe", "checkver": "github",
		"autoupdate": map[string]any{"architecture": later, "hash": map[string]string{"url": "$baseurl/SHA256SUMS"}},
		"notes":      "The data stay in %LOCALAPPDATA%\\alcove when alcove is uninstalled.",
	}, "", "    ")
	if err != nil {
		return err
	}
	return m.text("alcove.json", string(data)+"\n")
}
