package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// salvaged is what can be read of a database file, whatever state it is in.
type salvaged struct {
	*pages
	format uint64
	points map[uint64]int64
	states []store.BranchState
	pieces map[store.BranchID][]store.Piece // entries and counters
	kept   map[kind][]row                   // records that are taken over as they are
	aside  []Aside
}

// Aside is something that cannot be used, as it stands in the file.
type Aside struct {
	Branch store.BranchID `json:"branch"`
	Key    string         `json:"key"`              // namespace, collection and name, where they can be read
	Raw    string         `json:"raw_key"`          // hexadecimal
	Record string         `json:"record,omitempty"` // hexadecimal
	Why    string         `json:"why"`
}

// Examine reads a database file page by page, without opening it, and says what is damaged. Nobody may have it open. It
// needs as much memory as the file is large.
func Examine(dir string) ([]error, error) {
	s, err := salvage(dir)
	if errors.Is(err, errNoMeta) {
		return []error{err}, nil
	}
	if err != nil {
		return nil, err
	}
	return s.faults, nil
}

func salvage(dir string) (*salvaged, error) {
	data, err := os.ReadFile(filepath.Join(dir, "alcove.db"))
	if err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	p, err := readPages(data)
	if err != nil {
		return nil, err
	}
	s := &salvaged{pages: p, points: map[uint64]int64{}, pieces: map[store.BranchID][]store.Piece{}, kept: map[kind][]row{}}
	s.read()
	return s, nil
}

func (s *salvaged) read() {
	top := s.buckets("the outermost bucket", nil)
	again := uint64(0)
	s.each(top, bucketMeta, func(e element) {
		switch {
		case bytes.Equal(e.key, keyFormat):
			s.format = fromU64(e.value)
		case bytes.Equal(e.key, keyLayout):
			layout, _ := placeOf(kindMeta, 0).open(e.key, e.value)
			again = fromU64(layout)
		}
	})
	if _, err := checkFormat(s.format, again); err != nil && s.format <= format {
		s.fault("%w", err)
		s.format = max(s.format, again)
	}
	for _, name := range topBuckets() {
		if _, ok := top[string(name)]; !ok && s.format == format {
			s.fault("the bucket %s is missing", name)
		}
	}
	for _, k := range []kind{kindRequests, kindAges, kindPurged} {
		s.records(top, k, 0, func(e element) {
			s.kept[k] = append(s.kept[k], row{key: e.key, data: placeOf(k, 0).seal(e.key, e.value)})
		})
	}
	s.readPoints(top)
	branches := s.nested(top, bucketBranches)
	for _, id := range slices.Sorted(maps.Keys(branches)) {
		if len(id) != 8 {
			s.fault("a branch has the id %x", id)
			continue
		}
		s.readBranch(store.BranchID(fromU64([]byte(id))), branches[id])
	}
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if !slices.Contains([]string{string(bucketMeta), string(bucketPoints), string(bucketTime), string(bucketBranches),
			string(bucketRequests), string(bucketAges), string(bucketPurged)}, name) {
			s.look("the bucket "+name, top[name], 0)
		}
	}
}

// look visits a bucket, and all in it, only to find what is damaged.
func (s *salvaged) look(what string, value []byte, depth int) {
	if depth > maxNesting {
		s.fault("%s is nested too deep: it is damaged", what)
		return
	}
	s.bucket(what, value, func(e element) {
		if e.bucket {
			s.look(what, e.value, depth+1)
		}
	})
}

// each visits a bucket, if it is there.
func (s *salvaged) each(in map[string][]byte, name []byte, visit func(element)) {
	if value, ok := in[string(name)]; ok {
		s.bucket("the bucket "+string(name), value, visit)
	}
}

func (s *salvaged) nested(in map[string][]byte, name []byte) map[string][]byte {
	value, ok := in[string(name)]
	if !ok {
		return nil
	}
	return s.buckets("the bucket "+string(name), value)
}

// readPoints takes the versions and instants in which both of their indexes agree. Others count only if an entry has them.
func (s *salvaged) readPoints(top map[string][]byte) {
	versions, times := map[uint64]int64{}, map[uint64]int64{}
	s.records(top, kindPoints, 0, func(e element) { versions[fromU64(e.key)] = int64(fromU64(e.value)) })
	s.records(top, kindTime, 0, func(e element) { times[fromU64(e.value)] = int64(fromU64(e.key)) })
	for version, micros := range versions {
		if at, ok := times[version]; ok && at == micros && version != 0 {
			s.points[version] = micros
		}
	}
	if len(s.points) != len(versions) || len(s.points) != len(times) {
		s.fault("the indexes of versions and of instants have %d and %d records, and agree in %d", len(versions), len(times), len(s.points))
	}
}

