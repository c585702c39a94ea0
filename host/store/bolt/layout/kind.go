package layout

import (
	"bytes"
	"slices"
)

// Kind tells what the records of a bucket are. Its number is part of their checksums, and never changes.
type Kind byte

const (
	KindMeta Kind = iota + 1
	KindTime
	KindPoints
	KindRequests
	KindAges
	KindBlobs
	KindPurged
	KindOverlay
	KindEntries
	KindValues
	KindLog
	KindCounters
	KindTrim
	KindCounted
)

var names = [...][]byte{
	KindMeta:     []byte("meta"),         // format, history, marks
	KindTime:     []byte("time"),         // instant in µs → version
	KindPoints:   []byte("points"),       // version → instant in µs, tail, note
	KindRequests: []byte("requests"),     // caller and id → outcome
	KindAges:     []byte("request-ages"), // instant in µs, caller and id → nothing
	KindBlobs:    []byte("blobs"),        // name → digest and size
	KindPurged:   []byte("purged"),       // branch, key and version of an entry, or version of a note → the newest version at the purge

	KindEntries:  []byte("entries"),  // key and version → record
	KindValues:   []byte("values"),   // the same → a large value
	KindLog:      []byte("log"),      // version and key → deleted or not
	KindCounters: []byte("counters"), // key and version → value
	KindCounted:  []byte("counted"),  // key → version of the commit that last wrote its counters
	KindTrim:     []byte("trim"),     // floor, pins
}

// SpaceKinds are the kinds that a space has one bucket of each.
func SpaceKinds() []Kind {
	return []Kind{KindMeta, KindTime, KindPoints, KindRequests, KindAges, KindBlobs, KindPurged}
}

// BranchKinds are the kinds that each branch has one bucket of each.
func BranchKinds() []Kind {
	return []Kind{KindEntries, KindValues, KindLog, KindCounters, KindCounted, KindTrim}
}

// Bucket is the name of the kind's bucket; nil for an overlay, whose bucket is named by its id.
func (k Kind) Bucket() []byte {
	if int(k) >= len(names) {
		return nil
	}
	return names[k]
}

// KindOf finds the kind whose bucket has a name.
func KindOf(kinds []Kind, name []byte) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return bytes.Equal(k.Bucket(), name) })
	if i < 0 {
		return 0, false
	}
	return kinds[i], true
}
