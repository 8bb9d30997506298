// Package entropy_test takes the kernel's random bytes away from processes that make keys.
package entropy_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/secagg"
)

// The processes are this test binary, with these in the environment: what to do, in which
// folder, and whether the filter is there.
const (
	operation = "COVEY_TEST_ENTROPY"
	folder    = "COVEY_TEST_ENTROPY_FOLDER"
	filtered  = "COVEY_TEST_ENTROPY_FILTERED"
	board     = "COVEY_TEST_ENTROPY_BOARD" // announcements, made where there is entropy
)

// setup returns the configuration of three sites, with the first one's key and fixed secrets.
func setup() (secagg.Config, ed25519.PrivateKey, secagg.Secrets) {
	cfg := secagg.Config{Study: [32]byte{1}, Quorum: 2, MinSurvivors: 3, Slots: 3}
	var first ed25519.PrivateKey
	for i := range 3 {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i)}, 32))
		if first == nil {
			first = key
		}
		cfg.Identity = append(cfg.Identity, key.Public().(ed25519.PublicKey))
	}
	return cfg, first, secagg.Secrets{Transport: [32]byte{1}, Slots: make([]secagg.SlotSecret, 3)}
}

// withoutEntropy are the operations that make a key, a seed or a nonce. Each is run by a
// process in which getrandom(2) has failed from the start.
var withoutEntropy = map[string]func(dir string) error{
	"secagg.NewSecrets": func(string) error {
		cfg, _, _ := setup()
		_, err := secagg.NewSecrets(cfg)
		return err
	},
	"secagg.Announce": func(string) error { // what masks its combination
		cfg, key, secrets := setup()
		_, err := secagg.Announce(cfg, 0, secrets, key)
		return err
	},
	"secagg.passage.seal": func(string) error { // of Deal: what ML-KEM seals
		cfg, key, secrets := setup()
		var announcements [][]byte
		for text := range strings.SplitSeq(os.Getenv(board), ",") {
			raw, err := hex.DecodeString(text)
			if err != nil {
				return err
			}
			announcements = append(announcements, raw)
		}
		s, err := secagg.Verify(cfg, announcements)
		if err != nil {
			return err
		}
		_, err = s.Deal(0, secrets, key, nil)
		return err
	},
	"ledger.Open":  func(dir string) error { _, err := ledger.Open(dir); return err },
	"pki.NewKeys":  pki.NewKeys,
	"pki.NewToken": func(string) error { _, err := pki.NewToken(); return err },
	"pki.Init":     func(dir string) error { return pki.Init(dir, nil, time.Now()) },
}

// noEntropy makes getrandom(2) fail with EIO in what this thread executes next: a kernel that has
// no entropy. The vDSO makes that call for a process's first bytes.
func noEntropy() error {
	// the call's number
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}
	equal := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 0, Jf: 1, K: unix.SYS_GETRANDOM}
	fail := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)}
	allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	program := []unix.SockFilter{load, equal, fail, allow}
	// whose word an unprivileged filter needs; TSYNC gives both to the others
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return errno
	}
	return nil
}

func TestMain(m *testing.M) {
	name := os.Getenv(operation)
	if name == "" {
		os.Exit(m.Run())
	}
	if os.Getenv(filtered) == "" {
		os.Setenv(filtered, "yes")
		fmt.Println("no filter:", errors.Join(noEntropy(), syscall.Exec(os.Args[0], os.Args, os.Environ())))
		os.Exit(0)
	}
	func() {
		defer func() { fmt.Println("went on after a panic:", recover()) }()
		fmt.Println("begins")
		fmt.Println("went on with error", withoutEntropy[name](os.Getenv(folder)))
	}()
	os.Exit(0)
}

// TestNoEntropyNoKeys: where the kernel gives no random bytes, nothing that makes keys returns,
// with an error or without: the process ends, and no file holds anything.
func TestNoEntropyNoKeys(t *testing.T) {
	cfg, _, secrets := setup()
	var announcements []string
	for i := range 3 {
		raw, err := secagg.Announce(cfg, i, secrets, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i)}, 32)))
		if err != nil {
			t.Fatal(err)
		}
		announcements = append(announcements, hex.EncodeToString(raw))
	}
	for name := range withoutEntropy {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "made")
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), operation+"="+name, folder+"="+dir, board+"="+strings.Join(announcements, ","))
			var trace bytes.Buffer
			c.Stderr = &trace
			out, err := c.Output()
			if _, ok := errors.AsType[*exec.ExitError](err); !ok || string(out) != "begins\n" {
				t.Fatalf("the process ended with %v and said %q", err, out)
			}
			if !strings.Contains(trace.String(), "failed to read random data") || !strings.Contains(trace.String(), "covey/internal/"+name) {
				t.Errorf("it ended with %.2000s", trace.String())
			}
			filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
				if err == nil && !e.IsDir() && (strings.HasSuffix(path, ".key") || strings.HasSuffix(path, ".crt")) {
					t.Errorf("%s was written", path)
				}
				return nil
			})
		})
	}
}
