package acts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/operator"
)

// recently is how long a family's trouble is a worry.
const recently = 24 * time.Hour

// diagnose says what needs attention. The store comes first.
func (a Acts) diagnose(ctx context.Context) ([]operator.Finding, error) {
	store, err := a.examineStore(ctx)
	if err != nil {
		return nil, err
	}
	if a.Space.Follower != nil {
		return slices.Concat([]operator.Finding{store, a.examineFollowing()}, a.examineEmbedders(), a.examineFamilies(ctx)), nil
	}
	return slices.Concat([]operator.Finding{store, a.examineBackup(ctx)}, a.examineEmbedders(), a.examineFamilies(ctx)), nil
}

func (a Acts) examineStore(ctx context.Context) (operator.Finding, error) {
	h, err := a.health(ctx)
	switch {
	case err != nil:
		return operator.Finding{}, err
	case h.Fault != "":
		return operator.Finding{What: "store", Is: operator.Bad, Command: "alcove backup FOLDER", Says: "nothing can be stored: " + h.Fault +
			". What the server has open can still be saved: alcove backup FOLDER. Put the files back, or end the server, and the next command serves what is there then"}, nil
	case a.Space.Follower != nil:
		return operator.Finding{What: "store", Is: operator.Fine, Says: "open, and a copy that takes no writes"}, nil
	case h.ReadOnly:
		return operator.Finding{What: "store", Is: operator.Noted, Says: "can only be read"}, nil
	}
	return operator.Finding{What: "store", Is: operator.Fine, Says: "open, and where the server opened it"}, nil
}

// examineFollowing says how far a copy is, and whether it goes on.
func (a Acts) examineFollowing() operator.Finding {
	f := operator.Finding{What: "following", Is: operator.Fine, Says: a.Space.Following(a.Clock())}
	if a.Space.Follower.Status().Error != "" {
		f.Is = operator.Bad
	}
	return f
}

// examineBackup says how old the last backup is, which is for the operator to judge.
func (a Acts) examineBackup(ctx context.Context) operator.Finding {
	d, err := a.durability(ctx)
	switch {
	case err != nil:
		return operator.Finding{What: "backup", Is: operator.Noted, Says: "unknown: " + err.Error()}
	case d.Backup.IsZero():
		return operator.Finding{What: "backup", Is: operator.Noted, Says: "none was made: alcove backup FOLDER", Command: "alcove backup FOLDER"}
	}
	return operator.Finding{What: "backup", Is: operator.Fine, Says: fmt.Sprintf("the last one is of %s; versions since: %d", clock(d.Backup), d.Unsaved)}
}

// examineEmbedders says how far each embedder is.
func (a Acts) examineEmbedders() (found []operator.Finding) {
	for _, e := range a.Space.Embedders.States() {
		f := operator.Finding{What: "embedder " + e.Name, Is: operator.Fine, Says: fmt.Sprintf("%d vectors, %d waiting", e.Vectors, e.Waiting)}
		if e.Error != "" {
			f.Is, f.Says = operator.Bad, f.Says+"; "+e.Error
		}
		found = append(found, f)
	}
	return found
}

// examineFamilies says which families cannot be used, and which wait for an operator's decision.
func (a Acts) examineFamilies(ctx context.Context) (found []operator.Finding) {
	if a.Space.Follower != nil {
		return []operator.Finding{{What: "families", Is: operator.Noted, Says: a.Space.Without.Error()}}
	}
	if a.Space.Without != nil {
		return []operator.Finding{{What: "families", Is: operator.Bad, Says: "the server runs without tool families: " + a.Space.Without.Error()}}
	}
	if a.Space.Families == nil {
		return []operator.Finding{{What: "families", Is: operator.Noted, Says: "unknown: " + a.withFamilies().Error()}}
	}
	uses, err := a.Space.Families.Uses(ctx)
	if err != nil {
		return []operator.Finding{{What: "families", Is: operator.Noted, Says: "unknown: " + err.Error()}}
	}
	for _, u := range uses {
		found = append(found, troubled(u, a.Clock())...)
		if u.Cut != nil {
			found = append(found, operator.Finding{What: "family " + u.Family, Is: operator.Noted, Says: "was not notified of " + u.Cut.String()})
		}
	}
	for _, f := range a.Space.Families.All() {
		found = append(found, decided(f)...)
	}
	return found
}

// decided says what an operator has to decide about a family.
func decided(f operator.Family) (found []operator.Finding) {
	name := f.Manifest.Name
	add := func(is operator.Opinion, command, format string, args ...any) {
		found = append(found, operator.Finding{What: "family " + name, Is: is, Says: fmt.Sprintf(format, args...), Command: command})
	}
	switch {
	case f.Fault != "" && f.Grant.Disabled:
		add(operator.Noted, "", "cannot be used: %s", f.Fault)
	case f.Fault != "":
		add(operator.Bad, "", "cannot be used: %s", f.Fault)
	}
	switch g := f.Guard; {
	case g != nil && g.Missing != "":
		without := "alcove family revoke " + name + " store"
		add(operator.Bad, without, "nothing is stored: version %s serves its store hook, and %s; %s does without it", g.Version, g.Missing, without)
	case g != nil && f.GrantCommand != "":
		add(operator.Noted, f.GrantCommand, "version %s serves its store hook until this one is granted it: %s", g.Version, f.GrantCommand)
	case g != nil:
		add(operator.Fine, "", "version %s serves its store hook", g.Version)
	case f.Update != nil:
		add(operator.Noted, f.GrantCommand, "lacks the grants of version %s: %s", f.Update.Version, f.GrantCommand)
	case len(f.NewlyAsked) > 0:
		add(operator.Noted, f.GrantCommand, "this release newly asks for %s: %s", strings.Join(f.NewlyAsked, ", "), f.GrantCommand)
	}
	return found
}

// troubled says what went wrong with a family lately.
func troubled(u operator.FamilyUse, now time.Time) (found []operator.Finding) {
	what, info := "family "+u.Family, "alcove family info "+u.Family
	if u.Resting {
		found = append(found, operator.Finding{What: what, Is: operator.Bad, Command: info,
			Says: "its hooks failed repeatedly and are suspended for a while: the server's log says why; " + info + " shows what it may do"})
	}
	for _, t := range u.Troubles {
		switch {
		case now.Sub(t.Last) > recently:
		case t.Kind == "ungranted":
			found = append(found, operator.Finding{What: what, Is: operator.Noted, Command: info,
				Says: fmt.Sprintf("was refused %d operations, last at %s: %s; if it needs that, grant it: %s", t.Count, clock(t.Last), t.Says, info)})
		default:
			remove := "alcove family remove " + u.Family
			found = append(found, operator.Finding{What: what, Is: operator.Bad, Command: remove,
				Says: fmt.Sprintf("failed %d times since the server started (%s), last at %s: %s; if this continues, tell its author, or remove it: %s",
					t.Count, t.Kind, clock(t.Last), t.Says, remove)})
		}
	}
	return found
}

// clock writes an instant as the operator's clock shows it.
func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000") }
