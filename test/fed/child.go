package fed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Child is this test's binary, run again as a process of its own that answers orders, so that what
// is measured concerns it alone.
type Child struct {
	Command *exec.Cmd
	in      io.WriteCloser
	mu      sync.Mutex
	to      *json.Encoder
	from    *json.Decoder
}

// Spawn starts a child, which TestMain knows by a variable of its environment, NAME=value.
func Spawn(variable string, args ...string) (*Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &Child{Command: exec.Command(self, args...)}
	c.Command.Env = append(os.Environ(), variable)
	c.Command.Stderr = os.Stderr
	out, err := c.Command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.in, err = c.Command.StdinPipe(); err != nil {
		return nil, err
	}
	c.to, c.from = json.NewEncoder(c.in), json.NewDecoder(out)
	return c, c.Command.Start()
}

// reply is a child's answer.
type reply struct {
	Error string
	Value json.RawMessage
}

// Order has the child do something and reads its answer.
func (c *Child) Order(order, answer any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.to.Encode(order); err != nil {
		return err
	}
	var r reply
	if err := c.from.Decode(&r); err != nil {
		return fmt.Errorf("the child process ended: %w", err)
	}
	if r.Error != "" {
		return errors.New(r.Error)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(r.Value, answer)
}

// End ends the child with its input and waits for it.
func (c *Child) End() error {
	c.in.Close()
	return c.Command.Wait()
}

// Obey answers orders in a child until its input ends, with its parent at the latest.
func Obey[O, A any](do func(O) (A, error)) error {
	out, orders := json.NewEncoder(os.Stdout), make(chan O)
	var busy atomic.Bool
	go func() {
		defer close(orders)
		for in := json.NewDecoder(os.Stdin); ; {
			var o O
			if err := in.Decode(&o); err != nil {
				if busy.Load() { // nobody waits for the answer
					os.Exit(1)
				}
				return
			}
			orders <- o
		}
	}()
	for o := range orders {
		busy.Store(true)
		var r reply
		answer, err := do(o)
		if err == nil {
			r.Value, err = json.Marshal(answer)
		}
		if err != nil {
			r.Error = err.Error()
		}
		busy.Store(false)
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// Memory returns a process's resident set in bytes: now, and the most so far. pid is a number, or
// "self".
func Memory(pid string) (now, most int64, err error) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), " kB"), ":")
		at := map[string]*int64{"VmRSS": &now, "VmHWM": &most}[name]
		if at == nil {
			continue
		}
		if *at, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
			return 0, 0, err
		}
		*at <<= 10
	}
	return now, most, nil
}
