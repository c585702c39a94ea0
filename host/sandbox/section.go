package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
)

// ReadManifest reads a module's manifest without validating the rest of the module. Admit validates it.
func ReadManifest(module []byte) (*abi.Manifest, error) {
	data, err := ManifestBytes(module)
	if err != nil {
		return nil, err
	}
	return abi.ParseManifest(data)
}

// ManifestBytes returns the bytes of a module's manifest.
func ManifestBytes(module []byte) ([]byte, error) {
	if len(module) < 8 || string(module[:4]) != "\x00asm" {
		return nil, errors.New("it is not a WebAssembly module")
	}
	for rest := module[8:]; len(rest) > 0; {
		id := rest[0]
		content, after, err := sized(rest[1:])
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
		rest = after
		if id != 0 {
			continue
		}
		name, data, err := sized(content)
		if err != nil {
			return nil, fmt.Errorf("a custom section: %w", err)
		}
		if string(name) == abi.Section {
			return data, nil
		}
	}
	return nil, fmt.Errorf("it has no section %s: pack it with alcove family pack", abi.Section)
}

// sized takes bytes that follow their length.
func sized(data []byte) (content, rest []byte, err error) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return nil, nil, errors.New("it is cut off")
	}
	return data[used : used+int(n)], data[used+int(n):], nil
}
