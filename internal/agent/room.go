package agent

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// spare is how much free disk a fetched result must leave: a ledger that finds the disk full ends
// the agent, and its studies wait.
const spare = 16 << 20

var errSpare = errors.New("less than 16 MB of the disk would be left for the ledger")

// roomy writes to a file as long as its disk keeps what is spare. The file has other ways to be
// written, which it does not offer.
type roomy struct {
	file *os.File
	free func(*os.File) (bytes uint64, known bool)
}

// Write writes all of b or, where too little would be left, nothing.
func (w roomy) Write(b []byte) (int, error) {
	if free, known := w.free(w.file); known && free < spare+uint64(len(b)) {
		return 0, &fs.PathError{Op: "write", Path: w.file.Name(), Err: errSpare}
	}
	return w.file.Write(b)
}

// taken returns a file of a folder, at its beginning, with what write wrote as long as the disk
// kept what is spare. It is gone once it is closed.
func taken(dir string, free func(*os.File) (bytes uint64, known bool), write func(io.Writer) error) (*os.File, error) {
	file, err := os.CreateTemp(dir, "result-*")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(file.Name()); err == nil {
		err = write(roomy{file, free})
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
