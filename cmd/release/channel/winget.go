package channel

import (
	"context"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/alcove-memory/alcove/cmd/release/product"
)

// The package's identifier, and the version of winget's schemas.
const (
	wingetID     = "AlcoveMemory.Alcove"
	wingetSchema = "1.9.0"
)

// winget describes the archives of Windows as the three manifests of a version, which belong into a source of winget.
func winget(_ context.Context, m *Material) error {
	var installers []map[string]any
	for _, cpu := range []struct{ goarch, name string }{{"amd64", "x64"}, {"arm64", "arm64"}} {
		p := product.Platform{OS: "windows", Arch: cpu.goarch}
		if !m.has(p) {
			continue
		}
		sum, err := m.digest(archiveOf(p))
		if err != nil {
			return err
		}
		installers = append(installers, map[string]any{
			"Architecture": cpu.name, "InstallerUrl": m.URL(archiveOf(p)), "InstallerSha256": strings.ToUpper(sum),
			"NestedInstallerFiles": []map[string]any{{"RelativeFilePath": m.folderOf(p) + `\` + p.Executable(), "PortableCommandAlias": product.Name}},
		})
	}
	if len(installers) == 0 {
		return nil
	}
	for suffix, manifest := range map[string]map[string]any{
		"": {"DefaultLocale": "en-US", "ManifestType": "version"},
		".installer": {"InstallerType": "zip", "NestedInstallerType": "portable", "Commands": []string{product.Name}, "ReleaseDate": m.Time.UTC().Format("2006-01-02"),
			"Installers": installers, "ManifestType": "installer"},
		".locale.en-US": {"PackageLocale": "en-US", "Publisher": product.Author, "PackageName": product.Title, "PackageUrl": product.Homepage, "License": product.Licence,
			"LicenseUrl": product.Homepage + "/blob/main/LICENSE", "ShortDescription": product.Summary, "Description": product.Description, "Moniker": product.Name,
			"Tags": product.Keywords(), "ReleaseNotesUrl": product.Homepage + "/releases/tag/" + m.Version, "ManifestType": "defaultLocale"},
	} {
		manifest["PackageIdentifier"], manifest["PackageVersion"], manifest["ManifestVersion"] = wingetID, m.Semantic(), wingetSchema
		data, err := yaml.Marshal(manifest)
		if err != nil {
			return fmt.Errorf("write the manifest of winget: %w", err)
		}
		if err := m.text("winget/"+wingetID+suffix+".yaml", string(data)); err != nil {
			return err
		}
	}
	return nil
}
