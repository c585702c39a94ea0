package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/build/project"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// stocked is a family with everything that a case asks.
const stocked = `import { fail, family, refuse, t } from "alcove";
export default family({
  name: "stock", version: "0.1.0", description: "Keeps teas",
  capabilities: [{ name: "memory.write", scope: ["*"], reason: "to keep" }, { name: "memory.read", scope: ["*"], reason: "to list" }, { name: "record", scope: ["*"], reason: "to count" }],
  collections: [{ name: "cups" }],
  config: [{ key: "greeting", default: "Hello", description: "A greeting", schema: { type: "string" } }],
  tools: { stock_keep: {
    description: "Keep a tea.", input: { name: t.string("which") }, output: { key: t.string(), greeting: t.string(), now: t.string() },
    call({ name }, c) {
      if (!name) fail("invalid_argument", "name the tea");
      const { stored } = c.memory.put({ items: [{ value: name, tags: ["tea"] }] });
      c.record.put({ collection: "cups", items: [{ key: "n", value: name }] });
      return { key: stored[0].key, greeting: c.config.greeting, now: c.context.now };
    } } },
  hooks: {
    store: { call(entries) { return entries.some(e => e.value === "coffee") ? refuse("no coffee") : entries.map(() => ({ tags: ["seen"] })); } },
    rank: { features: ["score", "age"], call(r) { return Array.from({ length: r.count }, (_, i) => 2 * (r.columns.score[i] || 0)); } },
    embed: { model: "lengths", dimensions: 2, call(texts) { return texts.map(x => [x.length, 1]); } },
  },
  jobs: { count: { description: "Counts.", call(p) { return { n: (p && p.n) + 1 }; } } },
});
`

const stockCases = `{"name":"a tool","seed":[{"key":"a","value":"one"},{"collection":"cups","key":"x","value":1},{"setting":"greeting","value":"Hi"}],"tool":"stock_keep","arguments":{"name":"Oolong"},"expect":{"answer":{"key":{"$like":"^m-"},"greeting":"Hi","now":"2026-06-01T12:00:00.000000Z"},"memories":{"$size":2},"records":{"cups":{"x":1,"n":"Oolong"}}}}

{"name":"an error","tool":"stock_keep","arguments":{"name":""},"expect":{"error":"invalid_argument"}}
{"name":"a reader","caller":{"agent":"ann","read":["default"]},"tool":"stock_keep","arguments":{"name":"x"},"expect":{"error":{"code":"denied","message":{"$is":"string"}},"memories":{}}}
{"name":"on a branch","branch":"other","tool":"stock_keep","arguments":{"name":"x"},"expect":{"memories":{"$size":1}},"then":[{"job":"count","payload":{"n":0},"expect":{"memories":{}}}]}
{"name":"later","tool":"stock_keep","arguments":{"name":"x"},"then":[{"now":"2026-06-03T00:00:00Z","tool":"stock_keep","arguments":{"name":"y"},"expect":{"answer":{"$has":{"now":"2026-06-03T00:00:00.000000Z"}},"memories":{"$each":{"$has":{"tags":["tea"]}},"$size":2}}}]}
{"name":"store","hook":"store","request":{"entries":[{"key":"a","value":"text"}]},"expect":{"answer":{"entries":[{"tags":["seen"]}]},"memories":{"a":{"value":"text","tags":["seen"]}}}}
{"name":"refusal","hook":"store","request":{"entries":[{"key":"a","value":"coffee"}]},"expect":{"error":{"$has":{"message":{"$like":"no coffee"}}},"memories":{}}}
{"name":"rank","hook":"rank","request":{"query":"tea","candidates":[{"score":0.5},{"age":1}]},"expect":{"answer":[1,0]}}
{"name":"embed","hook":"embed","request":{"texts":["tea"]},"expect":{"answer":[[{"$near":3},1]]}}
{"name":"a job","job":"count","payload":{"n":2},"expect":{"answer":{"n":3}}}
`

// stockOf is a folder with a packed family and a file of cases.
func stockOf(t *testing.T, text string) (env []string, dir string) {
	t.Helper()
	env, dir = readmeHome(t), t.TempDir()
	for name, text := range map[string]string{"family.js": stocked, "cases.jsonl": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return env, dir
}

func TestCasesAskToolsHooksAndJobsOfTheRealHost(t *testing.T) {
	t.Parallel()
	env, dir := stockOf(t, stockCases)
	said := runInShell(t, env, "cd "+dir+" && alcove family pack family.js && alcove family test stock.wasm --cases cases.jsonl")
	if !strings.Contains(said, "10 cases, 0 updated") || strings.Contains(said, "fail") {
		t.Errorf("it says %s, want 10 cases that pass", said)
	}
	said = runInShell(t, env, "cd "+dir+` && alcove family call stock.wasm --hook rank '{"candidates":[{"score":2}]}' 2>&1; alcove family call stock.wasm --hook embed '{"texts":["tea"]}' --json`+
		`; alcove family call stock.wasm --hook rank '{"candidates":[{"size":2}]}' 2>&1 || true; alcove family call stock.wasm --hook embed '{"texts":["tea"],"purpose":"fun"}' 2>&1 || true`)
	for _, want := range []string{"4\n", `3,`, "those of the manifest are score, age", "give document or query"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %s, want %q", said, want)
		}
	}
}

