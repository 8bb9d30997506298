package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/ledger"
	"covey/internal/pki"
)

// TestUnopened: an error of a folder that cannot be opened says what to do; one of another fault
// stays as it is. A folder of another user is bad input, for which systemd does not try again. A
// full disk is not.
func TestUnopened(t *testing.T) {
	at := func(n syscall.Errno) error { return &fs.PathError{Op: "open", Path: "x", Err: n} }
	for _, c := range []struct {
		err  error
		says string
	}{
		{&pki.FileError{Path: "identity.key", Reason: "no such file", Err: at(syscall.ENOENT)}, "disk or volume mounted"},
		{&pki.FileError{Path: "identity.key", Reason: "permission denied", Err: at(syscall.EACCES)}, "run the agent as the user who owns 'a b'; let all in it be that user's (chown -R USER 'a b')"},
		{&ledger.StoreError{Op: "opened", Err: at(syscall.EROFS)}, "file system that can be written"},
		{at(syscall.ENOSPC), "df -i"},
		{at(syscall.EDQUOT), "df -i"},
		{at(syscall.EIO), ""},
		{at(syscall.ENOENT), ""},
		{pki.ErrNotJoined, ""},
	} {
		got := unopened(c.err, "a b")
		more, whole := strings.CutPrefix(got.Error(), c.err.Error())
		if !whole || !errors.Is(got, c.err) || (more == "") != (c.says == "") || !strings.Contains(more, c.says) {
			t.Errorf("%v, want %q", got, c.says)
		}
		if owner := strings.Contains(c.says, "chown") || strings.Contains(c.says, "written"); shared.Is[*shared.InputError](got) != owner {
			t.Errorf("%v is bad input: %v", got, !owner)
		}
	}
	if err := unopened(os.ErrClosed, "a"); err != os.ErrClosed {
		t.Error(err)
	}
}
