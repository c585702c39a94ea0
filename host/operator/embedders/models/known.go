package models

import "slices"

// Names of a model's files, as its repository has them.
const (
	weightsFile   = "model.safetensors"
	tokenizerFile = "tokenizer.json"
	configFile    = "config.json"
)

// Model is a model with open weights.
type Model struct {
	Name       string `json:"name"`
	Repository string `json:"repository,omitempty"` // of the mirror; empty: the model is not one of the known
	Revision   string `json:"revision,omitempty"`
	Licence    string `json:"licence,omitempty"`
	Languages  string `json:"languages,omitempty"`
	Dimensions int    `json:"dimensions"`
	Bytes      int64  `json:"bytes"` // of its weights
	// Files has the SHA-256 of each file.
	Files map[string]string `json:"files"`
}

func files(config, tokenizer, weights string) map[string]string {
	return map[string]string{configFile: config, tokenizerFile: tokenizer, weightsFile: weights}
}

// Known returns the models whose files are known by digest, in the order of their names. The digests are those that several
// independent programs record for the same revision.
func Known() []Model {
	return []Model{
		{
			Name: "potion-base-8M", Repository: "minishlab/potion-base-8M", Revision: "bf8b056651a2c21b8d2565580b8569da283cab23",
			Licence: "MIT", Languages: "English", Dimensions: 256, Bytes: 30_236_760,
			Files: files("2a6ac0e9aaa356a68a5688070db78fc3a464fefe85d2f06a1905ce3718687553",
				"e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
				"f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"),
		},
		{
			Name: "potion-multilingual-128M", Repository: "minishlab/potion-multilingual-128M", Revision: "73908c3438cf03b6a01bcb9611d62b23d0726f08",
			Licence: "MIT", Languages: "101 languages", Dimensions: 256, Bytes: 512_361_560,
			Files: files("595e4cab2093732efd5dbe084fd5c1826b5eea693b73b4c1fd971672867d2e54",
				"19f1909063da3cfe3bd83a782381f040dccea475f4816de11116444a73e1b6a1",
				"14b5eb39cb4ce5666da8ad1f3dc6be4346e9b2d601c073302fa0a31bf7943397"),
		},
		{
			Name: "potion-retrieval-32M", Repository: "minishlab/potion-retrieval-32M", Revision: "6fc8051fab2a1e0ee76689cf08c853792ac285e7",
			Licence: "MIT", Languages: "English", Dimensions: 512, Bytes: 129_210_456,
			Files: files("63c00d90824c832c04ec1d02b6a983fb90489bf049f29fbff15ba481b8a432ee",
				"7d75cbc54318138807c401b0f0c9721117c628b39de8e8e0edb6cb17e0ee7d18",
				"07609e5bd33aad37900b3fd62f4ec96f6daec88ca4d46b9d8b928bfababf6ea0"),
		},
	}
}

// known finds a model by its name.
func known(name string) (Model, bool) {
	list := Known()
	i := slices.IndexFunc(list, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{Name: name}, false
	}
	return list[i], true
}
