package search

import (
	"crypto/sha256"
	"encoding/binary"
)

// digestOf is the digest of what is analysed of a document.
func digestOf(d *Doc) uint64 {
	all := make([]byte, 0, 1024)
	add := func(texts ...string) {
		all = binary.LittleEndian.AppendUint32(all, uint32(len(texts)))
		for _, text := range texts {
			all = append(binary.LittleEndian.AppendUint32(all, uint32(len(text))), text...)
		}
	}
	add(d.Text...)
	add(d.Tags...)
	if t := d.Turn; t == nil {
		add(d.Key)
	} else {
		add(t.Speaker, t.Caption)
	}
	sum := sha256.Sum256(all)
	return binary.LittleEndian.Uint64(sum[:])
}
