package backup

import (
	"bufio"
	"errors"
	"os"
)

// blockSize is the size of writes and of blobs' frames in bytes.
const blockSize = 1 << 20

// partFile is the file of a part. It validates what is written.
type partFile struct {
	f      *os.File
	out    *bufio.Writer
	parser *parser
}

func newPartFile(f *os.File) *partFile {
	return &partFile{f: f, out: bufio.NewWriterSize(f, blockSize), parser: newParser(nil)}
}

func (w *partFile) Write(b []byte) (int, error) {
	if _, err := w.parser.Write(b); err != nil {
		return 0, err
	}
	return w.out.Write(b)
}

// finish checks that the part is complete, syncs it, and closes the file in any case.
func (w *partFile) finish(err error) error {
	if err == nil {
		err = w.parser.finish()
	}
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	return errors.Join(err, w.f.Close())
}
