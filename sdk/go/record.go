package alcove

import "encoding/json"

// Record is a record of one of the family's own collections.
type Record struct {
	Namespace string          `json:"namespace"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	Version   uint64          `json:"version"`
	Timestamp string          `json:"timestamp"`
}

// Records asks for records of a collection.
type Records struct {
	Collection string   `json:"collection"`
	Keys       []string `json:"keys,omitempty"`
	Namespace  string   `json:"namespace,omitempty"`
	Prefix     string   `json:"prefix,omitempty"` // of ListRecords, as the next two
	After      string   `json:"after,omitempty"`
	Limit      int      `json:"limit,omitempty"`
}

// RecordPage is a page of records.
type RecordPage struct {
	Records []Record `json:"records"`
	Next    string   `json:"next"`
}

// GetRecords gives records in the order of the keys, nil for those that are not there.
func (c *Call) GetRecords(r Records) ([]*Record, error) {
	out, err := ask[struct {
		Records []*Record `json:"records"`
	}](c, OpRecordGet, r)
	return out.Records, err
}

// ListRecords gives one page of records in the order of their keys.
func (c *Call) ListRecords(r Records) (RecordPage, error) {
	return ask[RecordPage](c, OpRecordList, r)
}

// EachRecord calls f with each record, page by page, until it answers an error.
func (c *Call) EachRecord(r Records, f func(*Record) error) error {
	for {
		page, err := c.ListRecords(r)
		if err != nil {
			return err
		}
		for i := range page.Records {
			if err := f(&page.Records[i]); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		r.After = page.Next
	}
}

// RecordItem is a record to be stored.
type RecordItem struct {
	Key       string  `json:"key"`
	Value     any     `json:"value"`
	IfVersion *uint64 `json:"if_version,omitempty"`
}

// PutRecords stages records. An empty namespace is the call's own.
func (c *Call) PutRecords(collection, namespace string, items ...RecordItem) error {
	return c.Ask(OpRecordPut, struct {
		Collection string       `json:"collection"`
		Namespace  string       `json:"namespace,omitempty"`
		Items      []RecordItem `json:"items"`
	}{collection, namespace, items}, nil)
}

// DeleteRecords stages deletions of records.
func (c *Call) DeleteRecords(r Records) error { return c.Ask(OpRecordDelete, r, nil) }

// AppendRecords stages records with the next sequence numbers as their keys, and gives those.
func (c *Call) AppendRecords(collection, namespace string, values ...any) ([]uint64, error) {
	out, err := ask[struct {
		Sequences []uint64 `json:"sequences"`
	}](c, OpRecordAppend, struct {
		Collection string `json:"collection"`
		Namespace  string `json:"namespace,omitempty"`
		Values     []any  `json:"values"`
	}{collection, namespace, values})
	return out.Sequences, err
}

// RecordSearch asks for records by their text.
type RecordSearch struct {
	Collection string   `json:"collection"`
	Query      string   `json:"query"`
	Namespaces []string `json:"namespaces,omitempty"`
	K          int      `json:"k,omitempty"`
	Offset     int      `json:"offset,omitempty"`
}

// RecordHit is a record that was found.
type RecordHit struct {
	Record  Record  `json:"record"`
	Score   float64 `json:"score"`
	Snippet string  `json:"snippet"`
}

// SearchRecords searches in a searchable collection. It does not see what was staged.
func (c *Call) SearchRecords(s RecordSearch) ([]RecordHit, error) {
	out, err := ask[struct {
		Hits []RecordHit `json:"hits"`
	}](c, OpRecordSearch, s)
	return out.Hits, err
}
