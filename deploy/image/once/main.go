//go:build unix

// Command once runs a command unless a file is there: once FILE COMMAND ARGUMENT... It is the
// image's, whose containers have no shell, for what is done on the first start alone, such as
// `coordinator init`.
//
// An argument @PATH stands for the lines of that file, each an argument; empty lines and lines that
// start with # are left out. The exit status is 0 when FILE is there, the command's when it ran,
// and 2 when it could not be.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

func main() {
	if err := run(os.Args[1:], os.Environ(), syscall.Exec); err != nil {
		fmt.Fprintln(os.Stderr, "once:", err)
		os.Exit(2)
	}
}

// run replaces this process by the command, which does not come back, or returns nil.
func run(args, env []string, replace func(path string, args, env []string) error) error {
	if len(args) < 2 {
		return errors.New("usage: once FILE COMMAND and its arguments")
	}
	_, err := os.Lstat(args[0])
	if err == nil {
		fmt.Fprintf(os.Stderr, "once: %s is there: nothing to do\n", args[0])
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var command []string
	for _, a := range args[1:] {
		file, ok := strings.CutPrefix(a, "@")
		if !ok {
			command = append(command, a)
			continue
		}
		lines, err := arguments(file)
		if err != nil {
			return err
		}
		command = append(command, lines...)
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	return replace(path, command, env)
}

func arguments(file string) (out []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out, lines.Err()
}
