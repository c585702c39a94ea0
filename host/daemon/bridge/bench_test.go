package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
)

// BenchmarkACall sends calls through a bridge, over pipes and a socket as a client and an owner have them, to an owner that answers at
// once. What it takes beyond the system calls is the bridge's own work.
func BenchmarkACall(b *testing.B) {
	l, err := net.Listen("unix", b.TempDir()+"/s")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r := bufio.NewReader(conn)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			from := len(`{"jsonrpc":"2.0","id":`)
			to := from
			for line[to] != ',' {
				to++
			}
			fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"{\"key\":\"k\",\"value\":\"words to recall\"}"}],"structuredContent":{"found":true,"key":"k","value":"words to recall","version":3,"timestamp":"2026-01-02T03:04:05Z"}}}`+"\n", line[from:to])
		}
	}()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.Background(), Options{In: inRead, Out: outWrite, Dial: func(context.Context, SessionState) (io.ReadWriteCloser, error) {
			return net.Dial("unix", l.Addr().String())
		}})
	}()
	out := bufio.NewReader(outRead)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		fmt.Fprintf(inWrite, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_recall","arguments":{"key":"k"}}}`+"\n", i)
		if _, err := out.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	inWrite.Close()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}
