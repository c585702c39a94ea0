package layout

import "go.etcd.io/bbolt"

// Each write transaction of an engine gives the file's tree a higher stamp than every transaction before it, failed ones included. It
// tells which tree is the newest where the meta page that leads to it is damaged. The stamp is the sequence of the bucket of branches,
// whose header the root page has anyway; its lowest byte is a check of the others. A file that no engine opened yet has 0.

const stampBits = 56

// SetStamp writes the stamp of a transaction's tree.
func SetStamp(tx *bbolt.Tx, stamp uint64) error {
	stamp &= 1<<stampBits - 1
	return Branches(tx).SetSequence(stamp<<8 | stampCheck(stamp))
}

// ReadStamp is the stamp of a transaction's tree; 0 where there is none, or a damaged one.
func ReadStamp(tx *bbolt.Tx) uint64 {
	stamp, _ := OpenStamp(Branches(tx).Sequence())
	return stamp
}

// OpenStamp verifies the sequence of the bucket of branches and returns the stamp.
func OpenStamp(sequence uint64) (stamp uint64, ok bool) {
	stamp = sequence >> 8
	if sequence&255 != stampCheck(stamp) {
		return 0, false
	}
	return stamp, true
}

// stampCheck is the exclusive or of a stamp's bytes.
func stampCheck(stamp uint64) (check uint64) {
	for ; stamp > 0; stamp >>= 8 {
		check ^= stamp & 255
	}
	return check
}
