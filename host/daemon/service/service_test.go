package service

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// hostile is a service with all that has a meaning in a description.
func hostile() Service {
	return Service{Name: "alcove-7f", Program: `/opt/my programs/100% $alcove`, Args: []string{"serve", "--data", `/home/ann/a b\c $HOME ${X} %h 'q' "r" <x>&amp;`, "--listen", "off", ""}}
}

// fake is a service manager that records its commands. Those that begin with a refused text fail.
type fake struct {
	commands []string
	refused  string
	says     string
}

func (f *fake) run(_ context.Context, name string, args ...string) (string, error) {
	command := strings.Join(append([]string{name}, args...), " ")
	f.commands = append(f.commands, command)
	if f.refused != "" && strings.HasPrefix(command, f.refused) {
		return "Failed to connect to bus", errors.New("exit status 1")
	}
	return f.says, nil
}

func managerOf(t *testing.T, system string, f *fake) *Manager {
	t.Helper()
	m, err := New(Options{OS: system, Home: t.TempDir(), UID: 501, Run: f.run})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDescriptionsAreAsRecorded(t *testing.T) {
	for system, golden := range map[string]string{"linux": "hostile.service", "darwin": "hostile.plist"} {
		m, err := New(Options{OS: system, Home: "/home/ann"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.describe(hostile())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", golden)
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is now, %v:\n%s", path, err, got)
		}
	}
}

func TestSystemdAcceptsTheUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed: the unit is compared with its golden file only")
	}
	dir := filepath.Join(t.TempDir(), `my programs`)
	program := filepath.Join(dir, `100% $alcove`)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := hostile()
	s.Program = program
	unit, err := managerOf(t, "linux", &fake{}).describe(s)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "alcove-7f.service")
	if err := os.WriteFile(path, unit, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "systemd-analyze", "--user", "--man=no", "--generators=no", "verify", path)
	command.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := command.CombinedOutput()
	if err != nil || strings.Contains(string(out), path) {
		t.Errorf("systemd-analyze verify: %v\n%s\n%s", err, out, unit)
	}
}

