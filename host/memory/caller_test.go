package memory

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

func TestRightsPermitOnlyWhatTheyName(t *testing.T) {
	full, some := FullRights(), RightsTo([]string{"home"}, []string{"work"})
	for name, c := range map[string]struct {
		rights      Rights
		read, write []string // of home, work, other
	}{
		"zero":                   {Rights{}, nil, nil},
		"full":                   {full, []string{"home", "work", "other"}, []string{"home", "work", "other"}},
		"full, read-only":        {full.ReadOnly(), []string{"home", "work", "other"}, nil},
		"some":                   {some, []string{"home", "work"}, []string{"work"}},
		"some, read-only":        {some.ReadOnly(), []string{"home", "work"}, nil},
		"full within some":       {full.Within(some), []string{"home", "work"}, []string{"work"}},
		"some within full":       {some.Within(full), []string{"home", "work"}, []string{"work"}},
		"some within others":     {some.Within(RightsTo(nil, []string{"home", "other"})), []string{"home"}, nil},
		"within nothing":         {full.Within(Rights{}), nil, nil},
		"all that may be read":   {RightsTo([]string{AllNamespaces, "home"}, []string{"work"}), []string{"home", "work", "other"}, []string{"work"}},
		"no wider by its origin": {full.ReadOnly().Within(full), []string{"home", "work", "other"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, namespace := range []string{"home", "work", "other"} {
				if got, want := c.rights.MayRead(namespace), slices.Contains(c.read, namespace); got != want {
					t.Errorf("read %s: %t", namespace, got)
				}
				if got, want := c.rights.MayWrite(namespace), slices.Contains(c.write, namespace); got != want {
					t.Errorf("write %s: %t", namespace, got)
				}
			}
			if got := c.rights.WritesNothing(); got != (len(c.write) == 0) {
				t.Errorf("writes nothing: %t", got)
			}
		})
	}
}

