package store

import (
	"errors"
	"strings"
	"testing"
)

type heapBlob struct{ *strings.Reader }

func (heapBlob) Close() error { return nil }

func TestABlobOfAnEngineWithoutFilesIsMappedToMemory(t *testing.T) {
	m, err := Map(heapBlob{strings.NewReader("content")}, Private)
	if err != nil || string(m.Bytes()) != "content" {
		t.Fatalf("it has %q: %v", m.Bytes(), err)
	}
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
}

func TestAGuardPassesOtherPanicsOn(t *testing.T) {
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("the panic is %v", p)
		}
	}()
	_ = Guard(func() { panic("other") })
}