func TestAFailureShowsTheDifferenceAndUpdateWritesWhatCame(t *testing.T) {
	t.Parallel()
	env, dir := stockOf(t, `{"name":"wrong","tool":"stock_keep","arguments":{"name":"x"},"expect":{"answer":{"key":{"$is":"string"},"greeting":"Ho","now":{"$is":"instant"}}}}`+"\n"+
		`{"name":"new","job":"count","payload":{"n":1}}`+"\n"+`{"name":"right","job":"count","payload":{"n":1}, "expect":{"answer":{"n":2}}}`+"\n")
	said := runInShell(t, env, "cd "+dir+" && alcove family test family.js --cases cases.jsonl 2>&1; echo code $?")
	for _, want := range []string{"fail     wrong (line 1)\n         answer.greeting: got \"Hello\", want \"Ho\"\n", "1 of 3 cases failed", "code 1"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %s, want %q", said, want)
		}
	}
	said = runInShell(t, env, "cd "+dir+" && alcove family test family.js --cases cases.jsonl --update && alcove family test family.js --cases cases.jsonl && cat cases.jsonl")
	for _, want := range []string{"3 cases, 2 updated", "3 cases, 0 updated", `"greeting":"Hello"`, `"key":{"$is":"string"}`, `"now":{"$is":"instant"}`, `{"name":"new","job":"count","payload":{"n":1},"expect":{"answer":{"n":2}}}`, `{"n":1}, "expect"`} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %s, want %q", said, want)
		}
	}
	said = runInShell(t, env, "cd "+dir+` && echo '{"name":"x"}' >> cases.jsonl; alcove family test family.js --cases cases.jsonl 2>&1; echo code $?`)
	if !strings.Contains(said, "read cases.jsonl: line 4: it has to have one of tool, hook and job") || !strings.Contains(said, "code 2") {
		t.Errorf("it says %s, want an error of line 4", said)
	}
}

// The family that alcove family new begins answers the same in all languages, and leaves the same memories. Each day another compiled
// language has its turn; one without its compiler is skipped.
func TestOneFileOfCasesFitsTheFamilyInEachLanguage(t *testing.T) {
	t.Parallel()
	file, err := filepath.Abs("testdata/cases/tea.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range append(stress.Pick(t, 1, project.Compiled()), "javascript", "typescript", "python") {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			compiler := ""
			if slices.Contains(project.Compiled(), language) {
				compiler = language
			}
			env, dir := scaffolds(t, compiler), t.TempDir()
			runInShell(t, env, "cd "+dir+" && alcove family new tea --lang "+language)
			dir = filepath.Join(dir, "tea")
			if compiler != "" {
				runInShell(t, env, "cd "+dir+" && ./build.sh && alcove family pack raw.wasm --manifest manifest.json -o tea.wasm")
			} else {
				runInShell(t, env, "cd "+dir+" && alcove family pack family.* -o tea.wasm")
			}
			if said := runInShell(t, env, "cd "+dir+" && alcove family test tea.wasm --cases "+file); !strings.Contains(said, "5 cases, 0 updated") {
				t.Errorf("it says %s, want 5 cases that pass", said)
			}
		})
	}
}

// One family that is written in each language answers the same cases. Each day another compiled language has its turn.
func TestRemindersAnswerAlikeInEachLanguage(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	family := filepath.Join(root, "guests", "examples", "reminders")
	for _, language := range append(stress.Pick(t, 1, project.Compiled()), "javascript", "typescript", "python") {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			out, pack := t.TempDir(), "family.*"
			env := readmeHome(t)
			if slices.Contains(project.Compiled(), language) {
				manifest := "../manifest.json"
				if language == "go" {
					manifest = "manifest.json" // with limits
				}
				env, pack = append(scaffolds(t, language), "OUT="+filepath.Join(out, "raw.wasm")), filepath.Join(out, "raw.wasm")+" --manifest "+manifest
				runInShell(t, env, "sh "+filepath.Join(root, "sdk", "compilers.sh")+" "+language+" "+filepath.Join(family, language, "build.sh"))
			}
			said := runInShell(t, env, "cd "+filepath.Join(family, language)+" && alcove family pack "+pack+" -o "+out+"/reminders.wasm && alcove family test "+out+"/reminders.wasm --cases ../cases.jsonl")
			if !strings.Contains(said, "5 cases, 0 updated") {
				t.Errorf("it says %s, want 5 cases that pass", said)
			}
		})
	}
}
