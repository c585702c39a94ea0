package clients

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// day is what a client does from its first connection to the last.
type day struct{ kind, transport string }

func days() (list []day) {
	for _, transport := range transports {
		for _, kind := range []string{"sdk", "inspector", "mcporter", "langchain", "ai-sdk", "mcp-use", "mastra"} {
			list = append(list, day{kind, transport})
		}
	}
	return list
}

// TestClientsAndFrameworksSpendADay has the clients of seven packages connect, find a tool, load a family, call, read a resource and a prompt,
// cancel, outlive a kill of the server, and connect again. Their packages are many, so this runs on one day of seven.
func TestClientsAndFrameworksSpendADay(t *testing.T) {
	if !stress.Turn(t, 7) {
		t.Skip("it is not the day of this test")
	}
	program := build(t, "-tags", "guests")
	t.Chdir("days")
	nodejs.Install(t, "days")
	node := pinnedNode(t)
	for _, d := range stress.Pick(t, 4, days()) {
		t.Run(d.kind+"/"+d.transport, func(t *testing.T) { d.spend(t, node, program) })
	}
}

func (d day) spend(t *testing.T, node, program string) {
	dir, address := t.TempDir(), freeAddress(t)
	server := launch(t, program, dir, address)
	client := command(t, runWithin, node, "day.mjs", d.kind, configurations(t, program, dir)[d.transport])
	client.Stderr = t.Output()
	in, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	awaitLine(t, said, "kill")
	kill(server)
	launch(t, program, dir, address)
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	t.Log(awaitLine(t, said, "ok "+d.kind))
	d.ends(t, client)
}

func (d day) ends(t *testing.T, client *exec.Cmd) {
	t.Helper()
	if err := client.Wait(); err != nil {
		t.Errorf("%s ended with %v, want no error", d.kind, err)
	}
}

// awaitLine reads until a line begins as is wanted: some clients log to their standard output.
func awaitLine(t *testing.T, r *bufio.Reader, want string) string {
	t.Helper()
	var before strings.Builder
	for {
		line, err := r.ReadString('\n')
		if strings.HasPrefix(line, want) {
			return strings.TrimSpace(line)
		}
		if before.WriteString(line); err != nil {
			t.Fatalf("got %v after %q, want a line %q", err, before.String(), want)
		}
	}
}
