//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHeaderOfAPipe: a header is read from a pipe that has one line and then blocks: no value is
// waited for.
func TestHeaderOfAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	writer := make(chan *os.File, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString("age,bmi\n")
		}
		if err != nil {
			t.Error(err)
		}
		writer <- f // stays open: nobody writes the end
	}()
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"study", "init", "--header", path}, &out, &said); code != 0 || !strings.Contains(out.String(), `"age", "bmi",`) {
		t.Errorf("exit status %d, %s\n%s", code, said.String(), out.String())
	}
	(<-writer).Close()
}
