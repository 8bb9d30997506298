package memory

import (
	"os"

	"golang.org/x/sys/unix"
)

// Keep makes this process's memory private, and locks it where no limit can make a later allocation
// fail for that: where RLIMIT_MEMLOCK has no end, or the process has CAP_IPC_LOCK, which no limit
// binds. Under a finite limit Go's next arena could be refused, which ends the process; so nothing
// is locked then. Pages are locked as they are touched (MCL_ONFAULT): address space that Go only
// reserves takes no memory. It is called before keys are read, and once.
func Keep() State {
	var s State
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		s.Why = os.NewSyscallError("prctl", err).Error()
	}
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	s.Private = err == nil && dumpable == 0
	if !unlimited() {
		s.Why = "RLIMIT_MEMLOCK is finite: LimitMEMLOCK=infinity of a systemd unit, or memlock: -1 of a container's ulimits"
		return s
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		s.Why = os.NewSyscallError("mlockall", err).Error()
		return s
	}
	s.Locked = true
	return s
}

// unlimited reports whether the process may lock all of its memory, whatever it grows to.
func unlimited() bool {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return false
	}
	if limit.Cur == unix.RLIM_INFINITY {
		return true
	}
	if limit.Max == unix.RLIM_INFINITY {
		limit.Cur = unix.RLIM_INFINITY
		return unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit) == nil
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	return unix.Capget(&header, &has[0]) == nil && has[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}
