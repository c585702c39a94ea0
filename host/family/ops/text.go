package ops

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool/tokens"
)

func textAnalyze(_ *Call, _ context.Context, r abi.TextAnalyzeRequest) (abi.TextAnalyzeResponse, error) {
	out := abi.TextAnalyzeResponse{Terms: make([][]string, len(r.Texts))}
	for i, text := range r.Texts {
		if out.Terms[i] = search.Terms(text); out.Terms[i] == nil {
			out.Terms[i] = []string{}
		}
	}
	return out, nil
}

func textCount(call *Call, ctx context.Context, r abi.TextCountRequest) (out abi.TextCountResponse, err error) {
	c, namespaces, err := call.counted(r)
	if err != nil {
		return out, err
	}
	out.Documents, out.Counts, err = call.Stage.CountTerms(ctx, c, namespaces, r.Terms)
	return out, err
}

// counted returns what terms are counted in.
func (call *Call) counted(r abi.TextCountRequest) (memory.Collection, []string, error) {
	if r.Collection == "" || r.Collection == "memory" {
		namespaces, err := call.among(abi.CanMemoryRead, r.Namespaces)
		return memory.Collection{Name: "memory"}, namespaces, err
	}
	c, err := call.readable(r.Family, r.Collection)
	if err != nil {
		return c, nil, err
	}
	namespaces, err := call.recordNamespaces(r.Namespaces)
	return c, namespaces, err
}

// mostTokenized bounds the text of one text.tokens or text.detokenize, in bytes.
const mostTokenized = 1 << 20

func textTokens(call *Call, ctx context.Context, r abi.TextTokensRequest) (out abi.TextTokensResponse, err error) {
	size := 0
	for _, text := range r.Texts {
		size += len(text)
	}
	if size > mostTokenized {
		return out, invalid("the texts have %d bytes together: at most %d are allowed; count them in several requests", size, mostTokenized)
	}
	tokenizer, err := call.host.tokenizer()
	if err != nil {
		return out, err
	}
	out = abi.TextTokensResponse{Encoding: tokens.Encoding, Counts: make([]int, len(r.Texts))}
	for i, text := range r.Texts {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if r.IDs {
			out.IDs = append(out.IDs, tokenizer.IDs(text))
		}
		if !r.Tokens {
			out.Counts[i] = tokenizer.Count(text)
			continue
		}
		list := tokenizer.Split(text)
		out.Counts[i], out.Tokens = len(list), append(out.Tokens, list)
	}
	return out, nil
}

func textDetokenize(call *Call, ctx context.Context, r abi.TextDetokenizeRequest) (out abi.TextDetokenizeResponse, err error) {
	tokenizer, err := call.host.tokenizer()
	if err != nil {
		return out, err
	}
	out = abi.TextDetokenizeResponse{Encoding: tokens.Encoding, Texts: make([]string, len(r.IDs))}
	size := 0
	for i, ids := range r.IDs {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		var text strings.Builder
		for _, id := range ids {
			token, known := tokenizer.Text(id)
			if !known {
				return out, invalid("%d is not a token of %s", id, tokens.Encoding)
			}
			if size += len(token); size > mostTokenized {
				return out, invalid("the texts have more than %d bytes together: ask for them in several requests", mostTokenized)
			}
			text.WriteString(token)
		}
		out.Texts[i] = strings.ToValidUTF8(text.String(), "\uFFFD")
	}
	return out, nil
}

func noEmbedder() error {
	return &abi.Error{Code: abi.CodeUnavailable, Message: "no embedder is configured: the operator can, with alcove embedder set"}
}

func embedTexts(call *Call, ctx context.Context, r abi.EmbedTextsRequest) (out abi.EmbedTextsResponse, err error) {
	if call.host.Embedder == nil {
		return out, noEmbedder()
	}
	if out.Model, out.Vectors, err = call.host.Embedder.Embed(ctx, r.Texts, r.Purpose); err != nil {
		return out, err
	}
	for _, v := range out.Vectors {
		out.Dimensions = max(out.Dimensions, len(v))
	}
	if r.Packed {
		out.Packed, out.Vectors = packed(out.Vectors, out.Dimensions), [][]float32{}
	}
	return out, nil
}

// packed returns vectors in base64. Texts without a vector have zeros.
func packed(vectors [][]float32, dimensions int) string {
	data := make([]byte, 4*dimensions*len(vectors))
	for i, v := range vectors {
		for k, value := range v {
			binary.LittleEndian.PutUint32(data[4*(i*dimensions+k):], math.Float32bits(value))
		}
	}
	return base64.StdEncoding.EncodeToString(data)
}
