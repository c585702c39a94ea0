package service

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// launchd keeps services as agents of the user.
type launchd struct{ options Options }

func (d launchd) label(name string) string  { return "org.alcove-memory." + name }
func (d launchd) domain() string            { return "gui/" + strconv.Itoa(d.options.UID) }
func (d launchd) target(name string) string { return d.domain() + "/" + d.label(name) }

func (d launchd) file(name string) string {
	return filepath.Join(d.options.Home, "Library", "LaunchAgents", d.label(name)+".plist")
}

func (d launchd) describe(s Service) ([]byte, error) {
	var command strings.Builder
	for _, word := range append([]string{s.Program}, s.Args...) {
		fmt.Fprintf(&command, "\t\t<string>%s</string>\n", escaped(word))
	}
	log := filepath.Join(d.options.Home, "Library", "Logs", d.label(s.Name)+".log")
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- %s. Changes are lost when it is installed again. -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
%s	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>5</integer>
	<key>ExitTimeOut</key>
	<integer>30</integer>
	<key>Umask</key>
	<integer>63</integer>
	<key>ProcessType</key>
	<string>Background</string>
	<key>StandardErrorPath</key>
	<string>%s</string>
</dict>
</plist>
`, mark, escaped(d.label(s.Name)), command.String(), escaped(log)), nil
}

// escaped escapes text for XML.
func escaped(text string) string {
	var out bytes.Buffer
	xml.EscapeText(&out, []byte(text)) // a buffer takes all
	return out.String()
}

func (d launchd) enable(name string) [][]string {
	return [][]string{
		{"launchctl", "enable", d.target(name)},
		{"launchctl", "bootstrap", d.domain(), d.file(name)},
	}
}

func (d launchd) disable(name string) [][]string {
	return [][]string{{"launchctl", "bootout", d.target(name)}}
}

func (d launchd) forget(string) [][]string { return nil }

func (d launchd) status(ctx context.Context, name string) (Status, error) {
	s := Status{Name: d.label(name), Enabled: true}
	out, err := d.options.Run(ctx, "launchctl", "print", d.target(name))
	if err != nil { // it is not loaded, which has no code of its own
		s.Enabled, s.State = false, "not loaded"
		return s, nil
	}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case key == "state" && s.State == "":
			s.State = value
		case key == "pid" && s.PID == 0:
			s.PID, _ = strconv.Atoi(value) // 0: none
		}
	}
	return s, nil
}