func TestRightsToAPatternAreRightsToItsNamespaces(t *testing.T) {
	s := testSpace(t)
	all := s.As(Caller{Rights: FullRights()})
	for _, namespace := range []string{"team", "team/a", "team/b/c", "teams"} {
		if _, err := all.Store(t.Context(), Location{Namespace: namespace}, []Item{{Key: "k", Value: json.RawMessage(`"tea"`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	narrow := s.As(Caller{Rights: RightsTo([]string{"team/*"}, []string{"team/b/*"})})
	found, err := narrow.Search(t.Context(), Search{Text: "tea", K: 10})
	if err != nil || len(found.Hits) != 2 {
		t.Errorf("it finds %+v, %v", found.Hits, err)
	}
	found, err = narrow.Search(t.Context(), Search{Text: "tea", K: 10, Namespaces: []string{"team/b/*"}})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("in a narrower pattern it finds %+v, %v", found.Hits, err)
	}
	found, err = narrow.Search(t.Context(), Search{Text: "tea", K: 10, Namespaces: []string{"*"}})
	if err != nil || len(found.Hits) != 2 {
		t.Errorf("in all namespaces it finds %+v, %v", found.Hits, err)
	}
	for _, wide := range []string{"teams/*", "team"} {
		if _, err := narrow.Search(t.Context(), Search{Text: "tea", K: 10, Namespaces: []string{wide}}); codeOf(err) != Denied && codeOf(err) != InvalidArgument {
			t.Errorf("Search in %s: %v, want it denied, or an invalid argument", wide, err)
		}
	}
	stage, err := narrow.Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := stage.Namespaces(t.Context()); err != nil || !slices.Equal(list, []string{"team/a", "team/b/c"}) {
		t.Errorf("namespaces: %q, %v", list, err)
	}
	if list, err := stage.scanNamespaces(t.Context()); err != nil || !slices.Equal(list, []string{"team/a", "team/b/c"}) {
		t.Errorf("namespaces by a scan: %q, %v", list, err)
	}
	if _, err := stage.Put(t.Context(), "team/b/new", []Item{{Key: "k", Value: json.RawMessage(`1`)}}); err != nil {
		t.Error(err)
	}
	if _, err := stage.Put(t.Context(), "team/a", []Item{{Key: "k", Value: json.RawMessage(`1`)}}); codeOf(err) != Denied {
		t.Errorf("Put in team/a: %v, want it denied", err)
	}
}

func TestFurtherRights(t *testing.T) {
	work := RightsTo(nil, []string{"work"})
	some := work.LimitedTo([]Right{ToConfigure, ToUse("facts")})
	for name, c := range map[string]struct {
		rights Rights
		has    []Right
	}{
		"zero":                 {Rights{}, []Right{ToUse("facts"), ToUse("graph")}},
		"unlimited":            {work, []Right{ToBranch, ToConfigure, ToActAs, ToUse("facts"), ToUse("graph")}},
		"limited":              {some, []Right{ToConfigure, ToUse("facts")}},
		"limited to none":      {work.LimitedTo(nil), nil},
		"never more":           {some.LimitedTo([]Right{ToBranch, ToConfigure}), []Right{ToConfigure}},
		"read-only":            {some.ReadOnly(), []Right{ToConfigure, ToUse("facts")}},
		"within unlimited":     {some.Within(work), []Right{ToConfigure, ToUse("facts")}},
		"unlimited within":     {work.Within(some), []Right{ToConfigure, ToUse("facts")}},
		"every family":         {work.LimitedTo([]Right{ToUse(AllFamilies)}), []Right{ToUse("facts"), ToUse("graph")}},
		"one of all families":  {some.Within(work.LimitedTo([]Right{ToUse(AllFamilies)})), []Right{ToUse("facts")}},
		"all families and one": {work.LimitedTo([]Right{ToUse(AllFamilies)}).Within(some), []Right{ToUse("facts")}},
		"within another":       {some.Within(work.LimitedTo([]Right{ToBranch, ToConfigure})), []Right{ToConfigure}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, right := range []Right{ToBranch, ToConfigure, ToActAs, ToUse("facts"), ToUse("graph")} {
				if got := c.rights.May(right); got != slices.Contains(c.has, right) {
					t.Errorf("May(%s) = %t, want %t", right, got, !got)
				}
			}
		})
	}
}

func TestBranchesNeedTheRightToThem(t *testing.T) {
	s := testSpace(t)
	all := s.As(Caller{Rights: FullRights()})
	if _, err := all.Create(t.Context(), "draft", Write{}); err != nil {
		t.Fatal(err)
	}
	writer := s.As(Caller{Rights: FullRights().LimitedTo(nil)})
	_, created := writer.Create(t.Context(), "other", Write{})
	_, forked := writer.Fork(t.Context(), "", "other", AsOf{}, Write{})
	_, merged := writer.Merge(t.Context(), Merge{Source: "draft"}, Write{})
	for name, err := range map[string]error{"create": created, "fork": forked, "merge": merged, "delete": writer.Delete(t.Context(), Deletion{Branch: "draft", Force: true}, Write{})} {
		if codeOf(err) != Denied || !strings.Contains(err.Error(), "the right branch") {
			t.Errorf("%s without the right branch: %v, want it denied for that right", name, err)
		}
	}
	if _, err := writer.Merge(t.Context(), Merge{Source: "draft"}, Write{DryRun: true}); err != nil {
		t.Errorf("a dry run: %v", err)
	}
	if _, err := writer.Store(t.Context(), Location{Branch: "draft"}, item, Write{}); err != nil {
		t.Errorf("a write to a branch: %v", err)
	}
}

func TestRightsListTheirNamespaces(t *testing.T) {
	r := RightsTo([]string{"b", "a"}, []string{"c", "a"})
	if readable, all := r.Readable(); all || !slices.Equal(readable, []string{"a", "b", "c"}) {
		t.Errorf("readable: %q, %t", readable, all)
	}
	if writable, all := r.Writable(); all || !slices.Equal(writable, []string{"a", "c"}) {
		t.Errorf("writable: %q, %t", writable, all)
	}
	if readable, all := FullRights().Readable(); !all || readable != nil {
		t.Errorf("all: %q, %t", readable, all)
	}
}

// TestAConflictIsRetryableWhereTheSameRequestMaySucceed is what the ABI says of the word, for the three kinds of conflict.
func TestAConflictIsRetryableWhereTheSameRequestMaySucceed(t *testing.T) {
	s := testSpace(t)
	a := s.As(Caller{Rights: FullRights()})
	write := func(value string, ifVersion *uint64) error {
		_, err := a.Store(t.Context(), Location{}, []Item{{Key: "k", Value: json.RawMessage(value), IfVersion: ifVersion}}, Write{})
		return err
	}
	for _, value := range []string{"1", "2"} {
		if err := write(value, nil); err != nil {
			t.Fatal(err)
		}
	}
	early := uint64(1)
	for name, c := range map[string]struct {
		err       error
		retryable bool
	}{
		"an if_version that is not met":   {write("3", &early), false},
		"a request id for something else": {s.translate("store", store.ErrRequestReused), false},
		"a branch that was written":       {s.translate("delete", &store.ConflictError{Branch: 1, Want: 1, Have: 2}), true},
	} {
		var known *Error
		if !errors.As(c.err, &known) || known.Code != Conflict || known.Retryable != c.retryable {
			t.Errorf("%s: %+v, want retryable %t", name, c.err, c.retryable)
		}
	}
	if err := write("3", &early); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the same request succeeds: %v", err)
	}
}
