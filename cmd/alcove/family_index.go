package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry/index"
	"github.com/alcove-memory/alcove/registry/oci"
	"github.com/alcove-memory/alcove/registry/signature"
)

// mostFound are shown of what a search finds.
const mostFound = 50

// entryOf is what an index says of a published family.
func entryOf(module []byte, r oci.Reference) (index.Entry, error) {
	report, err := sandbox.Check(module, sandbox.Options{})
	if err != nil {
		return index.Entry{}, err
	}
	m := report.Manifest
	e := index.Entry{Name: m.Name, Version: m.Version, Description: m.Description, Keywords: m.Keywords, SHA256: report.Digest, Source: r.String()}
	for _, t := range m.Tools {
		e.Tools = append(e.Tools, index.Tool{Name: t.Name, Description: t.Description})
	}
	return e, nil
}

func (a *app) familyIndexCommand() *cobra.Command {
	var from sourceFlags
	var to string
	c := &cobra.Command{
		Use: "index DIR", Short: "Build an index of families from their entries", Args: arguments(1, 1),
		Long: `Build an index of families from their entries, which alcove family publish --entry
writes: files of DIR whose names end with ` + index.Suffix + `. The index is
` + index.File + ` in DIR, which any HTTPS server can serve; --push also puts it into an OCI
registry. An entry whose signature does not hold is an error.`,
		Example: `  alcove family index families
  alcove family index families --push registry.example.org/families:latest`,
		RunE: func(c *cobra.Command, args []string) error {
			lines, err := indexEntries(args[0])
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := index.Write(&text, lines); err != nil {
				return err
			}
			path := filepath.Join(args[0], index.File)
			if err := writeOutputFile(path, 0o644, text.Bytes()); err != nil {
				return err
			}
			pushed, err := a.pushIndex(c.Context(), to, from, text.Bytes())
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]any{"file": path, "entries": len(lines), "pushed": pushed})
			}
			a.printf("wrote %s, %s\n", path, counted(len(lines), "entry"))
			if pushed != "" {
				a.printf("pushed %s\n", pushed)
			}
			return nil
		},
	}
	from.registryFlags(c)
	c.Flags().StringVar(&to, "push", "", "reference in an OCI registry that the index is pushed to, with a tag")
	return c
}

// pushIndex puts an index into a registry, and returns its reference; none if it is not asked for.
func (a *app) pushIndex(ctx context.Context, to string, from sourceFlags, text []byte) (string, error) {
	if to == "" {
		return "", nil
	}
	r, client, err := a.inRegistry(to, from)
	if err != nil {
		return "", err
	}
	if r, err = client.PushIndex(ctx, r, text); err != nil {
		return "", fmt.Errorf("push the index: %w", oci.Advise(err))
	}
	return r.String(), nil
}

// indexEntries reads the entries of a folder.
func indexEntries(dir string) (lines [][]byte, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, notFound("there is no folder %s", dir)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), index.Suffix) {
			continue
		}
		path := filepath.Join(dir, f.Name())
		data, err := readFile(path, index.MostEntry+1)
		if err != nil {
			return nil, err
		}
		data = bytes.TrimSpace(data)
		if _, err := index.Open(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		lines = append(lines, data)
	}
	return lines, nil
}

// searching is what alcove family search is given.
type searching struct {
	sourceFlags
	indexes, keys []string
}

func (a *app) familySearchCommand() *cobra.Command {
	var s searching
	c := &cobra.Command{
		Use: "search [WORD …]", Short: "Search indexes of families", Args: arguments(0, 16),
		Long: `Search indexes of families by names, tools and descriptions. An entry must have all
words. Entries whose signatures do not hold are left out. With --key, so are those
that none of these keys signed. Nothing is installed.

ALCOVE_INDEX has the indexes that are searched without --index, separated by spaces.`,
		Example: `  alcove family search calendar --index https://families.example.org/
  alcove family search tea --index families --key author.pub
  alcove family search tea --index oci://registry.example.org/families:latest`,
	}
	s.registryFlags(c)
	c.Flags().StringArrayVar(&s.indexes, "index", nil, "address of https, or folder, with "+index.File+", or oci://HOST/REPOSITORY:TAG; repeatable")
	c.Flags().StringArrayVar(&s.keys, "key", nil, "public key of a trusted author, as file or text; repeatable")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(s.indexes) == 0 {
			s.indexes = strings.Fields(a.env("ALCOVE_INDEX"))
		}
		if len(s.indexes) == 0 {
			return &usageError{errors.New("name an index with --index, or in ALCOVE_INDEX")}
		}
		found, err := a.searched(c.Context(), s, args)
		if err != nil {
			return err
		}
		return a.printFound(found)
	}
	return c
}