func (s *salvaged) readBranch(id store.BranchID, value []byte) {
	what := fmt.Sprintf("branch %d", id)
	parts := s.buckets(what, value)
	state := store.BranchState{ID: id}
	s.records(parts, kindTrim, id, func(e element) {
		switch {
		case bytes.Equal(e.key, keyFloor) && len(e.value) == 16:
			state.Floor = point(e.value[:8], e.value[8:])
		case bytes.Equal(e.key, keyPins):
			for pins := e.value; len(pins) >= 8; pins = pins[8:] {
				state.Pins = append(state.Pins, fromU64(pins[:8]))
			}
		}
	})
	s.states = append(s.states, state)
	large := map[string][]byte{}
	s.each(parts, bucketValues, func(e element) { large[string(e.key)] = e.value })
	logged, before := map[string]bool{}, len(s.faults)
	s.records(parts, kindLog, id, func(e element) {
		if _, err := decodeChange(e.key, e.value); err != nil {
			s.fault("%s: %w", what, err)
		}
		logged[string(e.key)] = true
	})
	entries, whole := 0, len(s.faults) == before // a whole log bears witness to what keys were
	s.each(parts, bucketEntries, func(e element) {
		entries++
		found, err := s.entry(id, e, large)
		if err == nil && found.Version > state.Floor.Version && !logged[string(append(u64(found.Version), encodeKey(found.Key)...))] {
			if err = errUnlogged; !whole {
				s.fault("%s: version %d of %s: %w", what, found.Version, found.Key, err)
				err = nil
			}
		}
		if err != nil {
			s.setAside(id, e, err)
			return
		}
		s.points[found.Version] = found.Time.UnixMicro()
		s.pieces[id] = append(s.pieces[id], store.Piece{Entry: &found})
	})
	if len(logged) > entries {
		s.fault("%s: the change log names %d changes, and there are %d entries", what, len(logged), entries)
	}
	s.records(parts, kindCounters, id, func(e element) {
		c, err := counterRecord(id, e)
		if err != nil {
			s.setAside(id, e, err)
			return
		}
		s.pieces[id] = append(s.pieces[id], store.Piece{Counter: &c})
	})
}

var errUnlogged = errors.New("the change log does not know it: its key or its version is damaged")

// entry decodes an entry. Its instant must be that of its version, unless the indexes have lost it.
func (s *salvaged) entry(id store.BranchID, e element, large map[string][]byte) (found store.Entry, err error) {
	raw, version, err := splitVersion(e.key)
	if err != nil {
		return found, err
	}
	key, err := decodeKey(raw)
	if err != nil {
		return found, err
	}
	r, err := s.record(id, e, large)
	if err != nil {
		return found, err
	}
	if at, ok := s.points[version]; ok && at != r.micros {
		return found, fmt.Errorf("it is of another instant than version %d", version)
	}
	return r.entry(key, version), nil
}

func (s *salvaged) record(id store.BranchID, e element, large map[string][]byte) (r record, err error) {
	if s.format < format {
		r, err = oldRecord(e.key, e.value, func(key []byte) []byte { return large[string(key)] })
	} else if r, err = placeOf(kindEntries, 0).decodeRecord(e.key, e.value); err == nil && r.flags&flagLarge != 0 {
		r.value, err = openLarge(placeOf(kindValues, uint64(id)), e.key, large[string(e.key)], r.value)
	}
	if err == nil && r.branch != id {
		err = fmt.Errorf("it is of branch %d", r.branch)
	}
	return r, err
}

// records visits the records of a bucket that are whole.
func (s *salvaged) records(in map[string][]byte, k kind, id store.BranchID, visit func(element)) {
	p := placeOf(k, uint64(id))
	s.each(in, k.bucket(), func(e element) {
		if s.format >= format && p.counts(e.key) {
			value, err := p.open(e.key, e.value)
			if err != nil {
				s.setAside(id, e, err)
				return
			}
			e.value = value
		}
		visit(e)
	})
}

func counterRecord(id store.BranchID, e element) (c store.CounterRecord, err error) {
	raw, version, err := splitVersion(e.key)
	if err != nil {
		return c, err
	}
	key, err := decodeKey(raw)
	return store.CounterRecord{Branch: id, Key: key, Version: version, Value: count(e.value)}, err
}

func (s *salvaged) setAside(id store.BranchID, e element, why error) {
	a := Aside{Branch: id, Raw: hex.EncodeToString(e.key), Record: hex.EncodeToString(e.value), Why: why.Error()}
	if raw, version, err := splitVersion(e.key); err == nil {
		if key, err := decodeKey(raw); err == nil {
			a.Key = fmt.Sprintf("%s at version %d", key, version)
		}
	}
	s.aside = append(s.aside, a)
	s.fault("branch %d: %s: %w", id, cmp.Or(a.Key, "an entry"), why)
}

