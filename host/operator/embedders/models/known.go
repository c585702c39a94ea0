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
	Name           string `json:"name"`
	Repository     string `json:"repository,omitempty"` // of the mirror; empty: the model is not one of the known
	Revision       string `json:"revision,omitempty"`
	Licence        string `json:"licence,omitempty"`
	Languages      string `json:"languages,omitempty"`
	Dimensions     int    `json:"dimensions"`
	Bytes          int64  `json:"bytes"` // of its weights
	QueryPrefix    string `json:"query_prefix,omitempty"`
	DocumentPrefix string `json:"document_prefix,omitempty"`
	First          bool   `json:"first,omitempty"` // the vector of a text is that of its first token, not the mean of all
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
			Name: "all-MiniLM-L6-v2", Repository: "sentence-transformers/all-MiniLM-L6-v2", Revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
			Licence: "Apache-2.0", Languages: "English", Dimensions: 384, Bytes: 90_868_376,
			Files: files("953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
				"be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
				"53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
		},
		{
			Name: "bge-small-en-v1.5", Repository: "BAAI/bge-small-en-v1.5", Revision: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
			Licence: "MIT", Languages: "English", Dimensions: 384, Bytes: 133_466_304,
			QueryPrefix: "Represent this sentence for searching relevant passages: ", First: true,
			Files: files("094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
				"d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
				"3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad"),
		},
		{
			Name: "multilingual-e5-small", Repository: "intfloat/multilingual-e5-small", Revision: "614241f622f53c4eeff9890bdc4f31cfecc418b3",
			Licence: "MIT", Languages: "94 languages", Dimensions: 384, Bytes: 470_641_600, QueryPrefix: "query: ", DocumentPrefix: "passage: ",
			Files: files("69137736cab8b8903a07fe8afaafdda25aac55415a12a55d1bffa9f581abf959",
				"0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
				"1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477"),
		},
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
