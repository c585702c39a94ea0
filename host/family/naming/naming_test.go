package naming

import (
	"testing"

	"github.com/alcove-memory/alcove/host/tool/core"
)

func TestNamesThatLookAlikeHaveOneSkeleton(t *testing.T) {
	for _, group := range [][]string{
		{"memory_store", "memory-store", "memory.store", "memory_store_", "memorystore", "Memory_Store", "MEMORY_STORE", "mernory_store", "memory_5tore", "rnernory_st0re",
			"memory store", "mеmоry_stоrе" /* Cyrillic */, "ｍｅｍｏｒｙ＿ｓｔｏｒｅ", "mémory_störe", "memory\u200b_store"},
		{"list_all", "1ist_al1", "Iist_aIl", "llst_ail"},
		{"row", "rovv", "ROW"},
		{"clock", "c1ock", "dock", "cIock"},
		{"zip", "2ip"},
		{"block", "8lock"},
	} {
		for _, name := range group {
			if Skeleton(name) != Skeleton(group[0]) {
				t.Errorf("%q has the skeleton %q, %q has %q", name, Skeleton(name), group[0], Skeleton(group[0]))
			}
		}
	}
	seen := map[string]string{}
	for _, name := range append(core.Names(), "memory_auto_tag", "memory_retag", "memory_suggest_tags", "memory_merge_tags", "memory_consolidate", "memory_find_duplicates",
		"memory_find_contradictions", "memory_list_stale_facts", "memory_find_stale", "memory_explain_ranking", "memory_rank_feedback", "memory_compare_rankings", "memory_tune_ranking") {
		if other := seen[Skeleton(name)]; other != "" {
			t.Errorf("%s resembles %s", name, other)
		}
		seen[Skeleton(name)] = name
	}
}