func TestThePropertyListIsWellFormedAndHasTheWords(t *testing.T) {
	content, err := managerOf(t, "darwin", &fake{}).describe(hostile())
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Array []string `xml:"dict>array>string"`
	}
	if err := xml.Unmarshal(content, &list); err != nil {
		t.Fatal(err)
	}
	if want := append([]string{hostile().Program}, hostile().Args...); !slices.Equal(list.Array, want) {
		t.Errorf("the words are %q", list.Array)
	}
	d := xml.NewDecoder(strings.NewReader(string(content)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServiceIsInstalledOnceAndRemoved(t *testing.T) {
	for system, c := range map[string]struct{ install, again, remove, says string }{
		"linux": {
			install: "systemctl --user daemon-reload; systemctl --user enable --now alcove-7f.service",
			again:   "systemctl --user disable --now alcove-7f.service; systemctl --user daemon-reload; systemctl --user enable --now alcove-7f.service",
			remove:  "systemctl --user disable --now alcove-7f.service; systemctl --user daemon-reload",
			says:    "ActiveState=active\nSubState=running\nUnitFileState=enabled\nMainPID=42\n",
		},
		"darwin": {
			install: "launchctl enable gui/501/org.alcove-memory.alcove-7f; launchctl bootstrap gui/501 FILE",
			again:   "launchctl bootout gui/501/org.alcove-memory.alcove-7f; launchctl enable gui/501/org.alcove-memory.alcove-7f; launchctl bootstrap gui/501 FILE",
			remove:  "launchctl bootout gui/501/org.alcove-memory.alcove-7f",
			says:    "gui/501/org.alcove-memory.alcove-7f = {\n\tstate = active\n\tpid = 42\n\tendpoints = {\n\t\tstate = x\n\t}\n}\n",
		},
	} {
		f := &fake{says: c.says}
		m := managerOf(t, system, f)
		said := func() string {
			text := strings.ReplaceAll(strings.Join(f.commands, "; "), m.file("alcove-7f"), "FILE")
			f.commands = nil
			return text
		}
		if _, err := m.Status(t.Context(), "alcove-7f"); !errors.Is(err, ErrNotInstalled) {
			t.Errorf("%s: before, the status is %v", system, err)
		}
		if err := m.Install(t.Context(), hostile()); err != nil || said() != c.install {
			t.Errorf("%s: installed with %v", system, err)
		}
		status, err := m.Status(t.Context(), "alcove-7f")
		if err != nil || status.PID != 42 || status.State != "active" || !status.Enabled || status.File != m.file("alcove-7f") {
			t.Errorf("%s: the status is %+v, %v", system, status, err)
		}
		said()
		other := hostile()
		other.Args = []string{"serve"}
		if err := m.Install(t.Context(), other); err != nil {
			t.Errorf("%s: installed again with %v", system, err)
		}
		if got := said(); got != c.again {
			t.Errorf("%s: installed again by %s", system, got)
		}
		if err := m.Remove(t.Context(), "alcove-7f"); err != nil || said() != c.remove {
			t.Errorf("%s: removed with %v", system, err)
		}
		if err := m.Remove(t.Context(), "alcove-7f"); !errors.Is(err, ErrNotInstalled) {
			t.Errorf("%s: removed again with %v", system, err)
		}
	}
}

func TestAnInstallThatFailsLeavesAllAsItWas(t *testing.T) {
	f := &fake{refused: "systemctl --user enable"}
	m := managerOf(t, "linux", f)
	path := m.file("alcove-7f")
	if err := m.Install(t.Context(), hostile()); err == nil || !strings.Contains(err.Error(), "connect to bus") {
		t.Errorf("installed with %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the unit is still there")
	}
	f.refused = ""
	if err := m.Install(t.Context(), hostile()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	f.refused = "systemctl --user enable"
	other := hostile()
	other.Args = nil
	if err := m.Install(t.Context(), other); err == nil {
		t.Error("it was installed")
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("the unit became\n%s", after)
	}
}

func TestFilesOfOthersAreLeftAlone(t *testing.T) {
	f := &fake{}
	m := managerOf(t, "linux", f)
	path := m.file("alcove-7f")
	os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte("[Unit]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, status := m.Status(t.Context(), "alcove-7f")
	for name, err := range map[string]error{"install": m.Install(t.Context(), hostile()), "remove": m.Remove(t.Context(), "alcove-7f"), "status": status} {
		if err == nil || !strings.Contains(err.Error(), "not made by alcove") {
			t.Errorf("%s: %v, want the error that the file was not made by alcove", name, err)
		}
	}
	if content, _ := os.ReadFile(path); string(content) != "[Unit]\n" || len(f.commands) > 0 {
		t.Errorf("the file has %q, after %q", content, f.commands)
	}
}

func TestWhatNoManagerCanBeToldIsRefused(t *testing.T) {
	m := managerOf(t, "linux", &fake{})
	for want, s := range map[string]Service{
		"letters, digits": {Name: "../x", Program: "/alcove"},
		"absolute":        {Name: "x", Program: "alcove"},
		"control":         {Name: "x", Program: "/alcove", Args: []string{"a\nExecStartPost=/bin/evil"}},
		"quotes":          {Name: "x", Program: `/opt/"alcove"`},
		"cannot be told":  {Name: "x", Program: "/alcove", Args: []string{"\xff"}},
	} {
		if err := m.Install(t.Context(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Install(%+v): %v, want an error that says %q", s, err, want)
		}
	}
	for _, system := range []string{"windows", "plan9"} {
		if _, err := New(Options{OS: system, Home: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "alcove serve at login") {
			t.Errorf("New for %s: %v, want the advice to start alcove serve at login", system, err)
		}
	}
	if _, err := New(Options{OS: "linux"}); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("without a home: %v", err)
	}
}
