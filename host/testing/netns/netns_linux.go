// Package netns makes machines of tests: network namespaces on one bridge, which can be cut off from each other.
package netns

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Host is a machine.
type Host struct {
	Address string
	name    string // of the namespace
	t       testing.TB
}

// Hosts makes machines that reach each other. Where namespaces are not permitted, the test is skipped.
func Hosts(t testing.TB, n int) (list []*Host) {
	t.Helper()
	id := fmt.Sprintf("alc%x", os.Getpid()&0xffff)
	subnet := fmt.Sprintf("10.%d.%d.", 128+os.Getpid()>>8&127, os.Getpid()&255)
	hub := id + "h"
	if err := ip("netns", "add", hub); err != nil {
		t.Skipf("machines of network namespaces need a privileged user and ip: %v", err)
	}
	t.Cleanup(func() { _ = ip("netns", "del", hub) })
	run := func(args ...string) {
		t.Helper()
		if err := ip(args...); err != nil {
			t.Skipf("machines of network namespaces are not permitted here: %v", err)
		}
	}
	run("-n", hub, "link", "add", "br0", "type", "bridge")
	run("-n", hub, "link", "set", "br0", "up")
	for i := range n {
		h := &Host{Address: fmt.Sprint(subnet, i+1), name: fmt.Sprint(id, i), t: t}
		run("netns", "add", h.name)
		t.Cleanup(func() { _ = ip("netns", "del", h.name) })
		port := fmt.Sprint("p", i)
		run("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", h.name)
		run("-n", hub, "link", "set", port, "master", "br0", "up")
		run("-n", h.name, "addr", "add", h.Address+"/24", "dev", "eth0")
		run("-n", h.name, "link", "set", "eth0", "up")
		run("-n", h.name, "link", "set", "lo", "up")
		list = append(list, h)
	}
	return list
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}

// Prefix is what a command begins with that runs on the machine.
func (h *Host) Prefix() []string { return []string{"nsenter", "--net=" + h.file()} }

func (h *Host) file() string { return filepath.Join("/run/netns", h.name) }

// Cut has packets to other machines vanish, and those from them have no answer, until mend is called.
func (h *Host) Cut(from ...*Host) (mend func()) {
	h.t.Helper()
	for _, other := range from {
		if err := ip("-n", h.name, "route", "add", "blackhole", other.Address+"/32"); err != nil {
			h.t.Fatal(err)
		}
	}
	return func() {
		for _, other := range from {
			if err := ip("-n", h.name, "route", "del", "blackhole", other.Address+"/32"); err != nil {
				h.t.Error(err)
			}
		}
	}
}

// Dial connects to an address as a process on the machine would.
func (h *Host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	type dialed struct {
		conn net.Conn
		err  error
	}
	done := make(chan dialed)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this
		conn, err := h.dial(ctx, network, address)
		done <- dialed{conn, err}
	}()
	d := <-done
	return d.conn, d.err
}

func (h *Host) dial(ctx context.Context, network, address string) (net.Conn, error) {
	at, err := os.Open(h.file())
	if err != nil {
		return nil, err
	}
	defer at.Close()
	if err := unix.Setns(int(at.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}
