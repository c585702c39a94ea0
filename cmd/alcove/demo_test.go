package main

import (
	"net"
	"testing"
)

func TestTheDemoTakesAFreePortIfTheUsualOneIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	usual := l.Addr().String()
	if got := freeAddress(usual); got != "127.0.0.1:0" {
		t.Errorf("beside a program that has %s: got %s, want any free port", usual, got)
	}
	l.Close()
	if got := freeAddress(usual); got != usual {
		t.Errorf("when nobody has %s: got %s, want the same", usual, got)
	}
}
