// Package fsync makes the names of files durable.
package fsync

import (
	"errors"
	"os"
	"runtime"
)

// Dir makes the names in a directory durable: fsync of a file does not cover its name. Windows,
// where the analyst's command also runs, has no such call.
func Dir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
