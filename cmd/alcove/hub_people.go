package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

// person is somebody with a key of a hub, or an invitation.
type person struct {
	Name        string                `json:"name"`
	Devices     []operator.Key        `json:"devices"`
	Clients     []operator.Key        `json:"clients,omitempty"`
	Invitations []operator.Invitation `json:"invitations,omitempty"`
}

// people are those with a key that holds, or an invitation, by name.
func (a *app) people(ctx context.Context) ([]*person, error) {
	list, err := query(ctx, a, operator.ListKeys)
	if err != nil {
		return nil, err
	}
	invited, err := query(ctx, a, operator.ListInvitations)
	if err != nil {
		return nil, err
	}
	byName, byKey := map[string]*person{}, map[string]*person{}
	of := func(name string) *person {
		if byName[name] == nil {
			byName[name] = &person{Name: name, Devices: []operator.Key{}}
		}
		return byName[name]
	}
	for _, k := range list.Keys {
		if k.Holds(time.Now()) == nil && k.By == nil {
			p := of(k.Agent)
			p.Devices, byKey[k.ID] = append(p.Devices, k), p
		}
	}
	for _, k := range list.Keys {
		if k.Holds(time.Now()) == nil && k.By != nil && k.By.Client != nil && byKey[k.By.Parent] != nil {
			p := byKey[k.By.Parent]
			p.Clients = append(p.Clients, k)
		}
	}
	for _, i := range invited {
		p := of(i.Agent)
		p.Invitations = append(p.Invitations, i)
	}
	all := make([]*person, 0, len(byName))
	for _, p := range byName {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *person) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func (a *app) hubListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the people, with their devices, clients and invitations", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := a.people(c.Context())
			if err != nil {
				return err
			}
			return printEach(a, all, a.printPerson)
		},
	}
}

func (a *app) printPerson(p *person) error {
	err := a.printf("%s\n", p.Name)
	for _, k := range p.Devices {
		if err == nil {
			err = a.printf("  %s  device %s  %s in %s  %s\n", k.ID, cmp.Or(k.Device, "unnamed"), joined(k.Rights), joined(k.Namespaces), keyState(k, time.Now()))
		}
	}
	for _, k := range p.Clients {
		if err == nil {
			err = a.printf("  %s  client %s  %s in %s  %s\n", k.ID, k.By.Client.Name, joined(k.Rights), joined(k.Namespaces), keyState(k, time.Now()))
		}
	}
	for _, i := range p.Invitations {
		if err == nil {
			err = a.printf("  %s  invited until %s  %s in %s\n", i.ID, clock(i.Until), joined(i.Rights), joined(i.Namespaces))
		}
	}
	return err
}

func (a *app) hubRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Revoke the keys of a person and their clients, and their invitations, immediately", Args: arguments(1, 1),
		Long: `Revoke all keys of a person, with those of their clients, and withdraw their invitations. One device goes with alcove key revoke ID. What
they stored stays.`,
		RunE: func(c *cobra.Command, args []string) error { return a.removePerson(c.Context(), args[0]) },
	}
}

func (a *app) removePerson(ctx context.Context, name string) error {
	all, err := a.people(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(p *person) bool { return p.Name == name })
	if at < 0 {
		return &usageError{fmt.Errorf("there is no person %.100q: alcove hub list shows all", name)}
	}
	p := all[at]
	for _, i := range p.Invitations {
		if _, err := call(ctx, a, operator.WithdrawInvitation, operator.InvitationID{ID: i.ID}); err != nil {
			return err
		}
	}
	for _, k := range p.Devices {
		if _, err := call(ctx, a, operator.RevokeKey, operator.KeyID{ID: k.ID}); err != nil {
			return err
		}
	}
	if a.asJSON {
		return a.printJSON(p)
	}
	return a.printf("removed %s: %s, %s and %s\n", p.Name, counted(len(p.Devices), "device"), counted(len(p.Clients), "client"), counted(len(p.Invitations), "invitation"))
}
