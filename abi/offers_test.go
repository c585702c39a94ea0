package abi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

func TestAURIFitsATemplate(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          map[string]string // nil: it does not fit
	}{
		{"a://b", "a://b", map[string]string{}},
		{"a://b", "a://bc", nil},
		{"a://{x}", "a://1", map[string]string{"x": "1"}},
		{"a://{x}", "a://1/2", nil},
		{"a://{x}", "a://", nil},
		{"a://{x}/data", "a://1%2F2/data", map[string]string{"x": "1/2"}},
		{"a://{x}-{y}/z", "a://1-2/z", map[string]string{"x": "1", "y": "2"}},
		{"a://{x}.txt", "a://n.txt", map[string]string{"x": "n"}},
		{"a://{x}/{y}", "a://1/%zz", nil},
		{"a://{x}?q={y}", "a://1?q=2", map[string]string{"x": "1", "y": "2"}},
	} {
		got, ok := abi.Resource{URI: c.template}.Match(c.uri)
		if ok != (c.want != nil) || ok && fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s fits %s: %v, %v, want %v", c.uri, c.template, got, ok, c.want)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a://{x}/{y}", "a://1/2")
	f.Add("a://{x}-{y}", "a://--")
	f.Fuzz(func(t *testing.T, template, uri string) {
		r := abi.Resource{URI: template}
		values, ok := r.Match(uri)
		if ok && len(values) > len(r.Variables()) {
			t.Errorf("%q fits %q with %v, which has other variables", uri, template, values)
		}
	})
}

func TestOffersThatNoToolAnswersForAreRefused(t *testing.T) {
	for _, c := range []struct{ offers, says string }{
		{`"resources":[{"uri":"x://a","name":"a","tool":"gone"}]`, "no tool \"gone\""},
		{`"resources":[{"uri":"x://a","name":"a","tool":"write"}]`, "does not declare readOnlyHint"},
		{`"resources":[{"uri":"alcove://memory/a/b","name":"a","tool":"read"}]`, "are the host's"},
		{`"resources":[{"uri":"x://a/{Id}","name":"a","tool":"read"}]`, "a variable is a name in braces"},
		{`"resources":[{"uri":"x://{a}{b}","name":"a","tool":"read"}]`, "something is between two variables"},
		{`"resources":[{"uri":"x://{a}/{a}","name":"a","tool":"read"}]`, "it appears twice"},
		{`"resources":[{"uri":"x://a","name":"a","tool":"read"},{"uri":"x://a","name":"b","tool":"read"}]`, "resource x://a: it appears twice"},
		{`"resources":[{"uri":"x://{a}","name":"a","tool":"read","list":"gone"}]`, "list of resource"},
		{`"prompts":[{"name":"p","tool":"read"},{"name":"p","tool":"read"}]`, "prompt p: it appears twice"},
		{`"prompts":[{"name":"p","tool":"read","complete":"gone"}]`, "completion of prompt p"},
	} {
		manifest := `{"abi":1,"name":"offers","version":"1.0.0","description":"Offers.","tools":[
			{"name":"read","description":"Read.","input_schema":{"type":"object"},"annotations":{"readOnlyHint":true}},
			{"name":"write","description":"Write.","input_schema":{"type":"object"}}],` + c.offers + `}`
		if _, err := abi.ParseManifest([]byte(manifest)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, want %s", c.offers, err, c.says)
		}
		if err := fits(t, manifestSchema(t), manifest); err != nil && !json.Valid([]byte(manifest)) {
			t.Errorf("%s is no JSON: %v", c.offers, err)
		}
	}
}
