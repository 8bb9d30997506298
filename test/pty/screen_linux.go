package pty

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Screen returns what a terminal of so many columns gets of what print writes to it.
func Screen(t testing.TB, columns int, print func(io.Writer)) string {
	t.Helper()
	all, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	number, err := unix.IoctlGetInt(int(all.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(all.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(all.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)})
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer terminal.Close()
		print(terminal)
	}()
	got, _ := io.ReadAll(all) // its error is that of a terminal which nobody has open any more
	return strings.ReplaceAll(string(got), "\r\n", "\n")
}
