package agent

import (
	"errors"
	"io/fs"
	"os"
)

// spare is what a result that is fetched leaves of the disk: a ledger that finds it full ends the
// agent, and its studies wait.
const spare = 16 << 20

var errSpare = errors.New("less than 16 MB of the disk would be left for the ledger")

// roomy writes to a file as long as its disk keeps what is spare.
type roomy struct {
	*os.File
	free func(*os.File) (bytes uint64, known bool)
}

// Write writes all of b or, where too little would be left, nothing.
func (w roomy) Write(b []byte) (int, error) {
	if free, known := w.free(w.File); known && free < spare+uint64(len(b)) {
		return 0, &fs.PathError{Op: "write", Path: w.Name(), Err: errSpare}
	}
	return w.File.Write(b)
}
