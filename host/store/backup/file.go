package backup

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/alcove-memory/alcove/host/store/sealing"
)

// blockSize is the size of writes and of blobs' frames in bytes.
const blockSize = 1 << 20

// partFile is the file of a part. It validates what is written.
type partFile struct {
	f      *os.File
	out    *bufio.Writer
	sealed io.WriteCloser // to out
	parser *parser
}

func newPartFile(f *os.File, by *sealing.Sealer) (*partFile, error) {
	w := &partFile{f: f, out: bufio.NewWriterSize(f, blockSize), parser: newParser(nil)}
	var err error
	if w.sealed, err = by.Seal(w.out); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

func (w *partFile) Write(b []byte) (int, error) {
	if _, err := w.parser.Write(b); err != nil {
		return 0, err
	}
	return w.sealed.Write(b)
}

// finish checks that the part is complete, syncs it, and closes the file in any case.
func (w *partFile) finish(err error) error {
	if err == nil {
		err = w.parser.finish()
	}
	if err == nil {
		err = w.sealed.Close()
	}
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	return errors.Join(err, w.f.Close())
}