// searched finds entries in all indexes.
func (a *app) searched(ctx context.Context, s searching, words []string) ([]index.Signed, error) {
	trusted, err := trustedKeys(s.keys)
	if err != nil {
		return nil, err
	}
	var all []index.Signed
	for _, from := range s.indexes {
		list, refused, err := s.readIndex(ctx, from)
		if err != nil {
			return nil, fmt.Errorf("read the index %s: %w", addressShown(from), err)
		}
		if len(refused) > 0 {
			a.notef("note: left out %s of %s: %s\n", counted(len(refused), "entry"), addressShown(from), terminal.Line(refused[0].Error()))
		}
		all = append(all, list...)
	}
	found := index.Find(all, words)
	of := slices.DeleteFunc(slices.Clone(found), func(e index.Signed) bool {
		return len(trusted) > 0 && !slices.ContainsFunc(e.Keys, func(key string) bool { return slices.Contains(trusted, key) })
	})
	if n := len(found) - len(of); n > 0 {
		a.notef("note: left out, because no key of --key signed them: %d\n", n)
	}
	return of, nil
}

// addressShown is an address without what may be secret.
func addressShown(from string) string {
	u, err := url.Parse(from)
	if err != nil || !fromElsewhere(from) {
		return from
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// trustedKeys are public keys as text.
func trustedKeys(given []string) (keys []string, err error) {
	for _, k := range given {
		public, err := publicKey(k)
		if err != nil {
			return nil, err
		}
		keys = append(keys, signature.FormatPublic(public))
	}
	return keys, nil
}

// readIndex reads an index from a registry, an address or a folder.
func (s searching) readIndex(ctx context.Context, from string) ([]index.Signed, []error, error) {
	if strings.HasPrefix(from, oci.Scheme) {
		r, err := oci.Parse(from)
		if err != nil {
			return nil, nil, &usageError{err}
		}
		client, err := s.registry()
		if err != nil {
			return nil, nil, err
		}
		data, err := client.PullIndex(ctx, r)
		if err != nil {
			return nil, nil, oci.Advise(err)
		}
		return index.Read(bytes.NewReader(data))
	}
	if fromElsewhere(from) {
		u, err := url.Parse(from)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil, nil, &usageError{errors.New("give an address of https, without a password")}
		}
		if !strings.HasSuffix(u.Path, ".jsonl") {
			u = u.JoinPath(index.File)
		}
		data, err := download(ctx, u, index.MostBytes, "indexes")
		if err != nil {
			return nil, nil, err
		}
		return index.Read(bytes.NewReader(data))
	}
	if isFolder(from) {
		from = filepath.Join(from, index.File)
	}
	data, err := readFile(from, index.MostBytes+1)
	if err != nil {
		return nil, nil, err
	}
	return index.Read(bytes.NewReader(data))
}

func (a *app) printFound(list []index.Signed) error {
	if a.asJSON {
		return a.printJSON(map[string]any{"families": list[:min(len(list), mostFound)], "found": len(list)})
	}
	for _, e := range list[:min(len(list), mostFound)] {
		a.printf("%s %s: %s\n", a.bold(e.Name), e.Version, terminal.Line(e.Description))
		var tools []string
		for _, t := range e.Tools {
			tools = append(tools, t.Name)
		}
		a.printf("  tools %s\n  signed by %s\n  alcove family install %s\n", terminal.Line(strings.Join(tools, ", ")), strings.Join(e.Keys, ", "), e.Source)
	}
	if more := len(list) - mostFound; more > 0 {
		a.printf("and %d more: give more words\n", more)
	}
	if len(list) == 0 {
		return a.printf("no family has all of these words\n")
	}
	return nil
}
