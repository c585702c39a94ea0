package main

import (
	"bytes"
	"fmt"
	"slices"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/registry/materials"
	"github.com/alcove-memory/alcove/registry/provenance"
	"github.com/alcove-memory/alcove/registry/signature"
)

func (a *app) familySBOMCommand() *cobra.Command {
	var statement, file string
	c := &cobra.Command{
		Use: "sbom M.wasm", Short: "Print the bill of materials of a module", Args: arguments(1, 1),
		Long: `Print what a module is made of, in CycloneDX 1.6: its digest, version and requested powers, its custom sections with their digests, its
toolchain as the section producers has it, and for Go the version, the main module and all others. It is what the module says of itself: a
signature tells who says so. Equal modules have equal bills: there is no time and no serial number.

--provenance adds the source files and tools of signed provenance of the module; alcove family provenance verify says who signed it.`,
		Example: "  alcove family sbom notes.wasm -o notes.cdx.json\n  alcove family sbom notes.wasm --provenance notes.wasm.provenance.json",
		RunE: func(_ *cobra.Command, args []string) error {
			module, err := readModule(args[0])
			if err != nil {
				return err
			}
			bom, err := a.bomOf(args[0], module)
			if err != nil {
				return err
			}
			if err := addProvenance(bom, statement); err != nil {
				return err
			}
			var out bytes.Buffer
			if err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).EncodeVersion(bom, cdx.SpecVersion1_6); err != nil {
				return err
			}
			return a.printedOr(file, terminal.IndentedJSON(out.Bytes()))
		},
	}
	c.Flags().StringVarP(&file, "out", "o", "", "output file (default: standard output)")
	c.Flags().StringVar(&statement, "provenance", "", "file of signed provenance of the module")
	return c
}

// addProvenance adds the source files and tools of provenance to a bill.
func addProvenance(bom *cdx.BOM, path string) error {
	if path == "" {
		return nil
	}
	data, err := readFile(path, signature.EnvelopeLimit+1)
	if err != nil {
		return err
	}
	b, _, err := provenance.Of(data, (*bom.Metadata.Component.Hashes)[0].Value)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	list := *bom.Components
	for i, m := range slices.Concat(b.Sources, b.Tools) {
		c := cdx.Component{BOMRef: fmt.Sprintf("source-%d", i), Type: cdx.ComponentTypeFile, Name: m.Name, Version: m.Version}
		if m.Version != "" {
			c.Type = cdx.ComponentTypeApplication
		}
		if m.SHA256 != "" {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: m.SHA256}}
		}
		list = append(list, c)
	}
	bom.Components = &list
	return nil
}

// bomOf is the bill of materials of a module.
func (a *app) bomOf(path string, module []byte) (*cdx.BOM, error) {
	report, err := checkModule(path, module)
	if err != nil {
		return nil, err
	}
	made, err := materials.Of(module)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := report.Manifest
	properties := []cdx.Property{{Name: "alcove:abi", Value: fmt.Sprint(m.ABI)}, {Name: "alcove:signed", Value: fmt.Sprint(signature.In(module))}}
	for _, c := range m.Capabilities {
		properties = append(properties, cdx.Property{Name: "alcove:capability", Value: string(c.Name)})
	}
	for _, p := range made.Producers {
		properties = append(properties, cdx.Property{Name: "wasm:" + p.Field, Value: p.Name + " " + p.Version})
	}
	main := cdx.Component{BOMRef: "family", Type: cdx.ComponentTypeApplication, Name: m.Name, Version: m.Version, Description: m.Description,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: report.Digest}}, Properties: &properties}
	bom := cdx.NewBOM()
	bom.SerialNumber = ""
	bom.Metadata = &cdx.Metadata{Component: &main}
	list := append(sectionsOf(made), goModules(made)...)
	bom.Components = &list
	return bom, nil
}

func sectionsOf(m materials.Materials) (list []cdx.Component) {
	for i, s := range m.Sections {
		list = append(list, cdx.Component{BOMRef: fmt.Sprintf("section-%d", i), Type: cdx.ComponentTypeData, Name: s.Name,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: s.SHA256}}, Properties: &[]cdx.Property{{Name: "wasm:bytes", Value: fmt.Sprint(s.Bytes)}}})
	}
	return list
}

// goModules are the standard library and the modules that Go linked.
func goModules(m materials.Materials) (list []cdx.Component) {
	if m.Go == nil {
		return nil
	}
	list = append(list, cdx.Component{BOMRef: "go", Type: cdx.ComponentTypeFramework, Name: "go", Version: m.Go.GoVersion, PackageURL: "pkg:golang/std@" + m.Go.GoVersion})
	for _, d := range slices.Concat([]*moduleOfGo{{m.Go.Main.Path, m.Go.Main.Version, m.Go.Main.Sum}}, depsOf(m)) {
		if d.path == "" {
			continue
		}
		c := cdx.Component{BOMRef: d.path + "@" + d.version, Type: cdx.ComponentTypeLibrary, Name: d.path, Version: d.version, PackageURL: "pkg:golang/" + d.path + "@" + d.version}
		if d.sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: d.sum}}
		}
		list = append(list, c)
	}
	return list
}

type moduleOfGo struct{ path, version, sum string }

func depsOf(m materials.Materials) (list []*moduleOfGo) {
	for _, d := range m.Go.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		list = append(list, &moduleOfGo{d.Path, d.Version, d.Sum})
	}
	return list
}
