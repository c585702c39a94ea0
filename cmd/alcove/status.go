package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/registry"
)

func (a *app) statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Show the totals and health of the memory", Args: noArguments,
		Long: `Show the totals and health of the memory, and how its server differs from the configuration file that was applied last. With --admin, show
an operator of another machine how that server is: nothing that agents know.`,
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		if a.elsewhere.admin != "" && a.elsewhere.url == "" {
			return a.showOperated(c.Context())
		}
		return a.showStatus(c.Context())
	}
	return a.scoped(c)
}

func (a *app) showStatus(ctx context.Context) error {
	r, err := a.answered(ctx, "memory_status", fields{})
	if err != nil {
		return err
	}
	d := a.drift(ctx)
	if a.asJSON {
		answer, err := withDrift(r.Structured, d)
		if err != nil {
			return err
		}
		return a.printJSON(answer)
	}
	if err := a.printNotes(append(r.Notes, notesIn(r.Structured)...)); err != nil {
		return err
	}
	if err := a.printFields(embeddingInWords(r.Structured)); err != nil {
		return err
	}
	return errors.Join(a.printPlace(), a.printShared(ctx), a.printDrift(d))
}

// withDrift adds to a status how the server differs from its configuration file.
func withDrift(status json.RawMessage, d *drift) (json.RawMessage, error) {
	if d == nil {
		return status, nil
	}
	member, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write the status: %w", err)
	}
	return fmt.Appendf(nil, `%s,"configuration":%s}`, bytes.TrimSuffix(bytes.TrimSpace(status), []byte("}")), member), nil
}

func (a *app) printDrift(d *drift) error {
	if d == nil {
		return nil
	}
	return a.printField("configuration", d.String())
}

// serverStatus is what an operator of another machine sees of a server.
type serverStatus struct {
	Server string `json:"server"`
	operator.Health
	Audit         operator.AuditHead `json:"audit,omitzero"` // the last entry of the audit log
	Configuration *drift             `json:"configuration,omitempty"`
}

// showOperated shows how a server of another machine is.
func (a *app) showOperated(ctx context.Context) error {
	o := serverStatus{Server: a.elsewhere.admin}
	err := a.asOperator(ctx, func(s operator.Server) (err error) {
		if o.Health, err = operator.Query(ctx, s, operator.GetHealth); err == nil {
			o.Audit, err = operator.Query(ctx, s, operator.GetAuditHead)
		}
		return err
	})
	if err != nil {
		return err
	}
	o.Configuration = a.drift(ctx)
	if a.asJSON {
		return a.printJSON(o)
	}
	health := "ok"
	switch {
	case o.Fault != "":
		health = "nothing is stored any more: " + o.Fault
	case o.Following != "":
		health = o.Following
	case o.ReadOnly:
		health = "can only be read"
	}
	err = errors.Join(a.printField("server", o.Server), a.printField("health", health), a.printField("locked", fmt.Sprint(o.Locked)))
	if o.WithoutFamilies != "" {
		err = errors.Join(err, a.printField("families", "none: "+o.WithoutFamilies))
	}
	if o.Audit.Seq > 0 {
		err = errors.Join(err, a.printField("audit head", fmt.Sprintf("%d:%s", o.Audit.Seq, o.Audit.Hash)))
	}
	return errors.Join(err, a.printDrift(o.Configuration))
}

// embeddingInWords says in words whether stored text is embedded.
func embeddingInWords(status json.RawMessage) json.RawMessage {
	const off, on = `"auto_embed":false`, `"auto_embed":true`
	status = bytes.Replace(status, []byte(off), []byte(`"search":"by words: alcove embedder use builtin adds meaning"`), 1)
	return bytes.Replace(status, []byte(on), []byte(`"search":"by words and meaning"`), 1)
}

// printPlace says where the memory is, and which process serves it.
func (a *app) printPlace() error {
	if a.elsewhere.url != "" {
		return a.printField("server", a.elsewhere.url)
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	r, err := owner.ReadRecord(dir)
	if err != nil { // of a directory that cannot be written
		return a.printField("data", dir)
	}
	if l, err := registry.Read(dir); err == nil {
		if err := a.printField("posture", string(l.PostureInForce())); err != nil {
			return err
		}
	}
	serves := "off"
	if r.HTTP != "" {
		serves = r.URL() + "/mcp"
	}
	return errors.Join(a.printField("data", dir), a.printField("process", fmt.Sprintf("%d, since %s", r.PID, clock(r.Started))), a.printField("HTTP", serves))
}
