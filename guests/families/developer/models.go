package developer

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Models embeds, generates and tokenizes text, by the models that the operator configured.
//
// list and status tell of the embedders. embed takes text, embed_many texts. generate completes text by the language model that the
// operator granted; tokenize and detokenize use the vocabulary cl100k_base. Models are pulled, unloaded and configured by the operator.
//
//alcove:tool memory_models read-only open-world
//alcove:title Models
//alcove:description Models: embed, generate, tokenize text; list the configured ones.
//alcove:alias strata_models_list action=list
//alcove:alias strata_models_local action=list
//alcove:alias strata_models_pull action=pull
//alcove:alias strata_embed action=embed
//alcove:alias strata_embed_batch action=embed_many
//alcove:alias strata_embed_status action=status
//alcove:alias strata_generate action=generate
//alcove:alias strata_generate_unload action=unload
//alcove:alias strata_tokenize action=tokenize
//alcove:alias strata_detokenize action=detokenize
//alcove:alias strata_configure_model action=configure
type Models struct {
	Action      string   `alcove:"required,enum=list|embed|embed_many|generate|tokenize|detokenize|status|pull|unload|configure"`
	Model       string   `alcove:"alias=name"` // The operator's name for its endpoint.
	Text        string   `alcove:"alias=prompt"`
	Texts       []string `alcove:"many,advanced,max=256"`
	IDs         []int    `alcove:"many,advanced"`
	MaxTokens   int      `alcove:"advanced"`
	Temperature float64  `alcove:"advanced"`
}

// modelAnswer is what memory_models answers.
type modelAnswer struct {
	Models           []embedder  `json:",omitzero"`
	AutoEmbed        *bool       `json:",omitzero"` // Stored text is embedded.
	Waiting          *int        `json:",omitzero"`
	Idle             *bool       `json:",omitzero"`
	Model            string      `json:",omitzero"`
	Dimension        int         `json:",omitzero"`
	Vector           []float32   `json:",omitzero"`
	Vectors          [][]float32 `json:",omitzero"`
	Text             *string     `json:",omitzero"`
	PromptTokens     int         `json:",omitzero"`
	CompletionTokens int         `json:",omitzero"`
	IDs              []int       `json:",omitzero"`
	Count            *int        `json:",omitzero"`
}

// Call does what the action says.
func (in Models) Call(c *alcove.Call) (out modelAnswer, err error) {
	switch in.Action {
	case list, "status":
		return in.status(c)
	case "embed":
		out, err = in.embed(c, []string{in.Text})
		if err == nil {
			out.Vector, out.Vectors = out.Vectors[0], nil
		}
		return out, err
	case "embed_many":
		if err := need(in.Action, "texts", len(in.Texts) > 0); err != nil {
			return out, err
		}
		return in.embed(c, in.Texts)
	case "generate":
		return in.generate(c)
	case "tokenize":
		found, err := c.TextTokens(alcove.TextTokensRequest{Texts: []string{in.Text}, IDs: true})
		if err == nil {
			out.Model, out.IDs, out.Count = found.Encoding, found.IDs[0], &found.Counts[0]
		}
		return out, err
	case "detokenize":
		found, err := c.TextDetokenize(alcove.TextDetokenizeRequest{IDs: [][]int{in.IDs}})
		if err == nil {
			out.Model, out.Text = found.Encoding, &found.Texts[0]
		}
		return out, err
	case "pull":
		return out, denied("choosing models", "alcove embedder set NAME for embeddings, alcove endpoint add NAME URL for text")
	case "unload":
		return out, denied("loading models", "they run in servers of their own: alcove endpoint list")
	}
	return out, denied("configuring models", "alcove endpoint add NAME URL, then alcove family grant developer llm=NAME")
}

func (in Models) status(c *alcove.Call) (out modelAnswer, err error) {
	now, err := c.StatusGet(alcove.StatusGetRequest{})
	if err != nil {
		return out, err
	}
	out.Models = embeddersOf(&now)
	out.AutoEmbed, out.Waiting = new(len(out.Models) > 0), new(int)
	for _, e := range out.Models {
		*out.Waiting += e.Waiting
	}
	out.Idle = new(*out.Waiting == 0)
	return out, nil
}

func (in Models) embed(c *alcove.Call, texts []string) (out modelAnswer, err error) {
	made, err := c.EmbedTexts(alcove.EmbedTextsRequest{Texts: texts})
	return modelAnswer{Model: made.Model, Dimension: made.Dimensions, Vectors: made.Vectors}, err
}

func (in Models) generate(c *alcove.Call) (out modelAnswer, err error) {
	if err := need("generate", "text", in.Text != ""); err != nil {
		return out, err
	}
	r := alcove.LLMCompleteRequest{Prompt: in.Text, Endpoint: in.Model, MaxTokens: in.MaxTokens, Temperature: in.Temperature}
	made, err := c.LLMComplete(r)
	if err != nil {
		return out, err
	}
	out.Text, out.Model, out.PromptTokens, out.CompletionTokens = &made.Text, made.Model, made.TokensIn, made.TokensOut
	return out, nil
}
