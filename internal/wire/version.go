package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"covey/internal/frame"
)

// Keys of a call's metadata in which each end says its version, an agent with every call
// and a coordinator before its first answer.
const (
	protocolKey = "covey-protocol" // the newest that it speaks
	oldestKey   = "covey-oldest"   // the oldest that it speaks
	softwareKey = "covey-software"
)

// Version is what one end of a link speaks and runs. Both ends work together where they
// share a protocol; software is for people to read.
type Version struct {
	Protocol, Oldest int    // the newest and the oldest that it speaks; 0 if it names none
	Software         string // such as "covey-agent/1.4.0"
}

// This returns this build's version as the named program.
func This(program string) Version {
	return Version{Protocol: Protocol, Oldest: OldestProtocol, Software: frame.Software(program)}
}

// Pairs returns the metadata that say a version, key after key with its value.
func (v Version) Pairs() []string {
	return []string{protocolKey, strconv.Itoa(v.Protocol), oldestKey, strconv.Itoa(v.Oldest), softwareKey, v.Software}
}

// VersionOf reads the version that the other end, the named program, says in its metadata.
// Protocols that are missing or malformed are 0, which agrees with nobody's.
func VersionOf(metadata map[string][]string, program string) Version {
	one := func(key string) string {
		if v := metadata[key]; len(v) == 1 {
			return v[0]
		}
		return ""
	}
	v := Version{Software: frame.Clean(one(softwareKey))}
	newest, err := strconv.ParseUint(one(protocolKey), 10, 16)
	oldest, err2 := strconv.ParseUint(one(oldestKey), 10, 16)
	if err == nil && err2 == nil && oldest >= 1 && oldest <= newest {
		v.Protocol, v.Oldest = int(newest), int(oldest)
	}
	if v.Software == "" {
		v.Software = program + " that names no software"
	}
	return v
}

// VersionError is two ends that share no protocol: an agent, or an analyst's program, and a
// coordinator.
type VersionError struct{ Agent, Coordinator Version }

// Upgrade says who is behind.
func (e *VersionError) Upgrade() string {
	if e.Agent.Protocol < e.Coordinator.Protocol {
		return e.caller()
	}
	return "coordinator"
}

// caller names the program that called, by what it calls itself.
func (e *VersionError) caller() string {
	if strings.HasPrefix(e.Agent.Software, "covey-analyst/") {
		return "analyst"
	}
	return "agent"
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the %s (%s) speaks %s and the coordinator (%s) %s: upgrade the %s",
		e.caller(), e.Agent.Software, e.Agent.protocols(), e.Coordinator.Software, e.Coordinator.protocols(), e.Upgrade())
}

func (v Version) protocols() string {
	if v.Protocol == 0 {
		return "no protocol of Covey's"
	}
	if v.Protocol == v.Oldest {
		return fmt.Sprintf("protocol %d", v.Protocol)
	}
	return fmt.Sprintf("protocols %d to %d", v.Oldest, v.Protocol)
}

// Agree returns a *VersionError where an agent and a coordinator share no protocol.
func Agree(agent, coordinator Version) error {
	if max(agent.Oldest, coordinator.Oldest) > min(agent.Protocol, coordinator.Protocol) {
		return &VersionError{agent, coordinator}
	}
	return nil
}

// Says reports whether metadata hold anything of a version.
func Says(metadata map[string][]string) bool {
	return slices.ContainsFunc([]string{protocolKey, oldestKey, softwareKey}, func(key string) bool { return len(metadata[key]) > 0 })
}