// Repaired is what a repair did.
type Repaired struct {
	Faults  []string `json:"faults"`  // what was found
	Entries int      `json:"entries"` // versions that are in the store now
	Aside   []Aside  `json:"aside"`   // what could not be used
	Folder  string   `json:"folder"`  // where the old files are
}

// Repair makes a new database of all that can be read of a damaged one, and moves the old one, its blobs and a report into
// a folder in set-aside. What can be made from the rest is made anew: change logs, the index of instants, overlays, blobs.
// Nobody may have the store open. Without damage it does nothing.
func Repair(ctx context.Context, dir string, now time.Time) (Repaired, error) {
	s, err := salvage(dir)
	if err != nil {
		return Repaired{}, fmt.Errorf("repair: %w", err)
	}
	r := Repaired{Faults: []string{}, Aside: s.aside}
	for _, f := range s.faults {
		r.Faults = append(r.Faults, f.Error())
	}
	if len(s.faults) == 0 {
		return r, nil
	}
	if s.format > format {
		return r, fmt.Errorf("repair: the file has format %d and this program knows %d: use a newer program", s.format, format)
	}
	r.Folder = filepath.Join(dir, "set-aside", now.UTC().Format("20060102-150405.000000"))
	if err := s.rebuild(ctx, dir, &r); err != nil {
		return r, fmt.Errorf("repair: %w", err)
	}
	return r, nil
}

// rebuild loads what was read under a passing directory, and exchanges the databases. A crash in between leaves the old one,
// in its place or in the folder, and the new one beside it.
func (s *salvaged) rebuild(ctx context.Context, dir string, r *Repaired) error {
	fresh := filepath.Join(dir, "repairing")
	if err := errors.Join(os.RemoveAll(fresh), os.MkdirAll(r.Folder, 0o700)); err != nil {
		return err
	}
	l, err := newLoader(fresh)
	if err != nil {
		return err
	}
	if err := s.feed(l, r); err != nil {
		return errors.Join(err, l.Abort(), os.RemoveAll(fresh))
	}
	if err := l.keep(s.kept); err != nil {
		return errors.Join(err, l.Abort(), os.RemoveAll(fresh))
	}
	if err := l.Finish(ctx); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	report, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(r.Folder, "report.json"), append(report, '\n'), 0o600),
		os.Link(filepath.Join(dir, "alcove.db"), filepath.Join(r.Folder, "alcove.db")))
	if err != nil { // where there are no links, a copy
		err = copyTo(filepath.Join(dir, "alcove.db"), filepath.Join(r.Folder, "alcove.db"))
	}
	if err = errors.Join(err, syncDir(r.Folder)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(fresh, "alcove.db"), filepath.Join(dir, "alcove.db")); err != nil {
		return err
	}
	return errors.Join(syncDir(dir), os.RemoveAll(fresh))
}

// keep takes records over as they are.
func (l *loader) keep(rows map[kind][]row) error {
	return l.db.Update(func(tx *bbolt.Tx) error {
		for k, rows := range rows {
			for _, r := range rows {
				if err := top(tx, k).replace(r.key, r.data); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func copyTo(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// feed gives the loader everything. Versions that the index lost, and that nothing has, are given instants between those
// around them: they must not have gaps.
func (s *salvaged) feed(l store.Loader, r *Repaired) error {
	ids := make([]store.BranchID, len(s.states))
	for i, state := range s.states {
		ids[i] = state.ID
	}
	if err := l.Add(store.Piece{Branches: ids}); err != nil {
		return err
	}
	last := int64(0)
	high := uint64(0)
	for version := range s.points {
		high = max(high, version)
	}
	if high > uint64(len(s.points))*2+1000 {
		return fmt.Errorf("the newest version is said to be %d, and only %d are known: restore a backup", high, len(s.points))
	}
	for version := uint64(1); version <= high; version++ {
		micros, ok := s.points[version]
		if !ok || micros <= last {
			micros = last + 1
		}
		last = micros
		p := point(u64(version), u64(uint64(micros)))
		if err := l.Add(store.Piece{Point: &p}); err != nil {
			return err
		}
	}
	for _, state := range s.states {
		if err := l.Add(store.Piece{Branch: &state}); err != nil {
			return err
		}
		for _, p := range s.pieces[state.ID] {
			if p.Entry != nil {
				r.Entries++
			}
			if err := l.Add(p); err != nil {
				return err
			}
		}
	}
	return nil
}
