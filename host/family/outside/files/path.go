package files

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/abi"
)

// Limits of paths.
const (
	longestPath = 1024 // bytes
	longestName = 255
	deepest     = 32 // names in a path
)

// reserved are the names that are devices on Windows, whatever follows a dot.
const reserved = " con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9 conin$ conout$ "

// checkPath refuses what is no relative path of plain names on every system.
func checkPath(p string) error {
	bad := func(why string) error {
		return refuse(abi.CodeInvalidArgument, "the path %.128q %s: give names below the root, with / between them", p, why)
	}
	switch {
	case p == "":
		return bad("is empty")
	case len(p) > longestPath:
		return bad("is too long")
	case !utf8.ValidString(p):
		return bad("is not UTF-8")
	case strings.ContainsFunc(p, unicode.IsControl):
		return bad("has a control character")
	case strings.ContainsAny(p, `\:*?"<>|`):
		return bad(`has one of \ : * ? " < > |`)
	case strings.HasPrefix(p, "/"):
		return bad("is absolute")
	}
	names := strings.Split(p, "/")
	if len(names) > deepest {
		return bad("has too many folders")
	}
	for _, name := range names {
		base, _, _ := strings.Cut(name, ".")
		switch {
		case name == "":
			return bad("has an empty name")
		case name == "." || name == "..":
			return bad("has the name " + name)
		case strings.HasPrefix(name, "."):
			return bad("has a name that begins with a dot")
		case len(name) > longestName:
			return bad("has a name that is too long")
		case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || strings.HasPrefix(name, " "):
			return bad("has a name with a blank or a dot at its end")
		case strings.Contains(reserved, " "+strings.ToLower(strings.TrimRight(base, " "))+" "):
			return bad("has the name of a device")
		}
	}
	return nil
}
