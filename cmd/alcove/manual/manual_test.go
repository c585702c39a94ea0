package manual

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestAPageKeepsIndentedLinesAndEscapesRequests(t *testing.T) {
	c := &cobra.Command{Use: "tea POT", Short: `Brew \ it`, Long: "One line\nand another.\n\n  as it is\n.not a request", Example: "  tea pot", Aliases: []string{"chai"}, Run: func(*cobra.Command, []string) {}}
	c.Flags().IntP("minutes", "m", 3, "how many `minutes` it draws")
	c.Flags().Bool("secret", false, "not told")
	if err := c.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	files, err := Files(c)
	if err != nil {
		t.Fatal(err)
	}
	got := string(files["man/man1/tea.1"])
	want := `.TH TEA 1 "" "tea " "Commands of tea"
.SH NAME
tea \- Brew \e it
.SH SYNOPSIS
\fBtea POT [flags]\fR
.PP
Also called: chai
.SH DESCRIPTION
One line
and another.
.PP
.PP
.nf
  as it is
.fi
\&.not a request
.SH EXAMPLES
.PP
.nf
  tea pot
.fi
.SH OPTIONS
.TP
\fB\-m, \-\-minutes\fR \fIminutes\fR
how many minutes it draws (default 3)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, shell := range []string{"tea.bash", "_tea", "tea.fish", "tea.ps1"} {
		if text := string(files["completions/"+shell]); !strings.Contains(text, "__complete") {
			t.Errorf("the completion %s asks the program nothing: %.100s", shell, text)
		}
	}
}
