package backup

import (
	"errors"
	"os"
)

const (
	blockSize = 1 << 20 // bytes per write: short enough not to delay a commit
	alignment = 4 << 10 // of writes that bypass the page cache
	syncEvery = 8 << 20 // bytes, on systems without such writes
)

// partFile is the file of a part. It validates what is written, and bounds unwritten data: a long sync at the end would
// delay the store's commits.
type partFile struct {
	f      *os.File
	parser *parser
	direct bool
	block  []byte
	filled int // of block
	synced int // bytes since the last sync
}

func newPartFile(f *os.File) (*partFile, error) {
	block, err := alignedBuffer(blockSize)
	return &partFile{f: f, parser: newParser(nil), direct: enableDirect(f), block: block}, err
}

func (w *partFile) Write(b []byte) (int, error) {
	if _, err := w.parser.Write(b); err != nil {
		return 0, err
	}
	for rest := b; len(rest) > 0; {
		n := copy(w.block[w.filled:], rest)
		rest, w.filled = rest[n:], w.filled+n
		if w.filled < len(w.block) {
			break
		}
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// flush writes the block. Only the last one may be short.
func (w *partFile) flush() error {
	if w.direct && w.filled%alignment != 0 {
		w.direct = false
		if !disableDirect(w.f) {
			return errors.New("switch the file from direct writes back to the page cache: the system refused it")
		}
	}
	n, err := w.f.Write(w.block[:w.filled])
	if w.direct && n == 0 && err != nil && disableDirect(w.f) { // a file system with larger blocks
		w.direct = false
		n, err = w.f.Write(w.block[:w.filled])
	}
	if w.synced += n; err == nil && !w.direct && w.synced >= syncEvery {
		w.synced = 0
		err = w.f.Sync()
	}
	w.filled = 0
	return err
}

// finish checks that the part is complete, syncs it, and closes the file in any case.
func (w *partFile) finish(err error) error {
	if err == nil {
		err = w.parser.finish()
	}
	if err == nil {
		err = w.flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	return errors.Join(err, w.f.Close(), freeBuffer(w.block))
}
