package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/embedders/models"
	"github.com/alcove-memory/alcove/host/search/embed"
)

// library is the models of the data directory.
func (a *app) library() (models.Library, error) {
	dir, err := a.ownDir()
	return models.Library{Dir: dir, Mirror: a.env("ALCOVE_EMBEDDER_MIRROR"), Now: time.Now}, err
}

func (a *app) embedderInstallCommand() *cobra.Command {
	var r models.Request
	var set operator.EmbedderRequest
	wait := false
	c := &cobra.Command{
		Use:   "install NAME",
		Short: "Install an embedding model and use it",
		Long: `Install an embedding model in the data directory, and embed with it from now on. The former embedder answers until all
stored texts have their new vectors. alcove embedder list shows the known models. Another one needs --from, and has its
digest remembered: files that change later are refused. Nothing is downloaded unless ALCOVE_EMBEDDER_MIRROR or --from
has an address.`,
		Example: `  ALCOVE_EMBEDDER_MIRROR=https://models.example.com alcove embedder install potion-base-8M
  alcove embedder install potion-retrieval-32M --from ~/potion-retrieval-32M.tar.gz
  alcove embedder install ours --from https://models.example.com/ours --digest 0f3c…`,
		Args: arguments(1, 1),
	}
	flags := c.Flags()
	flags.StringVar(&r.From, "from", "", "a folder, an archive (.tar, .tar.gz, .zip), or the https address of either, with model.safetensors, tokenizer.json and config.json (default: the mirror)")
	flags.StringVar(&r.Digest, "digest", "", "the SHA-256 that the files must have, as alcove embedder list shows it")
	flags.Float64Var(&set.Weight, "weight", 0, "the weight of vectors against words, up to 1; negative means 0 (default .5)")
	flags.Float64Var(&set.NearWords, "near-words", 0, "the weight of a static model's near words in lexical search, such as 0.35")
	flags.StringVar(&set.QueryPrefix, "query-prefix", "", "the prefix of questions (default: the known model's)")
	flags.StringVar(&set.DocumentPrefix, "document-prefix", "", "the prefix of stored texts (default: the known model's)")
	flags.BoolVar(&wait, "wait", false, "wait until all texts are embedded, and show progress")
	c.RunE = func(c *cobra.Command, args []string) error {
		r.Name = args[0]
		return a.installEmbedder(c.Context(), r, set, wait)
	}
	return c
}

func (a *app) installEmbedder(ctx context.Context, r models.Request, set operator.EmbedderRequest, wait bool) error {
	library, err := a.library()
	if err != nil {
		return err
	}
	bar := a.progress("installing", -1)
	library.Copied = func(n int) { bar.Add(n) }
	m, err := library.Install(ctx, r)
	bar.Close()
	if err != nil {
		return err
	}
	if m.Noted {
		if err := a.notef("the digest of %s was not known before: it is %s, and other files are refused from now on\n", m.Name, m.Digest); err != nil {
			return err
		}
	}
	set.Config.Config = embed.Config{Name: m.Name, Kind: embed.Installed, Model: m.Name, Path: m.Path, Dimensions: m.Dimensions,
		QueryPrefix: cmp.Or(set.QueryPrefix, m.QueryPrefix), DocumentPrefix: cmp.Or(set.DocumentPrefix, m.DocumentPrefix)}
	set.Standard = true
	if _, err := call(ctx, a, operator.SetEmbedder, set); err != nil {
		return fmt.Errorf("%s is installed, and not in use: %w (fix this, then install it again)", m.Name, err)
	}
	if wait {
		if err := a.awaitEmbedder(ctx, m.Name); err != nil {
			return err
		}
	}
	if a.asJSON {
		return a.printJSON(m)
	}
	return a.printf("%s is installed and embeds with %d dimensions; alcove embedder show shows the progress\n", m.Name, m.Dimensions)
}

// listedModel is a model as alcove embedder list shows it.
type listedModel struct {
	models.Model
	Digest    string `json:"digest,omitempty"` // of the installed files
	Path      string `json:"path,omitempty"`
	Source    string `json:"source,omitempty"`
	Installed bool   `json:"installed"`
}

func (a *app) embedderListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List available and installed models", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := a.listModels()
			if err != nil {
				return err
			}
			return printEach(a, list, a.printModel)
		},
	}
}

// listModels lists the installed models, then the known ones that are not.
func (a *app) listModels() (list []listedModel, err error) {
	library, err := a.library()
	if err != nil {
		return nil, err
	}
	installed, err := library.List()
	if err != nil {
		return nil, err
	}
	for _, i := range installed {
		list = append(list, listedModel{i.Model, i.Digest, i.Path, i.Source, true})
	}
	for _, m := range models.Known() {
		if !slices.ContainsFunc(installed, func(i models.Installed) bool { return i.Name == m.Name }) {
			list = append(list, listedModel{Model: m})
		}
	}
	return list, nil
}

func (a *app) printModel(m listedModel) error {
	line := fmt.Sprintf("%-26s %4d dimensions  %4d MB", m.Name, m.Dimensions, (m.Bytes+999_999)/1_000_000)
	if m.Licence != "" {
		line += fmt.Sprintf("  %s  %s", m.Licence, m.Languages)
	}
	if !m.Installed {
		return a.printf("  %s\n", line)
	}
	return a.printf("* %s\n  from %s, digest %s\n", line, m.Source, m.Digest)
}

// removeEmbedder removes an embedder, and the model's files if one was installed under its name.
func (a *app) removeEmbedder(ctx context.Context, name string) error {
	library, err := a.library()
	if err != nil {
		return err
	}
	err = command(ctx, a, operator.RemoveEmbedder, operator.EmbedderName{Name: name})
	if err != nil && exitCode(err) != exitCodes()["not_found"] {
		return err
	}
	removed, failed := library.Remove(name)
	if failed != nil || removed > 0 {
		return failed
	}
	return err
}
