package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/build/image"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// carriedFamily is what a command says of a family that this program carries.
type carriedFamily struct {
	Family string  `json:"family"`
	Digest string  `json:"digest"`
	TookMS float64 `json:"took_ms,omitempty"`
	Error  string  `json:"error,omitempty"`
}

func (a *app) familyWarmCommand() *cobra.Command {
	return &cobra.Command{
		Use: "warm", Short: "Compile the built-in families into the cache", Args: noArguments,
		Example: `  alcove family warm`,
		Long: `Compile the built-in families into the cache of this user, so that their first
call does not wait. No server is needed: run it when you build a container image
or package.`,
		RunE: func(c *cobra.Command, _ []string) error {
			cache, err := a.moduleCache()
			if err != nil {
				return err
			}
			if cache.Dir == "" {
				return errors.New("there is no cache to compile the families into: choose its directory with --cache")
			}
			box, done, err := a.openSandbox()
			if err != nil {
				return err
			}
			defer done()
			return a.eachCarried(func(f image.Family) (carriedFamily, error) { return compiled(c.Context(), box, f) })
		},
	}
}

// compiled has a family compiled, or finds it in the cache. It stays in memory until the sandbox is closed, for the others of
// the same code.
func compiled(ctx context.Context, box *sandbox.Sandbox, f image.Family) (carriedFamily, error) {
	began := time.Now()
	_, err := box.AdmitSource(ctx, sandbox.Source{Digest: f.Digest, Manifest: []byte(f.Manifest), Read: sandbox.Hashed(f.Read)}, sandbox.Options{CompileTimeout: catalogue.CarriedTimeout, Body: f.Body(), Native: nativeOf(f)})
	return carriedFamily{TookMS: milliseconds(time.Since(began))}, err
}

// nativeOf is the native code that this program carries for a family; nil: none.
func nativeOf(f image.Family) *sandbox.Native {
	n := f.Native()
	if n == nil {
		return nil
	}
	return &sandbox.Native{Code: n.Code, Engine: n.Engine, Name: n.Name, Sum: n.Sum, Open: n.Open}
}

// eachCarried does something with each family that this program carries, and says what became of it. It fails if one failed.
func (a *app) eachCarried(do func(image.Family) (carriedFamily, error)) error {
	list, failed := []carriedFamily{}, error(nil)
	for _, f := range guests.All() {
		done, err := do(f)
		done.Family, done.Digest = f.Name, f.Digest
		if err != nil {
			done.Error = err.Error()
			failed = errors.Join(failed, fmt.Errorf("family %s: %w", f.Name, err))
		}
		list = append(list, done)
	}
	if a.asJSON {
		return errors.Join(a.printJSON(list), failed)
	}
	if len(list) == 0 {
		return a.printf("this program carries no families: it was built without make guests\n")
	}
	for _, f := range list {
		if f.Error != "" {
			continue // it is in the error
		}
		took := ""
		if f.TookMS > 0 {
			took = fmt.Sprintf(" in %.0f ms", f.TookMS)
		}
		if err := a.printf("ok %s %s%s\n", f.Family, f.Digest, took); err != nil {
			return err
		}
	}
	return failed
}
