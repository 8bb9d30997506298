package memory

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const childVariable = "COVEY_TEST_MEMORY"

// TestMain: a child keeps its memory, takes a good deal more than a usual limit, and tells what the
// kernel says.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // capabilities are a thread's
	var limit unix.Rlimit
	// as a service without the capability and with the usual limit
	if os.Getenv(childVariable) == "limited" {
		limit = unix.Rlimit{Cur: 8 << 20, Max: 8 << 20}
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := errors.Join(unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit), unix.Capset(&header, &none[0])); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
	}
	s := Keep()
	grown := make([]byte, 256<<20)
	for i := 0; i < len(grown); i += 4096 {
		grown[i] = 1
	}
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	status, err2 := os.ReadFile("/proc/self/status")
	fmt.Printf("%+v dumpable=%d %v %v\n%s", s, dumpable, err, err2, status)
	s.Log(slog.New(slog.NewTextHandler(os.Stdout, nil)))
	os.Exit(0)
}

func child(t *testing.T, how string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), childVariable+"="+how)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func lockedKB(t *testing.T, out string) int {
	t.Helper()
	at := regexp.MustCompile(`VmLck:\s+(\d+) kB`).FindStringSubmatch(out)
	if at == nil {
		t.Fatal(out)
	}
	n, _ := strconv.Atoi(at[1])
	return n
}

// TestKept: no core dump of the process and no reader of its user; where nothing bounds what it may
// lock, all that it touches is locked, and it grows as before.
func TestKept(t *testing.T) {
	out := child(t, "as it is")
	if !strings.Contains(out, "Private:true") || !strings.Contains(out, " dumpable=0 ") {
		t.Errorf("it can be dumped: %.200s", out)
	}
	if !unlimited() {
		if n := lockedKB(t, out); n != 0 || !strings.Contains(out, "Locked:false") {
			t.Errorf("%d kB are locked under a limit", n)
		}
		return
	}
	if n := lockedKB(t, out); n < 256<<10 || !strings.Contains(out, "Locked:true") || !strings.Contains(out, "private and locked") {
		t.Errorf("%d kB are locked: %.200s", n, out)
	}
}

// TestFiniteLimit: under a finite limit nothing is locked, as the process would end when it grows;
// it says so.
func TestFiniteLimit(t *testing.T) {
	out := child(t, "limited")
	if n := lockedKB(t, out); n != 0 || !strings.Contains(out, "Private:true Locked:false") || !strings.Contains(out, "RLIMIT_MEMLOCK is finite") || !strings.Contains(out, "level=WARN") {
		t.Errorf("%d kB are locked: %s", n, out)
	}
}
