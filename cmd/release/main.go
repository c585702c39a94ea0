// Command release makes what is published beside the program: the signatures of its catalogue of families, a bill of materials, and what
// each way to install takes.
//
//	release sign -image guests/dist/families.image -keys "old.key new.key"
//	release sbom -image guests/dist/families.image -version v1.0.0 -program alcove-linux-amd64
//	release npm -version v1.0.0 -dir bin/release
//	release image -version v1.0.0
//	release push-image -version v1.0.0
//	release extensions -version v1.0.0
//	release listing -version v1.0.0
//	release deploy -version v1.0.0
//	release sums -dir bin/release -keys "old.key new.key"
//	release pack -dir bin/release -version v1.0.0 -time 1700000000 -manual bin/manual
package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/cmd/release/deploy"
	"github.com/alcove-memory/alcove/cmd/release/extension"
	"github.com/alcove-memory/alcove/cmd/release/listing"
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

// command makes or publishes one thing of a release.
type command func(ctx context.Context, args []string, out io.Writer) error

func commands() map[string]command {
	return map[string]command{"sign": runSign, "sbom": runSBOM, "pack": runPack, "npm": runNPM, "image": makeImage, "push-image": pushImage, "sums": runSums,
		"extensions": made("extensions", extension.Write), "listing": made("listing", listing.Write), "deploy": made("deploy", deploy.Write)}
}

func run(args []string, out io.Writer) error {
	all := slices.Sorted(maps.Keys(commands()))
	give := "give " + strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
	if len(args) == 0 {
		return errors.New(give)
	}
	c, ok := commands()[args[0]]
	if !ok {
		return fmt.Errorf("there is no command %q: %s", args[0], give)
	}
	return c(context.Background(), args[1:], out)
}

func runSign(_ context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sign", flag.ContinueOnError)
	path := flags.String("image", "", "the image of families that the program carries")
	keys := flags.String("keys", "", "the files of secret keys to sign with, with spaces between them")
	signatures := flags.String("signatures", "", "those to verify, instead of keys to sign with")
	if err := flags.Parse(args); err != nil {
		return err
	}
	i, err := openImage(*path)
	if err != nil {
		return err
	}
	return sign(out, i, strings.Fields(*keys), *signatures)
}

func runSBOM(_ context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	path := flags.String("image", "", "the image of families that the program carries")
	signatures := flags.String("signatures", "", "those of the catalogue that the program carries")
	program := flags.String("program", "", "the program to describe")
	version := flags.String("version", "", "its version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	i, err := openImage(*path)
	if err != nil {
		return err
	}
	return writeSBOM(out, releasedProgram{program: *program, version: *version, image: *path, signatures: *signatures, families: i.Families()})
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
