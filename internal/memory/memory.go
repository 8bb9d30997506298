// Package memory keeps a process's memory, which has keys, shares and open sums in it, off the disk
// and away from other processes.
package memory

import "log/slog"

// State is what holds of this process's memory.
type State struct {
	// Private: there is no core dump of it, and processes of the same user cannot read it. Root
	// can.
	Private bool
	// Locked: what it holds is never written to swap.
	Locked bool
	// Why says what stands against either; empty where both hold.
	Why string
}

// Log says what holds, once, at a program's start.
func (s State) Log(log *slog.Logger) {
	if s.Private && s.Locked {
		log.Info("memory is private and locked: no core dump, no swap")
		return
	}
	log.Warn("memory is not all kept: secrets in it can reach a core dump or swap", "private", s.Private, "locked", s.Locked, "why", s.Why)
}
