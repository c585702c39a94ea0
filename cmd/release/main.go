// Command release makes what is published beside the program: the signatures of its catalogue of families, and a bill of materials.
//
//	release sign -image guests/dist/families.image -keys "old.key new.key"
//	release sbom -image guests/dist/families.image -version v1.0.0 -program alcove-linux-amd64
//	release npm -version v1.0.0 -dir bin/release
//	release image -version v1.0.0
//	release push-image -version v1.0.0
package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/registry/catalogue"
	"github.com/alcove-memory/alcove/registry/signature"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("give sign or sbom")
	}
	if args[0] == "npm" {
		return runNPM(args[1:], out)
	}
	if c, ok := channels()[args[0]]; ok {
		return c(context.Background(), args[1:], out)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	path := flags.String("image", "", "the image of families that the program carries")
	keys := flags.String("keys", "", "the files of secret keys to sign with, with spaces between them")
	signatures := flags.String("signatures", "", "those to verify, instead of keys to sign with; or those that the program carries")
	program := flags.String("program", "", "the program to describe")
	version := flags.String("version", "", "its version")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	i, err := openImage(*path)
	if err != nil {
		return err
	}
	switch args[0] {
	case "sign":
		return sign(out, i, strings.Fields(*keys), *signatures)
	case "sbom":
		return writeSBOM(out, releasedProgram{program: *program, version: *version, image: *path, signatures: *signatures, families: i.Families()})
	}
	return fmt.Errorf("there is no command %q: give sign or sbom", args[0])
}

func openImage(path string) (*image.Image, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the image of families: %w", err)
	}
	return image.Open(data)
}

// sign writes the signatures of the catalogue by all keys; without keys the given ones, if they hold.
func sign(out io.Writer, i *image.Image, files []string, given string) error {
	digest := digestOf(i.Families())
	made := given
	if len(files) > 0 {
		keys, err := readKeys(files)
		if err != nil {
			return err
		}
		if made, err = catalogue.Sign(digest, keys...); err != nil {
			return err
		}
	}
	if _, err := catalogue.Verify(made, digest); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, made)
	return err
}

func readKeys(files []string) (keys []ed25519.PrivateKey, err error) {
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the key of the release: %w", err)
		}
		key, err := signature.ParsePair(data)
		if err != nil {
			return nil, fmt.Errorf("the key of the release %s: %w", path, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// digestOf is the digest of a catalogue, as the program computes it.
func digestOf(families []image.Family) string {
	var built []modules.Module
	for _, f := range families {
		built = append(built, modules.Module{Digest: f.Digest})
	}
	return modules.Catalogue(built)
}
