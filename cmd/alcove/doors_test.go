package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
)

// The doors through which a memory or record is changed. host/memory.TestEveryChangeOfAValuePassesTheStoreHooks shows that nothing passes the
// first one unseen.
const (
	hooked   = "store hooks" // a Stage, Access.Store, Forget, SetState, Import, Receive, or a merge's resolutions
	brought  = "merge"       // what lies on a branch passed the hooks there; a proposal is taken by whoever decides about it
	operated = "operator"    // whole directories, erasure and undo: operators alone, recorded in the audit log
)

// commandDoors are the commands that change memories or records.
var commandDoors = map[string]string{
	"store": hooked, "forget": hooked, "call": hooked, "import": hooked, "pull": hooked, "push": hooked, "sync": hooked, "clone": hooked, "hook": hooked, "replay": hooked, "approval reject": hooked,
	"branch merge": brought, "approval approve": brought,
	"project rename": operated, "project merge": operated, "project undo": operated, "family undo": operated, "purge": operated, "repair": operated, "restore": operated, "follow promote": operated, "retention run": operated,
}

// operationDoors are the operations of families that change memories or records.
var operationDoors = map[abi.Op]string{
	abi.OpMemoryPut: hooked, abi.OpMemoryPatch: hooked, abi.OpMemoryDelete: hooked, abi.OpRecordPut: hooked, abi.OpRecordDelete: hooked,
	abi.OpRecordAppend: hooked, abi.OpLinkAdd: hooked, abi.OpLinkRemove: hooked, abi.OpNamespaceDelete: hooked, abi.OpToolsCall: hooked,
	abi.OpBranchMerge: brought,
}

// unchanging are commands and operations that change no memory and no record.
const unchanging = `
	alcove; approval; approval list; audit; audit denials; audit export; audit tail; audit verify; backup; bench; bench recall; bench scale; branch; branch create;
	branch delete; branch diff; branch fork; branch list; branch restore; branch switch; cluster; cluster drain; cluster status; compact; config; config apply; config export; config get; config history; config list; config plan;
	config rollback; config set; config undo; connect; console; demo; doctor; durability; embedder; embedder check; embedder gate; embedder install; embedder list; embedder regenerate; embedder remove;
	embedder set; embedder show; embedder use; endpoint; endpoint add; endpoint list; endpoint remove; export; family; family call; family check;
	family config; family dev; family diff; family gen; family grant; family info; family inspect; family install; family jobs; family jobs run;
	family jobs cancel; family jobs retry; family keygen; family list; family logs; family meter; family new; family pack; family provenance; family provenance make; family provenance verify; family publish; family pull; family push; family remove;
	family index; family search;
	hub; hub group; hub init; hub invite; hub join; hub list; hub remove; hub withdraw;
	family revoke; family rollback; family attach; family attachments; family bundle; family sbom; family sign; family stats; family test; family trace; family trust; family update; family verify; family warm;
	family why-denied; flush; follow; history; key; key create; key delete; key limits; key list; key revoke; list; lock; lock apply; log; manual; mcp;
	migrate-calls; namespaces; operator; operator create; operator list; operator revoke; posture; posture set; project; project link; project list; project unlink;
	quota; remote; remote add; remote list; remote remove; remote set; remote status; quota list; quota remove; quota set; recall; retention; retention preview; retention set; retention show; root; root add;
	root list; root remove; search; serve; service; service install; service remove; service status; setup; site; site add; site list; site remove;
	space; space create; space delete; space list; space move; space rename; space restore;
	status; stop; tools; unlock; verify; version;
	memory.get; memory.states; memory.list; memory.namespaces; memory.history; recall.get; memory.search; memory.pairs; memory.touch; record.get; record.list;
	record.scan; record.history; record.search; record.nearest; record.collections; log.append; log.read; log.verify; feed.read; feed.emit;
	branch.list; branch.diff; branch.fork; branch.delete; link.list; config.get; config.list; config.put; config.history; config.rollback;
	config.undo; config.rules; config.set; caller.get; quota.list; caller.can; session.list; scope.get; scope.list; scope.put; scope.members;
	scope.delete; identity.delegate; identity.revoke; caller.progress; job.enqueue; job.status; job.cancel; text.analyze; text.count; text.tokens;
	text.detokenize; embed.texts; embed.rebuild; namespace.list; status.get; version.at; llm.complete; http.fetch; file.list; file.read; file.write;
	tools.list; tools.publish; tools.withdraw; tools.offered; tools.usage`

// A new command or operation is told here through which door it changes values, or that it changes none.
func TestTheDoorOfEachCommandAndOperationIsKnown(t *testing.T) {
	known := map[string]bool{}
	for name := range strings.SplitSeq(unchanging, ";") {
		known[strings.TrimSpace(name)] = true
	}
	for _, name := range slices.Collect(maps.Keys(commandDoors)) {
		known[name] = true
	}
	for _, op := range slices.Collect(maps.Keys(operationDoors)) {
		known[string(op)] = true
	}
	check := func(what, name string) {
		if !known[name] {
			t.Errorf("%s %q: say in commandDoors or operationDoors through which door it changes memories or records, or in unchanging that it changes none", what, name)
		}
	}
	eachCommand(newApp(nil, io.Discard, io.Discard, func(string) string { return "" }).command(), func(c *cobra.Command) {
		check("command", strings.TrimPrefix(c.CommandPath(), "alcove "))
	})
	for op := range abi.Ops() {
		check("operation", string(op))
	}
}
