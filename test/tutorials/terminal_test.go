//go:build tutorials && linux

package tutorials

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a reader waits for anything.
const patience = 2 * time.Minute

// A terminal is a pseudo-terminal with a shell in it, as a reader has one.
type terminal struct {
	master *os.File
	shell  *exec.Cmd

	mu   sync.Mutex
	more *sync.Cond
	out  strings.Builder // all that was printed; under mu
	over bool            // the shell is gone; under mu
}

// prompt is what the shell prints when a command is over, with its exit status; passing is what
// does not stay in a line: prompts, and progress that is written over.
var (
	prompt  = regexp.MustCompile(`<<(\d+)>> $`)
	passing = regexp.MustCompile(`(?m)<<\d+>> |^.*\r|\x1b\[K`)
)

// open starts a shell in a new terminal. The test's cleanup ends it.
func open(t *testing.T, shell *exec.Cmd) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	err = control(master, func(fd int) (err error) {
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err == nil {
			err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	// What is typed is not shown, and lines end as in a file.
	mode, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err == nil {
		mode.Lflag &^= unix.ECHO
		mode.Oflag &^= unix.ONLCR
		err = unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, mode)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 120})
	}
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{master: master, shell: shell}
	term.more = sync.NewCond(&term.mu)
	shell.Stdin, shell.Stdout, shell.Stderr = slave, slave, slave
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	go term.read()
	t.Cleanup(func() { master.Close() })
	t.Cleanup(term.end)
	term.idle(t, 0, "a prompt")
	return term
}

// control does something to a terminal's descriptor, which stays with Go's poller: its reads end
// with Close.
func control(f *os.File, do func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) { failed = do(int(fd)) })
	return errors.Join(err, failed)
}

// read collects what is printed, until the terminal is closed.
func (term *terminal) read() {
	buffer := make([]byte, 1<<16)
	for {
		n, err := term.master.Read(buffer)
		term.mu.Lock()
		term.out.Write(buffer[:n])
		term.over = err != nil
		term.more.Broadcast()
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// end interrupts what runs, and ends it and the shell.
func (term *terminal) end() {
	term.master.Write([]byte{3})
	term.wait(0, 10*time.Second, func(out string) bool { return prompt.MatchString(out) })
	control(term.master, func(fd int) error {
		if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && group > 1 {
			syscall.Kill(-group, syscall.SIGKILL)
		}
		return nil
	})
	term.shell.Process.Kill()
	term.shell.Wait()
}

// printed returns how much was printed.
func (term *terminal) printed() int {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.out.Len()
}

// wait waits until done is true of what was printed from a place on, and returns that, and whether
// it is.
func (term *terminal) wait(from int, most time.Duration, done func(string) bool) (string, bool) {
	late := false
	timer := time.AfterFunc(most, func() {
		term.mu.Lock()
		late = true
		term.more.Broadcast()
		term.mu.Unlock()
	})
	defer timer.Stop()
	term.mu.Lock()
	defer term.mu.Unlock()
	for {
		out := term.out.String()[from:]
		if done(out) {
			return out, true
		}
		if late || term.over {
			return out, false
		}
		term.more.Wait()
	}
}

// idle waits for the shell's prompt and returns what was printed before it.
func (term *terminal) idle(t *testing.T, from int, what string) (string, string) {
	t.Helper()
	out, ok := term.wait(from, patience, prompt.MatchString)
	if !ok {
		t.Fatalf("%s: it does not end within %v:\n%s", what, patience, out)
	}
	m := prompt.FindStringSubmatchIndex(out)
	return out[:m[0]], out[m[2]:m[3]]
}

// typed types a line.
func (term *terminal) typed(line string) error {
	if strings.Contains(line, "\n") {
		return errors.New("one line at a time")
	}
	_, err := term.master.Write([]byte(line + "\n"))
	return err
}

// run types a command and returns what it prints. It must succeed. An answer that is not empty is
// typed when the command asks for it.
func (term *terminal) run(t *testing.T, s step, command, answer string) string {
	t.Helper()
	from := term.printed()
	if err := term.typed(command); err != nil {
		t.Fatalf("%v: %s: %v", s, command, err)
	}
	if answer != "" {
		asked := regexp.MustCompile(`Type ` + answer + `: $`)
		if out, ok := term.wait(from, patience, asked.MatchString); !ok {
			t.Fatalf("%v: %s: it does not ask for %q:\n%s", s, command, answer, out)
		}
		term.mu.Lock()
		term.out.WriteString(answer + "\n") // as a terminal shows it
		term.mu.Unlock()
		if err := term.typed(answer); err != nil {
			t.Fatal(err)
		}
	}
	out, status := term.idle(t, from, fmt.Sprintf("%v: %s", s, command))
	if status != "0" {
		t.Fatalf("%v: %s: exit status %s\n%s", s, command, status, out)
	}
	return out
}
