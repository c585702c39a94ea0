package service

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// systemd keeps services as units of the user.
type systemd struct{ options Options }

func (d systemd) unit(name string) string { return name + ".service" }

func (d systemd) file(name string) string {
	config := cmp.Or(d.options.Config, filepath.Join(d.options.Home, ".config"))
	return filepath.Join(config, "systemd", "user", d.unit(name))
}

func (d systemd) describe(s Service) ([]byte, error) {
	if strings.ContainsAny(s.Program, `"'\`) {
		return nil, fmt.Errorf("systemd runs no program with quotes or backslashes in its path, got %s: move it", s.Program)
	}
	command := []string{quoted(s.Program)}
	for _, arg := range s.Args {
		command = append(command, strings.ReplaceAll(quoted(arg), "$", "$$"))
	}
	// It starts again and again: while a server that was started on demand has the data directory, it has to wait.
	return fmt.Appendf(nil, `# %s. Changes are lost when it is installed again.
[Unit]
Description=Alcove memory server
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=%s
Restart=on-failure
RestartSec=5
TimeoutStopSec=30
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`, mark, strings.Join(command, " ")), nil
}

// quoted quotes a word of a unit's command line.
func quoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

func (d systemd) enable(name string) [][]string {
	return [][]string{
		{"systemctl", "--user", "daemon-reload"},
		{"systemctl", "--user", "enable", "--now", d.unit(name)},
	}
}

func (d systemd) disable(name string) [][]string {
	return [][]string{{"systemctl", "--user", "disable", "--now", d.unit(name)}}
}

func (d systemd) forget(string) [][]string {
	return [][]string{{"systemctl", "--user", "daemon-reload"}}
}

func (d systemd) status(ctx context.Context, name string) (Status, error) {
	s := Status{Name: d.unit(name)}
	out, err := d.options.Run(ctx, "systemctl", "--user", "show", "--property=ActiveState,SubState,UnitFileState,MainPID", d.unit(name))
	if err != nil {
		return s, fmt.Errorf("ask systemd for %s: %w: %s", d.unit(name), err, strings.TrimSpace(out))
	}
	values := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
	}
	s.State, s.Enabled = values["ActiveState"], values["UnitFileState"] == "enabled"
	if sub := values["SubState"]; sub != "" && sub != "running" {
		s.State += " (" + sub + ")"
	}
	s.PID, _ = strconv.Atoi(values["MainPID"]) // 0: none
	return s, nil
}
