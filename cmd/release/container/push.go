package container

import (
	"context"
	"fmt"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/alcove-memory/alcove/cmd/release/product"
	registry "github.com/alcove-memory/alcove/registry/oci"
)

// Push copies the image of a release to a reference such as Reference(r), with the credentials of docker login. plainHTTP is for a
// registry on this machine.
func Push(ctx context.Context, r product.Release, reference string, plainHTTP bool) error {
	from, err := oci.NewFromTar(ctx, File(r))
	if err != nil {
		return fmt.Errorf("open the image: %w", err)
	}
	to, err := remote.NewRepository(reference)
	if err != nil {
		return fmt.Errorf("push to %s: %w", reference, err)
	}
	login, err := registry.Docker()
	if err != nil {
		return err
	}
	to.PlainHTTP = plainHTTP
	to.Client = &auth.Client{Credential: auth.CredentialFunc(login), Cache: auth.NewCache()}
	if _, err := oras.Copy(ctx, from, Reference(r), to, to.Reference.Reference, oras.DefaultCopyOptions); err != nil {
		return fmt.Errorf("push to %s: %w", reference, err)
	}
	return nil
}
