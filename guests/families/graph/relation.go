package graph

import (
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// related is the relation of links for which none is given.
const related = "related_to"

// relations are the known ones. Any other begins with x: .
var relations = []string{
	related, "supersedes", "contradicts", "derived_from", "before", "after", "during", "caused_by", "led_to", "part_of", "depends_on",
	"works_with", "created_by",
}

// own begins the names of relations that are not known.
const own = "x:"

// mostRelation is the length of the longest relation, in bytes.
const mostRelation = 128

// checkRelation is the relation of a link as it is stored, or an error that lists the known ones.
func checkRelation(relation string) (string, error) {
	if relation == "" {
		return related, nil
	}
	name, mine := strings.CutPrefix(relation, own)
	if slices.Contains(relations, relation) || mine && isName(name) {
		return relation, nil
	}
	return "", alcove.Errorf(alcove.InvalidArgument, "%q is no relation: use one of %s, or %s and a name of up to %d letters, digits and . _ -", relation, strings.Join(relations, ", "), own, mostRelation)
}

func isName(name string) bool {
	strange := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
	return name != "" && len(name) <= mostRelation && !strange
}
