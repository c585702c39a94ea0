package governance

import (
	"encoding/hex"
	"hash/fnv"
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// sealed is the event of the log that has the digest of a version.
const sealed = "governance.sealed"

// seal is where the digest of a version is.
//
//alcove:json
type seal struct{ Sequence uint64 }

// event is the data of sealed.
//
//alcove:json
type event struct {
	Key     string
	Version uint64
	Digest  string
	Agent   string `json:",omitzero"`
}

func sealKey(key string, version uint64) string {
	h := fnv.New128a()
	h.Write([]byte(key))
	return strconv.FormatUint(version, 10) + "-" + hex.EncodeToString(h.Sum(nil))
}

// Stored notes the digests of versions in the log.
func (Hooks) Stored(c *alcove.Call, _ Config, entries []alcove.Entry) error {
	for i := range entries {
		e := &entries[i]
		if e.Deleted {
			continue
		}
		key := sealKey(e.Key, e.Version)
		if _, there, err := seals.In(e.Namespace).Get(c, key); err != nil || there {
			if err != nil {
				return err
			}
			continue
		}
		data := event{e.Key, e.Version, content{e.Key, e.Type, e.State, e.Value, e.Tags, e.Importance, e.Metadata}.digest(), e.Agent}
		raw, err := scan.Encode(&data)
		if err != nil {
			return err
		}
		out, err := c.LogAppend(alcove.LogAppendRequest{Namespace: e.Namespace, Event: sealed, Data: raw, Sequence: true})
		if err != nil {
			return err
		}
		if err := seals.In(e.Namespace).Put(c, key, seal{out.Sequence}); err != nil {
			return err
		}
	}
	return nil
}

// Verify checks a memory's history against the digests in the log, and the log's chain of hashes.
//
// With from and to it checks that part of the namespace's log alone; where there is nothing to check, verified is false and fault says so. The first version that differs is named, and so is one that the log has
// and the history lacks. Versions from before the stored hook was on have no digest, and are counted as unsealed.
//
//alcove:title Verify history
//alcove:description Check that a memory's history is untampered.
//alcove:tool read-only
type Verify struct {
	ID   alcove.ID `alcove:"alias=memory_id|factId|key"`
	From uint64    // A sequence of the log.
	To   uint64
}

type verification struct {
	Verified    bool
	Version     uint64 `json:"version,omitzero"` // The newest that was verified, or the one that differs or is missing.
	Digest      string `json:"digest,omitzero"`  // Of that version, as the log has it.
	Agent       string `json:"agent,omitzero"`
	LogSequence uint64 `json:"log_sequence,omitzero"`
	Checked     int
	Unsealed    int    `json:"unsealed,omitzero"`
	Fault       string `json:"fault,omitzero"`
}

// Call verifies.
func (in Verify) Call(c *alcove.Call) (out verification, err error) {
	if in.ID.IsZero() == (in.From == 0 && in.To == 0) {
		return out, alcove.Errorf(alcove.InvalidArgument, "give id, or from and to")
	}
	if in.ID.IsZero() {
		return out, out.part(c, max(in.From, 1), in.To)
	}
	m, err := c.Memory(in.ID)
	if err != nil {
		return out, err
	}
	first, versions := uint64(0), []uint64{}
	for v, err := range c.Versions(alcove.MemoryHistoryRequest{Namespace: m.Namespace, Key: m.Key}) {
		if err != nil {
			return out, err
		}
		if v.Deleted {
			continue
		}
		versions = append(versions, v.Version)
		at, sound, err := out.version(c, m, v)
		if err != nil || !sound {
			return out, err
		}
		if at != 0 {
			first = at
		}
	}
	if first == 0 {
		out.Fault, err = unsealed(c)
		return out, err
	}
	if err := out.log(c, m.Namespace, first, 0); err != nil || !out.Verified {
		return out, err
	}
	return out, out.missing(c, m, first, versions)
}

// unsealed says why no version has a digest.
func unsealed(c *alcove.Call) (string, error) {
	who, err := c.CallerGet()
	if err != nil {
		return "", err
	}
	const none = "nothing was checked: no version has a digest in the log. "
	const always = "alcove family config governance seal_always=true"
	if !who.On("stored") {
		return none + "The stored hook, which writes them, is off. An operator can turn it on: alcove family grant governance --hook stored; and, where no namespace has a rule: " + always, nil
	}
	return none + "Versions get one while a namespace has a rule, or always with: " + always, nil
}

// missing names the oldest version that has a digest in the log, from an event on, and that the history lacks. Versions that retention
// dropped are not missing.
func (out *verification) missing(c *alcove.Call, m *alcove.Memory, from uint64, versions []uint64) error {
	status, err := c.StatusGet(alcove.StatusGetRequest{Namespace: m.Namespace, Details: true})
	if err != nil {
		return err
	}
	floor := uint64(0)
	if status.Oldest != nil {
		floor = status.Oldest.Version
	}
	for limit := 1000; ; {
		page, err := c.LogRead(alcove.LogReadRequest{Namespace: m.Namespace, From: from, Limit: limit})
		if alcove.CodeOf(err) == alcove.Exhausted && limit > 1 { // events of many bytes
			limit /= 2
			continue
		}
		if err != nil || len(page.Events) == 0 {
			return err
		}
		for _, logged := range page.Events {
			var e event
			if logged.Event != sealed || scan.Decode(logged.Data, &e) != nil || e.Key != m.Key || e.Version <= floor || contains(versions, e.Version) {
				continue
			}
			*out = verification{Version: e.Version, Digest: e.Digest, Agent: e.Agent, LogSequence: logged.Sequence, Checked: out.Checked, Unsealed: out.Unsealed,
				Fault: "the version is missing from the history: a repair set it aside, or somebody removed it"}
			return nil
		}
		from = page.Events[len(page.Events)-1].Sequence + 1
	}
}

func contains(versions []uint64, version uint64) bool {
	for _, v := range versions {
		if v == version {
			return true
		}
	}
	return false
}

// version checks one version. It returns where its digest is; 0: nowhere.
func (out *verification) version(c *alcove.Call, m, v *alcove.Memory) (at uint64, sound bool, err error) {
	s, there, err := seals.In(m.Namespace).Get(c, sealKey(m.Key, v.Version))
	if err != nil {
		return 0, false, err
	}
	if !there {
		out.Unsealed++
		return 0, true, nil
	}
	log, err := c.LogRead(alcove.LogReadRequest{Namespace: m.Namespace, From: s.Sequence, Limit: 1})
	if err != nil {
		return 0, false, err
	}
	var e event
	if len(log.Events) == 1 && log.Events[0].Event == sealed {
		err = scan.Decode(log.Events[0].Data, &e)
	}
	now := content{m.Key, v.Type, v.State, v.Value, v.Tags, v.Importance, v.Metadata}.digest()
	if err != nil || e.Key != m.Key || e.Version != v.Version || e.Digest != now {
		*out = verification{Version: v.Version, Digest: e.Digest, Agent: v.Agent, LogSequence: s.Sequence, Checked: out.Checked, Fault: "its content is not what was stored"}
		return s.Sequence, false, nil
	}
	if out.Checked++; out.Version == 0 {
		out.Version, out.Digest, out.Agent, out.LogSequence = v.Version, e.Digest, v.Agent, s.Sequence
	}
	return s.Sequence, true, nil
}

// part checks a part of the log of the call's namespace. A part without events proves nothing.
func (out *verification) part(c *alcove.Call, from, to uint64) error {
	if to != 0 && to < from {
		return alcove.Errorf(alcove.InvalidArgument, "to is %d, before from, %d", to, from)
	}
	if err := out.log(c, c.Namespace, from, to); err != nil || out.Checked > 0 || out.Fault != "" {
		return err
	}
	*out = verification{Fault: "nothing was checked: the log of " + c.Namespace + " has no event from " + strconv.FormatUint(from, 10) + " on"}
	return nil
}

// log checks a part of the log.
func (out *verification) log(c *alcove.Call, namespace string, from, to uint64) error {
	for from != 0 && (to == 0 || from <= to) {
		r := alcove.LogVerifyRequest{Namespace: namespace, From: from}
		if to != 0 {
			r.Limit = int(min(to-from+1, 1000))
		}
		page, err := c.LogVerify(r)
		if err != nil {
			return err
		}
		if !page.Verified {
			out.Verified, out.LogSequence, out.Fault = false, page.BrokenAt, page.Fault
			return nil
		}
		if out.Version == 0 {
			out.Checked += page.Checked
			out.LogSequence = from + uint64(page.Checked) - 1
		}
		from = page.Next
	}
	out.Verified = true
	return nil
}
