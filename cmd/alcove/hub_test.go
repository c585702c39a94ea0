//go:build unix

package main

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hubOf runs commands of a hub's operator, whose server listens where hub.yaml says.
func hubOf(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	c := program(t, dir, args...)
	return outputOf(c, "ALCOVE_LISTEN=")
}

// device runs commands on the device of a person, whose settings are in a folder.
func device(t *testing.T, settings string, joined []string, args ...string) (string, error) {
	t.Helper()
	c := program(t, filepath.Join(settings, "nothing"), args...)
	return outputOf(c, append([]string{"XDG_CONFIG_HOME=" + settings, "HOME=" + settings}, joined...)...)
}

func outputOf(c *exec.Cmd, env ...string) (string, error) {
	c.Env, c.Stderr = append(c.Env, env...), nil
	out, err := c.CombinedOutput()
	return string(out), err
}

// exported are the variables that alcove hub join prints.
func exported(out string) (list []string) {
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "export "); ok {
			for _, each := range strings.Fields(rest) {
				list = append(list, strings.ReplaceAll(each, `"`, ""))
			}
		}
	}
	return list
}

func TestAHubIsMadeAndPeopleJoinItFromTheirDevices(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	operator := func(args ...string) string {
		t.Helper()
		out, err := hubOf(t, dir, args...)
		if err != nil {
			t.Fatalf("alcove %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return out
	}
	made := operator("hub", "init", "--name", "127.0.0.1", "--admin", "ann", "--listen", at)
	laptop, phone := t.TempDir(), t.TempDir()
	line := func(out string) []string {
		t.Helper()
		for each := range strings.Lines(out) {
			if words := strings.Fields(each); len(words) == 5 && words[0] == "alcove" && words[2] == "join" {
				return words[1:]
			}
		}
		t.Fatalf("got %s, want a line to join by", out)
		return nil
	}
	wrong := line(made)
	wrong[3] = wrong[3][:len(wrong[3])-4] + "aaaa"
	if out, err := device(t, laptop, nil, wrong...); err == nil || !strings.Contains(out, "another server may be answering") {
		t.Errorf("a line with the pin of another authority: got %v, %s, want nothing sent", err, out)
	}
	out, err := device(t, laptop, nil, line(made)...)
	if err != nil || !strings.Contains(out, "as ann") {
		t.Fatalf("ann joins: %v\n%s", err, out)
	}
	ann := exported(out)
	if out, err := device(t, laptop, ann, "store", "tea", "green", "--namespace", "group/crew"); err != nil {
		t.Errorf("ann stores: %v\n%s", err, out)
	}
	bob := operator("hub", "invite", "bob", "--group", "crew")
	out, err = device(t, phone, nil, append(line(bob), "--device", "phone")...)
	if err != nil {
		t.Fatalf("bob joins: %v\n%s", err, out)
	}
	if out, err := device(t, phone, exported(out), "recall", "tea", "--namespace", "group/crew"); err != nil || !strings.Contains(out, "green") {
		t.Errorf("bob recalls what is the group's: %v\n%s", err, out)
	}
	if out, err := device(t, t.TempDir(), nil, line(bob)...); err == nil || !strings.Contains(out, "was accepted") {
		t.Errorf("bob's line again: got %v, %s, want it refused", err, out)
	}
	if out, err := device(t, phone, exported(out), "store", "tea", "black", "--namespace", "ann"); err == nil {
		t.Errorf("bob stores in ann's namespace: got %s, want it refused", out)
	}
	if list := operator("hub", "list"); !strings.Contains(list, "device phone") || strings.Count(list, "device ") != 2 {
		t.Errorf("the people: got %s, want ann and bob with a device each", list)
	}
	operator("stop")
	if list := operator("hub", "group"); !strings.Contains(list, "crew  in group/crew: bob") {
		t.Errorf("the groups after a restart: got %s, want crew with bob", list)
	}
	operator("hub", "remove", "bob")
	if out, err := device(t, phone, exported(out), "recall", "tea", "--namespace", "group/crew"); err == nil {
		t.Errorf("bob after he was removed: got %s, want it refused", out)
	}
	if out, err := hubOf(t, dir, "hub", "init", "--name", "127.0.0.1", "--admin", "ann"); err == nil {
		t.Errorf("the hub is made again: got %s, want it refused", out)
	}
}
