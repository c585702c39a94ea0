package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) embedderCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "embedder",
		Short: "Show, set, check, install, regenerate or remove the embedders of semantic search",
		Long: `An embedder turns texts into vectors, so that questions in other words find their answers. The default is built in.
Others are an installed model, a server with the API of OpenAI or Ollama, a folder with a model2vec model,
a tool family, or vectors that clients supply. They embed in the background; searches never wait for them.
Agents cannot change embedders.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.embedderShowCommand(), a.embedderListCommand(), a.embedderInstallCommand(), a.embedderSetCommand(), a.embedderCheckCommand(), a.embedderRegenerateCommand(), a.embedderRemoveCommand(), a.embedderUseCommand(), a.embedderGateCommand())
	return c
}

func (a *app) embedderShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the embedders and their progress", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.showEmbedders(c.Context()) },
	}
}

func (a *app) showEmbedders(ctx context.Context) error {
	list, err := query(ctx, a, operator.ListEmbedders)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		return a.notef("there is no embedder: searches are by words. alcove embedder use builtin changes that\n")
	}
	for _, e := range list {
		if err := a.printEmbedder(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printEmbedder(e operator.EmbedderState) error {
	mark := " "
	if e.Standard {
		mark = "*"
	}
	what := cmp.Or(e.Model, e.Path, e.Family)
	line := fmt.Sprintf("%s %-16s %-7s %s  %d dimensions, %s, %d waiting", mark, e.Name, e.Kind, what, e.Dimensions, counted(e.Vectors, "vector"), e.Waiting)
	switch {
	case e.Until != "":
		line += fmt.Sprintf(", %d made: until they are complete, %s answers", e.Making, e.Until)
	case e.Making > 0:
		line += fmt.Sprintf(", %d new ones that will take their place", e.Making)
	}
	if e.Refused > 0 {
		line += fmt.Sprintf(", %d refused", e.Refused)
	}
	if e.Error != "" {
		return a.printf("%s\n  %s\n", line, e.Error)
	}
	return a.printf("%s\n", line)
}

// embedderFlags describe an embedder.
func embedderFlags(c *cobra.Command, r *operator.EmbedderConfig, prefix string) {
	flags := c.Flags()
	flags.StringVar((*string)(&r.Kind), prefix+"kind", string(r.Kind), "openai, ollama, static, family, given or builtin")
	flags.StringVar(&r.URL, prefix+"url", r.URL, "the server's URL, without /embeddings or /api/embed")
	flags.StringVar(&r.Model, prefix+"model", r.Model, "the server's name for the model")
	flags.StringVar(&r.Path, prefix+"path", r.Path, "the folder of a static model: model.safetensors and tokenizer.json")
	flags.StringVar(&r.KeyEnv, prefix+"key-env", r.KeyEnv, "the environment variable of the server that holds the key")
	flags.StringVar(&r.KeyFile, prefix+"key-file", r.KeyFile, "or the file that holds it")
}

// servedEmbedder is what an embedder is called that the server was started with.
const servedEmbedder = "served"

// embedderFromEnvironment describes the embedder that the environment names, for alcove serve.
func (a *app) embedderFromEnvironment() operator.EmbedderConfig {
	var c operator.EmbedderConfig
	c.Name = servedEmbedder
	for name, to := range map[string]*string{"KIND": (*string)(&c.Kind), "URL": &c.URL, "MODEL": &c.Model, "PATH": &c.Path, "KEY_FILE": &c.KeyFile} {
		*to = a.env("ALCOVE_EMBEDDER_" + name)
	}
	if a.env("ALCOVE_EMBEDDER_KEY") != "" {
		c.KeyEnv = "ALCOVE_EMBEDDER_KEY"
	}
	return c
}

// embedderToServe is the embedder to start with; nil when none is named.
func embedderToServe(c operator.EmbedderConfig) (*operator.EmbedderConfig, error) {
	if c.Kind == "" && c.URL == "" && c.Path == "" {
		return nil, nil
	}
	if c.Kind == "" && c.URL != "" {
		c.Kind = "openai"
	}
	if c.Kind == "" {
		c.Kind = "static"
	}
	if err := c.Check(); err != nil {
		return nil, &usageError{err}
	}
	return &c, nil
}

func (a *app) embedderSetCommand() *cobra.Command {
	var r operator.EmbedderRequest
	c := &cobra.Command{
		Use:   "set NAME",
		Short: "Add or change an embedder; stored texts are embedded in the background",
		Long: `Add or change an embedder. It is asked for one vector, to see that it works and how many dimensions it has,
