package notify

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Event is what a notice is about.
type Event string

// The events.
const (
	Proposed  Event = "proposed"  // a study is new
	Awaiting  Event = "awaiting"  // it waits for whom this program belongs to
	Overdue   Event = "overdue"   // it waits for somebody past a deadline
	Completed Event = "completed" // its result stands
	Ended     Event = "ended"     // it is over without a result
	Expiring  Event = "expiring"  // this program's certificate was not renewed in time
)

// events are all of them.
var events = []Event{Proposed, Awaiting, Overdue, Completed, Ended, Expiring}

// Target is whom to tell: one [[notify]] table of a configuration. It comes from a local file only:
// no peer can name one.
type Target struct {
	// Webhook is an https URL that notices are posted to; http is allowed to this machine alone.
	Webhook string `toml:"webhook,omitempty"`
	// KeyFile holds the webhook's key, of 32 bytes at least and of mode 0600, relative to the
	// configuration ([signature]).
	KeyFile string `toml:"key_file,omitempty"`
	// Command is a program by its absolute path, and its arguments, as they are: no shell reads
	// them. A notice is its standard input.
	Command []string `toml:"command,omitempty"`
	// Events are those that it is told; empty for all.
	Events []Event `toml:"events,omitempty"`
	// Names adds the study's name to a notice.
	Names bool `toml:"names,omitempty"`
}

// What a configuration may hold.
const (
	maxTargets  = 10
	maxArgument = 4096
	minKey      = 32
	maxKey      = 4096
)

// A TargetError is a [[notify]] table that cannot be.
type TargetError struct{ Key, Reason string }

func (e *TargetError) Error() string { return e.Key + ": " + e.Reason }

func wrong(key, format string, args ...any) error {
	return &TargetError{key, fmt.Sprintf(format, args...)}
}

// Check checks targets as they are written, without a look at their files. The error is a
// *[TargetError].
func Check(targets []Target) error {
	if len(targets) > maxTargets {
		return wrong("notify", "there are %d of at most %d", len(targets), maxTargets)
	}
	for _, t := range targets {
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

func (t Target) check() error {
	switch {
	case (t.Webhook == "") == (len(t.Command) == 0):
		return wrong("notify", "needs either webhook or command")
	case t.Webhook != "" && t.KeyFile == "":
		return wrong("notify.key_file", "a webhook needs a key, by which its receiver knows this sender")
	case t.Webhook == "" && t.KeyFile != "":
		return wrong("notify.key_file", "is of webhooks; a command has none")
	}
	for _, e := range t.Events {
		if !slices.Contains(events, e) {
			return wrong("notify.events", "%.40q must be one of %s", e, words())
		}
	}
	if t.Webhook != "" {
		return checkURL(t.Webhook)
	}
	if !filepath.IsAbs(t.Command[0]) {
		return wrong("notify.command", "must begin with the absolute path of a program, got %.80q", t.Command[0])
	}
	for _, a := range t.Command {
		if len(a) > maxArgument || strings.ContainsRune(a, 0) {
			return wrong("notify.command", "has an argument of more than %d bytes, or with a zero in it", maxArgument)
		}
	}
	return nil
}

func words() string {
	var all []string
	for _, e := range events {
		all = append(all, string(e))
	}
	return strings.Join(all, ", ")
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return wrong("notify.webhook", "is no URL") // without the text: it may hold a secret
	case u.User != nil:
		return wrong("notify.webhook", "holds a user or password; what proves the sender is key_file")
	case u.Scheme == "https":
	case u.Scheme != "http":
		return wrong("notify.webhook", "must begin with https://")
	case !isLoopback(u.Hostname()):
		return wrong("notify.webhook", "http is for this machine alone (127.0.0.1); anywhere else anybody on the way could read and forge notices: use https")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// wants reports whether the target is told of an event.
func (t Target) wants(e Event) bool { return len(t.Events) == 0 || slices.Contains(t.Events, e) }

// Under returns targets with the relative paths of key files taken from a folder.
func Under(dir string, targets []Target) []Target {
	out := slices.Clone(targets)
	for i, t := range out {
		if t.KeyFile != "" && !filepath.IsAbs(t.KeyFile) {
			out[i].KeyFile = filepath.Join(dir, t.KeyFile)
		}
	}
	return out
}

// Ready returns an error unless what a target needs is on this machine: its key, or a program that
// can be run. It sends nothing.
func (t Target) Ready() error {
	if t.Webhook != "" {
		_, err := t.key()
		return err
	}
	_, err := exec.LookPath(t.Command[0])
	return err
}

// key reads the key of a webhook, anew at each try, so that it can be changed.
func (t Target) key() ([]byte, error) {
	path := t.KeyFile
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, wrong("notify.key_file", "others may read %s (mode %04o); chmod 600 it", path, info.Mode().Perm())
	}
	if info.Size() < minKey || info.Size() > maxKey {
		return nil, wrong("notify.key_file", "%s holds %d bytes of %d to %d", path, info.Size(), minKey, maxKey)
	}
	return os.ReadFile(path)
}

// Place is the target for people, without what may be a secret: the program, or scheme and host.
func (t Target) Place() string {
	if t.Webhook == "" {
		return t.Command[0]
	}
	u, err := url.Parse(t.Webhook)
	if err != nil {
		return "a webhook"
	}
	return u.Scheme + "://" + u.Host
}
