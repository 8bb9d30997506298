package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"covey/internal/dataset"
	"covey/internal/pki"
	"covey/internal/siteconfig"
)

// hint returns what to do about a fault, where more is known than the code; empty where not. It may
// repeat names of the file's header: it is for this site's terminal and goes into no log.
func hint(code Code, err error) string {
	if _, ok := errors.AsType[*pki.ModeError](err); ok {
		return "chmod 600 the named file, which others on this machine may read"
	}
	if code == CheckKeys && errors.Is(err, fs.ErrPermission) {
		return "the key files are there, and this user may not read them: run agent check as the agent's user, or give the files to that user (chown)"
	}
	bad, ok := errors.AsType[*dataset.Error](err)
	switch {
	case !ok:
		return ""
	case bad.Remedy != "":
		return bad.Remedy
	case errors.Is(bad, fs.ErrNotExist):
		return "put the file back, or correct path, or dsn_file, of [[dataset]] in agent.toml: it is relative to agent.toml's folder"
	case errors.Is(bad, fs.ErrPermission):
		return "let the agent's user read it and enter the folders above it, and run agent check as that user"
	case len(bad.Near) > 0:
		return fmt.Sprintf("the data set has %q: if one of these is the column, name it under [dataset.columns] in agent.toml", bad.Near)
	case bad.Schema == dataset.SchemaColumns && strings.HasPrefix(bad.Reason, "none of the "):
		return "if the data set has the column under another name, write that name under [dataset.columns] in agent.toml; otherwise ask the analyst to change the study"
	case bad.Missing():
		return `ask the analyst for a study that takes missing values: missing = "fill" or "zero" keeps such rows, "drop-row" leaves them out; or complete the file`
	case code == CheckDryRun: // it read the rows before: the file is another one now
		return remedies[CheckData]
	}
	return ""
}

// unnamed returns the error, which has a remedy where a matrix without names lacks a column.
func unnamed(d siteconfig.Dataset, err error) error {
	if bad, ok := errors.AsType[*dataset.Error](err); ok && bad.Schema == dataset.SchemaColumns && bad.Remedy == "" {
		bad.Remedy = d.Unnamed()
	}
	return err
}

// asked returns the error, which has a remedy where a query's answer is at fault: it is in no file.
func asked(d siteconfig.Dataset, err error) error {
	bad, ok := errors.AsType[*dataset.Error](err)
	if ok && d.Query != "" && bad.Remedy == "" && !errors.Is(bad, fs.ErrNotExist) && !errors.Is(bad, fs.ErrPermission) {
		bad.Remedy = "correct query of [[dataset]] in agent.toml, or what it reads; agent data profile DATASET shows all faults"
	}
	return err
}

// writable writes a file in the agent's folder, and in each that the agent made there: a mode does
// not tell of a file system that is only read, or full, nor of the user who asks. The file has no
// name by then, so that none is left of a check that is cut short. It also opens the files without
// which the agent does not start, and changes nothing in them.
func writable(c *siteconfig.Config) error {
	for _, dir := range []string{c.DataDir(), c.LedgerDir(), c.CacheDir(), filepath.Join(c.DataDir(), "pending"), filepath.Join(c.DataDir(), "past")} {
		f, err := os.CreateTemp(dir, "check.*.tmp")
		if errors.Is(err, fs.ErrNotExist) && dir != c.DataDir() {
			continue // the agent makes it
		}
		if err == nil {
			err = os.Remove(f.Name())
			_, write := f.Write(make([]byte, room))
			err = errors.Join(err, write, f.Sync(), f.Close())
		}
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err // without the file's name, which is made up
		}
		if err != nil {
			return fmt.Errorf("%s: no file can be written in it: %w", dir, err)
		}
	}
	// Another user, such as root, may have put them there.
	kept := []string{filepath.Join(c.DataDir(), "egress.jsonl"), filepath.Join(c.DataDir(), "arrivals.json")}
	if all, err := os.ReadDir(c.LedgerDir()); err == nil {
		for _, e := range all {
			if !e.IsDir() {
				kept = append(kept, filepath.Join(c.LedgerDir(), e.Name()))
			}
		}
	}
	for _, path := range kept {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the agent makes it, or says what was lost
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return fmt.Errorf("this user may not write a file there: %w", err)
		}
	}
	return nil
}

// room is how much is written to see that a disk is not full, in bytes: a file system makes an
// empty file even so.
const room = 64 << 10
