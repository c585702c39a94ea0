package operator

import (
	"context"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// Person is an operator, as far as the server knows who it is.
type Person struct {
	Name   string // of the user, or of the operator's key; empty: not known
	UID    int    // of the user's process; negative: it is not known
	Role   Role   // empty: Admin
	Via    string // how, such as "the console"; empty: the socket
	From   string // the address, or what a certificate says; empty: this machine
	Reason string // as the operator gave it
}

// UserOf returns the person whose process has a uid on this machine; negative: it is not known.
func UserOf(uid int) Person {
	p := Person{UID: uid}
	if u, err := user.LookupId(strconv.Itoa(uid)); uid >= 0 && err == nil {
		p.Name = u.Username
	}
	return p
}

func (p Person) String() string {
	parts := []string{p.Name}
	if p.UID >= 0 {
		parts = append(parts, fmt.Sprintf("uid %d", p.UID))
	}
	parts = append(parts, string(p.Role), p.Via, p.From)
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// may returns the person's role: who reaches the server without one is a process of its own user.
func (p Person) may() Role {
	if p.Role == "" {
		return Admin
	}
	return p.Role
}

type personKey struct{}

// By returns a context of acts that a person carries out.
func By(ctx context.Context, p Person) context.Context {
	return context.WithValue(ctx, personKey{}, p)
}

// PersonOf returns who carries out an act; a process that is not known, if the context does not say.
func PersonOf(ctx context.Context) Person {
	if p, ok := ctx.Value(personKey{}).(Person); ok {
		return p
	}
	return Person{UID: -1, Via: "the server's process"}
}
