//go:build linux

package fed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"covey/test/must"
)

// Process is a coordinator or an agent with its folder; started again, it is the same one.
type Process struct {
	Name, Dir     string   // its log is Dir.log
	ID            string   // a coordinator's in its raft; "" is an agent
	Bin           string   // folder of its build of both commands
	Host, Netns   string   // where it is; "" is the machine's own network namespace
	Address, Peer string   // a coordinator's, for sites and for other coordinators
	Watch         string   // free for a page or metrics
	Flags, Env    []string // of what is run for long, beside what it needs

	f      *Fleet
	life   *life // nil while it does not run
	starts int
}

// life is from a start to its end.
type life struct {
	cmd    *exec.Cmd
	ending bool          // it is meant to
	done   chan struct{} // closed at its end
	err    error         // of its end
}

// Move puts the process into a network namespace, in which host is its own.
func (p *Process) Move(netns, host string) {
	p.Netns, p.Host = netns, host
	for _, at := range []*string{&p.Address, &p.Peer, &p.Watch} {
		if _, port, err := net.SplitHostPort(*at); err == nil {
			*at = net.JoinHostPort(host, port)
		}
	}
}

// command is one of its build's commands, in its network.
func (p *Process) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	args = append([]string{filepath.Join(p.Bin, name)}, args...)
	if p.Netns != "" {
		args = append([]string{"ip", "netns", "exec", p.Netns}, args...)
	}
	return exec.CommandContext(ctx, args[0], args[1:]...)
}

// Run runs one of its build's commands to its end, for at most half a minute. An error holds what
// it said.
func (p *Process) Run(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := p.command(ctx, name, args...)
	var out, prose bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &prose
	err := cmd.Run()
	line := name + " " + strings.Join(args, " ")
	if p.f.Heard != nil {
		p.f.Heard(line, append(bytes.Clone(out.Bytes()), prose.Bytes()...))
	}
	if err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s", line, err, prose.String())
	}
	return out.String(), nil
}

// Operate runs its operator's command on its own folder.
func (p *Process) Operate(args ...string) (string, error) {
	if p.ID == "" {
		return p.Run("agent", append([]string{"-C", p.Dir}, args...)...)
	}
	return p.Run("coordinator", append(args, "--data", p.Dir)...)
}

// Start runs the process; its log goes on in the same file.
func (p *Process) Start() {
	p.f.T.Helper()
	log := must.Get(os.OpenFile(p.Dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(p.f.T)
	defer log.Close()
	name, args := "coordinator", []string{"serve", "--data", p.Dir}
	if p.ID == "" {
		name, args = "agent", []string{"-C", p.Dir, "run"}
	}
	l := &life{cmd: p.command(context.Background(), name, append(args, p.Flags...)...), done: make(chan struct{})}
	l.cmd.Stdout, l.cmd.Stderr = log, log
	l.cmd.Env = append(os.Environ(), p.Env...)
	must.Do(p.f.T, l.cmd.Start())
	p.f.mu.Lock()
	p.life = l
	p.starts++
	p.f.mu.Unlock()
	go func() {
		l.err = l.cmd.Wait()
		p.f.mu.Lock()
		if !l.ending {
			p.f.failed = append(p.f.failed, fmt.Sprintf("%s ended by itself: %v", p.Name, l.err))
		}
		p.f.mu.Unlock()
		close(l.done)
	}()
}

// end takes the process's life, which whoever has it ends; nil for none.
func (p *Process) end() *life {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	l := p.life
	if l != nil {
		l.ending, p.life = true, nil
	}
	return l
}

// Kill is kill -9, as the loss of a machine, and waits until the process is gone. It is false where
// none was started.
func (p *Process) Kill() bool {
	l := p.end()
	if l == nil {
		return false
	}
	l.cmd.Process.Kill()
	<-l.done
	return true
}

// Stop asks the process to end, as service managers do first, and gives how it did.
func (p *Process) Stop(s os.Signal, patience time.Duration) error {
	l := p.end()
	if l == nil {
		return fmt.Errorf("%s does not run", p.Name)
	}
	l.cmd.Process.Signal(s)
	select {
	case <-l.done:
		if l.err != nil {
			return fmt.Errorf("%s ended with %w", p.Name, l.err)
		}
		return nil
	case <-time.After(patience):
		l.cmd.Process.Kill()
		<-l.done
		return fmt.Errorf("%s does not end", p.Name)
	}
}

// Pid is 0 for a process that does not run.
func (p *Process) Pid() int {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if p.life == nil {
		return 0
	}
	return p.life.cmd.Process.Pid
}

// Running reports whether it was started and that nobody has ended it.
func (p *Process) Running() bool { return p.Pid() != 0 }

// Starts counts them.
func (p *Process) Starts() int {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.starts
}

// Freeze stops the process where it stands, until Thaw.
func (p *Process) Freeze() error { return p.signal(syscall.SIGSTOP) }

// Thaw lets it go on.
func (p *Process) Thaw() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s os.Signal) error {
	p.f.mu.Lock()
	l := p.life
	p.f.mu.Unlock()
	if l == nil {
		return errors.New(p.Name + " does not run")
	}
	return l.cmd.Process.Signal(s)
}

// Peers is what a coordinator says of its raft.
type Peers struct {
	Leader string
	Peers  []struct{ ID, Address string }
}

// Peers asks a coordinator.
func (p *Process) Peers() (out Peers, err error) {
	text, err := p.Operate("raft", "peers", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	return out, err
}

// View is what a coordinator says of a study.
type View struct {
	Status, Code, Phase      string
	Query, Queries, Released int
	Waiting                  []string `json:"waiting_for"`
}

// View asks a coordinator.
func (p *Process) View(study string) (v View, err error) {
	text, err := p.Operate("study", "list", "--json") // as every version says it
	var all []struct {
		Name, Digest string
		View
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &all)
	}
	for _, s := range all {
		if s.Name == study || s.Digest == study {
			return s.View, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("no study %q among %d", study, len(all))
	}
	return v, err
}