unless --dimensions says so. When its vectors change, searches use the old ones until the new ones are complete.`,
		Example: `  alcove embedder set local --kind ollama --url http://127.0.0.1:11434 --model nomic-embed-text --query-prefix "search_query: " --document-prefix "search_document: "
  alcove embedder set cloud --kind openai --url https://api.example.com/v1 --model small --key-env EXAMPLE_KEY
  alcove embedder set words --kind static --path ~/models/potion-base-8M --weight 0.3
  alcove embedder set mine --kind given --dimensions 384`,
		Args: arguments(1, 1),
	}
	flags := c.Flags()
	embedderFlags(c, &r.Config, "")
	flags.StringVar(&r.Family, "family", "", "the tool family that embeds")
	flags.IntVar(&r.Dimensions, "dimensions", 0, "dimensions of a vector (default: the embedder's)")
	flags.StringVar(&r.Metric, "metric", "", "cosine or dot (default cosine)")
	flags.Float64Var(&r.Weight, "weight", 0, "the weight of vectors against words, up to 1; negative means 0 (default .5)")
	flags.Float64Var(&r.NearWords, "near-words", 0, "the weight of a static model's near words in lexical search, such as 0.35")
	flags.Float64Var(&r.Threshold, "threshold", 0, "the least similarity of a hit without matching words, such as a cosine of 0.3 (default: none)")
	flags.IntVar(&r.Batch, "batch", 0, "texts in one request (default 32)")
	flags.IntVar(&r.MaxChars, "max-chars", 0, "characters of a text that are embedded (default 8000)")
	flags.StringVar(&r.QueryPrefix, "query-prefix", "", "the prefix of questions")
	flags.StringVar(&r.DocumentPrefix, "document-prefix", "", "the prefix of stored texts")
	timeout := flags.Duration("timeout", 0, "for one request (default 30s)")
	flags.BoolVar(&r.Standard, "default", false, "make it the default of searches; the first embedder is")
	c.RunE = func(c *cobra.Command, args []string) error {
		r.Name, r.TimeoutMS = args[0], int(*timeout/time.Millisecond)
		path, err := presentKeyFile(r.KeyFile)
		if err != nil {
			return err
		}
		r.KeyFile = path
		set, err := call(c.Context(), a, operator.SetEmbedder, r)
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(set)
		}
		return a.printf("%s embeds with %d dimensions; alcove embedder show shows the progress\n", set.Name, set.Dimensions)
	}
	return c
}

func (a *app) embedderCheckCommand() *cobra.Command {
	var r operator.EmbedderConfig
	c := &cobra.Command{
		Use:   "check NAME",
		Short: "Test an embedder: one that is set, or with the flags of embedder set, a new one; changes nothing",
		Example: `  alcove embedder check local
  alcove embedder check local --kind ollama --url http://127.0.0.1:11434 --model nomic-embed-text`,
		Args: arguments(1, 1),
	}
	embedderFlags(c, &r, "")
	c.Flags().StringVar(&r.Family, "family", "", "the tool family that embeds")
	c.RunE = func(c *cobra.Command, args []string) error {
		r.Name = args[0]
		path, err := presentKeyFile(r.KeyFile)
		if err != nil {
			return err
		}
		r.KeyFile = path
		checked, err := call(c.Context(), a, operator.CheckEmbedder, r)
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(checked)
		}
		return a.printf("%s embeds with %d dimensions, a short text in %.0f ms\n", checked.Name, checked.Dimensions, checked.TookMS)
	}
	return c
}

func (a *app) embedderRegenerateCommand() *cobra.Command {
	wait := false
	c := &cobra.Command{
		Use: "regenerate NAME", Short: "Regenerate the vectors of an embedder; searches use the old ones until it is done", Args: arguments(1, 1),
	}
	c.Flags().BoolVar(&wait, "wait", false, "wait for the end, and show progress")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := command(c.Context(), a, operator.RegenerateEmbedder, operator.EmbedderName{Name: args[0]}); err != nil {
			return err
		}
		if !wait {
			return a.notef("%s regenerates its vectors; alcove embedder show shows the progress\n", args[0])
		}
		return a.awaitEmbedder(c.Context(), args[0])
	}
	return c
}

// awaitEmbedder waits until nothing waits for vectors of an embedder.
func (a *app) awaitEmbedder(ctx context.Context, name string) error {
	bar := a.count("embedding", -1)
	defer bar.Close()
	for {
		list, err := query(ctx, a, operator.ListEmbedders)
		if err != nil {
			return err
		}
		for _, e := range list {
			switch {
			case e.Name != name:
			case e.Waiting == 0 && e.Making == 0 && e.Until == "":
				bar.Close()
				return a.notef("%s has %s\n", name, counted(e.Vectors, "vector"))
			case e.Error != "":
				return fmt.Errorf("%s: %s (it is tried again; alcove embedder show shows the progress)", name, e.Error)
			default:
				bar.ChangeMax(e.Making + e.Waiting)
				bar.Set(e.Making)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (a *app) embedderRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove an embedder, its vectors and its installed model", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.removeEmbedder(c.Context(), args[0]) },
	}
}

func (a *app) embedderUseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "use NAME|builtin|none", Short: "Set the default embedder of searches; none: lexical search", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			name := args[0]
			if name == "none" {
				name = ""
			}
			return command(c.Context(), a, operator.ChooseEmbedder, operator.EmbedderChoice{Standard: &name})
		},
	}
}

func (a *app) embedderGateCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "gate COLLECTION WEIGHT",
		Short:   "Set the weight of vectors in a collection, from 0 (not embedded) to 1",
		Example: `  alcove embedder gate _log 1      embed the events of the log, too`,
		Args:    arguments(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			weight, err := strconv.ParseFloat(args[1], 64)
			if err != nil || !(weight >= 0 && weight <= 1) {
				return &usageError{fmt.Errorf("%q is not a number from 0 to 1", args[1])}
			}
			return command(c.Context(), a, operator.ChooseEmbedder, operator.EmbedderChoice{Collections: map[string]float64{args[0]: weight}})
		},
	}
}
