package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/registry/catalogue"
)

// releasedProgram is a program of a release.
type releasedProgram struct {
	program, image string // files
	version        string
	signatures     string // of the catalogue; empty: none
	families       []image.Family
}

// writeSBOM writes the bill of materials of a program in the form CycloneDX 1.6: the modules that were linked, as the program itself
// tells, the standard library, and the families with their digests. It has no time and no serial number: equal programs have equal ones.
func writeSBOM(out io.Writer, r releasedProgram) error {
	program, err := os.ReadFile(r.program)
	if err != nil {
		return fmt.Errorf("read the program: %w", err)
	}
	carried, err := os.ReadFile(r.image)
	if err != nil {
		return fmt.Errorf("read the image of families: %w", err)
	}
	if !bytes.Contains(program, carried) {
		return fmt.Errorf("%s does not carry the families of %s: build it again", r.program, r.image)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("read how %s was built: %w", r.program, err)
	}
	bom, err := r.bom(program, info)
	if err != nil {
		return err
	}
	encoder := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	return encoder.EncodeVersion(bom, cdx.SpecVersion1_6)
}

func (r releasedProgram) bom(program []byte, info *debug.BuildInfo) (*cdx.BOM, error) {
	families, err := familyComponents(r.families)
	if err != nil {
		return nil, err
	}
	parts := slices.Concat(moduleComponents(info), engineComponents(), families)
	main, err := r.component(program, info)
	if err != nil {
		return nil, err
	}
	var refs []string
	for _, c := range parts {
		refs = append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return bom, nil
}

// component describes the program itself.
func (r releasedProgram) component(program []byte, info *debug.BuildInfo) (cdx.Component, error) {
	digest := digestOf(r.families)
	properties := []cdx.Property{{Name: "alcove:catalogue", Value: digest}}
	keys, err := catalogue.Verify(r.signatures, digest)
	if err != nil {
		return cdx.Component{}, err
	}
	for _, key := range keys {
		properties = append(properties, cdx.Property{Name: "alcove:release-key", Value: key})
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "-tags":
			properties = append(properties, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
		}
	}
	return cdx.Component{
		Type: cdx.ComponentTypeApplication, BOMRef: "alcove", Name: "alcove", Version: r.version, PackageURL: purl(info.Main.Path, r.version),
		Hashes: sha256Hash(program), Properties: &properties, Description: filepath.Base(r.program),
	}, nil
}

// moduleComponents are the modules that a program was linked from, and the standard library.
func moduleComponents(info *debug.BuildInfo) []cdx.Component {
	version, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	list := []cdx.Component{{Type: cdx.ComponentTypeLibrary, BOMRef: "std", Name: "std", Version: version, PackageURL: purl("std", version)}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		url := purl(m.Path, m.Version)
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: url, Name: m.Path, Version: m.Version, PackageURL: url}
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
		}
		list = append(list, c)
	}
	return list
}

// engineComponents are what the engines of languages that are not compiled were built from.
func engineComponents() (list []cdx.Component) {
	for _, p := range engines.Parts() {
		list = append(list, cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: p.URL, Name: p.Name, Version: p.Version, PackageURL: p.URL})
	}
	return list
}

func familyComponents(families []image.Family) (list []cdx.Component, err error) {
	for _, f := range families {
		var m abi.Manifest
		if err := json.Unmarshal([]byte(f.Manifest), &m); err != nil {
			return nil, fmt.Errorf("read the manifest of family %s: %w", f.Name, err)
		}
		list = append(list, cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "family/" + f.Name, Name: f.Name, Version: m.Version, Description: m.Description, MIMEType: "application/wasm",
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: f.Digest}}})
	}
	return list, nil
}

func purl(path, version string) string {
	if version == "" {
		return "pkg:golang/" + path
	}
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

func sha256Hash(data []byte) *[]cdx.Hash {
	sum := sha256.Sum256(data)
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
}
