package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// auditedBefore is what happened on the server before the auditor comes.
const auditedBefore = `
guest build.raw '{"said":"tea"}'
exec alcove family pack build.raw --manifest one.json -o said.wasm
exec alcove family pack build.raw --manifest next.json -o next.wasm
exec alcove family keygen author
exec alcove family sign said.wasm --key author.key
exec alcove family provenance make said.wasm --source build.raw --key author.key
exec sh -c 'exec alcove serve --listen off --log-calls --log-format json --audit-anchor anchor.jsonl --audit-anchor-every 1s 2> server.log' &server&
waitfor data/owner.json
exec alcove family trust author author.pub
exec alcove family install said.wasm
exec alcove family grant said memory.read=* --why 'review 17'
exec alcove config apply alcove.yaml --yes
exec alcove operator create ann --role approver
exec alcove lock
exec alcove call said_it '{}'
exec alcove store plan 'ship it'
exec alcove recall plan
exec sh refused.sh
exec alcove stop
wait server
exec sh -c 'exec alcove serve --listen off --log-calls --log-format json --audit-anchor anchor.jsonl --audit-anchor-every 1s 2> server.log' &again&
waitfor data/owner.json
exec alcove recall plan
exec alcove call said_it '{}'
`

// auditedFiles are the files of the script.
const auditedFiles = `
-- one.json --
{"abi":1,"name":"said","version":"1.0.0","description":"Says.","capabilities":[{"name":"memory.read","scope":["*"],"reason":"to look"}],"tools":[{"name":"said_it","description":"Says it.","input_schema":{"type":"object"}}]}
-- next.json --
{"abi":1,"name":"said","version":"1.1.0","description":"Says.","capabilities":[{"name":"memory.read","scope":["*"],"reason":"to look"},{"name":"memory.write","scope":["*"],"reason":"to note"}],"tools":[{"name":"said_it","description":"Says it.","input_schema":{"type":"object"}}]}
-- alcove.yaml --
version: 1
quotas:
  namespaces:
    tenant/acme: {total: {memories: 100, bytes: 1000000}}
keys:
  agents:
    writer: {namespaces: [notes], rights: [read]}
-- refused.sh --
secret=$(alcove key create --agent reader --namespaces notes --rights read,write)
ALCOVE_KEY=$secret alcove store x y --namespace secret && exit 1
exit 0
`

// TestTheAuditorsQuestionsAreAnswered runs the commands of docs/guides/auditor.md, in order, and looks for each line of their output.
func TestTheAuditorsQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guides/auditor.md")
	if err != nil {
		t.Fatal(err)
	}
	questions := len(regexp.MustCompile(`(?m)^## \d+\. .*\?$`).FindAllString(string(guide), -1))
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	if questions < 12 || len(blocks) != questions {
		t.Fatalf("%d questions have %d blocks of commands, want one for each of twelve or more", questions, len(blocks))
	}
	var script strings.Builder
	script.WriteString(auditedBefore)
	for _, b := range blocks {
		for _, run := range strings.Split("\n"+b[1], "\n$ ")[1:] {
			command, output, _ := strings.Cut(strings.TrimRight(run, "\n"), "\n")
			script.WriteString(quotedRun(command, output))
		}
	}
	script.WriteString("exec alcove stop\nwait again\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "auditor.txtar"), []byte(script.String()+auditedFiles), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": func(ts *testscript.TestScript, neg bool, args []string) { waitFor(t, ts, neg, args) },
			"shows":   showsLine, "guest": writeGuest,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ALCOVE_DATA", filepath.Join(e.WorkDir, "data"))
			e.Defer(func() { stopOwners(t, e.WorkDir) })
			return shareCache(e)
		},
	})
}
