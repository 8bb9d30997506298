package ledger

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestReadPagesAreGivenBack: what was read of ledger.db does not stay in this process's memory, and
// is read again.
func TestReadPagesAreGivenBack(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const size, queries = 2 << 20, 8
	value := func(query int) []byte { return bytes.Repeat([]byte{'a' + byte(query)}, size) }
	a := Approval{Study: [32]byte{1}, Name: "x", Population: "people", Proposal: []byte("proposal"), Rho: 0.1, CapRho: 1, By: ByPolicy, Time: time.Unix(0, 0)}
	if err := l.Approve(a); err != nil {
		t.Fatal(err)
	}
	for query := range queries {
		if err := l.Journal(a.Study).Final(query, query, value(query)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for query := range queries {
			if got, ok := l.Journal(a.Study).FinalResult(query); !ok || !bytes.Equal(got, value(query)) {
				t.Fatalf("result %d has %d bytes, %v", query, len(got), ok)
			}
		}
		if n := resident(t, dbName); n > 1<<20 {
			t.Errorf("%d bytes of %s are in memory", n, dbName)
		}
	}
}

// TestResultsAreWrittenOnce: long results are not written again with each that is new.
func TestResultsAreWrittenOnce(t *testing.T) {
	l, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a := Approval{Study: [32]byte{1}, Name: "x", Population: "people", Proposal: []byte("proposal"), Rho: 0.1, CapRho: 1, By: ByPolicy, Time: time.Unix(0, 0)}
	if err := l.Approve(a); err != nil {
		t.Fatal(err)
	}
	const size, queries = 1 << 20, 16
	value := bytes.Repeat([]byte("a"), size)
	for query := range queries {
		if err := l.Journal(a.Study).Final(query, query, value); err != nil {
			t.Fatal(err)
		}
	}
	stats := l.db.Stats().TxStats
	if n := stats.GetPageAlloc(); n > size*queries*5/4 {
		t.Errorf("%d bytes are written for results of %d", n, size*queries)
	}
}

// TestFewAddresses: a ledger opens where a limit leaves no room for the whole map, and gives no
// pages back, since what lies behind a shorter map is not the ledger's.
func TestFewAddresses(t *testing.T) {
	dir := t.TempDir()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = min(limit.Cur, pages*uint64(os.Getpagesize())+mapped/2)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &few); err != nil {
		t.Fatal(err)
	}
	l, err := Open(dir)
	if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a := Approval{Study: [32]byte{1}, Name: "x", Population: "people", Proposal: []byte("proposal"), Rho: 0.1, CapRho: 1, By: ByPolicy, Time: time.Unix(0, 0)}
	if err := l.Approve(a); err != nil {
		t.Fatal(err)
	}
	value := bytes.Repeat([]byte("a"), 2<<20)
	for query := range 4 {
		if err := l.Journal(a.Study).Final(query, query, value); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := l.Journal(a.Study).FinalResult(0); !ok || !bytes.Equal(got, value) {
		t.Fatalf("%d bytes, %v", len(got), ok)
	}
	if n := resident(t, dbName); n < len(value) {
		t.Errorf("%d bytes of %s are in memory, of %d that were read", n, dbName, len(value))
	}
}

// resident is how much of a mapped file this process has in memory.
func resident(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, of, ok := strings.Cut(string(text), "/"+name+"\n")
	if !ok {
		t.Fatalf("%s is not mapped", name)
	}
	_, of, _ = strings.Cut(of, "Rss:")
	n, err := strconv.Atoi(strings.Fields(of)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
