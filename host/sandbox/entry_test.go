package sandbox

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// entry makes a compiled module, in the form that wazero writes.
func entry(code []byte, offsets ...uint64) []byte {
	b := append([]byte("WAZEVO"), 3, 'd', 'e', 'v')
	b = binary.LittleEndian.AppendUint32(b, uint32(len(offsets)))
	for _, o := range offsets {
		b = binary.LittleEndian.AppendUint64(b, o)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(len(code)))
	b = append(b, code...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(code, crc32.MakeTable(crc32.Castagnoli)))
	return append(b, 0, 0, 0, 0, 0)
}

func TestACompiledModuleIsCheckedBeforeUse(t *testing.T) {
	good := entry([]byte("codecode"), 0, 4)
	must.Do(t, checkEntry(good, 2))
	must.Do(t, checkEntry(entry(nil), 0))
	changed := func(at int, b byte) []byte {
		c := append([]byte(nil), good...)
		c[at] ^= b
		return c
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":                {nil, "ends before"},
		"not of wazero":        {changed(0, 1), "not WAZEVO"},
		"too many functions":   {changed(10, 1), "functions"},
		"code changed":         {changed(len(good)-10, 1), "checksum"},
		"code too long":        {changed(10+4+16+5, 255), "ends before its code"},
		"source map":           {changed(len(good)-5, 1), "source map"},
		"catch clauses":        {changed(len(good)-2, 1), "exceptions"},
		"more behind":          {append(append([]byte(nil), good...), 1), "too many"},
		"cut":                  {good[:len(good)-1], "ends before"},
		"functions disordered": {entry([]byte("codecode"), 4, 0), "order"},
		"function outside":     {entry([]byte("codecode"), 0, 8), "begins at 8"},
	} {
		if err := checkEntry(c.data, 2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzCompiledModule(f *testing.F) {
	f.Add(entry([]byte("codecode"), 0, 4), 2)
	f.Add(entry(nil), 0)
	f.Fuzz(func(t *testing.T, data []byte, functions int) {
		if err := checkEntry(data, functions); err == nil && len(data) < 6+1+4+8+4+1+4+8*functions {
			t.Errorf("%d bytes passed as %d functions", len(data), functions)
		}
	})
}
