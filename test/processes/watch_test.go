//go:build failpoint && linux

package processes

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"covey/test/network"
)

// limits are what "flat" means. Over the second half of the run, the values of one quantity at the
// ends of studies are fitted, by least squares and for all processes of a kind together, with one
// slope a study and an intercept for each line: a process from one start to the next, a coordinator
// while it leads or follows; a folder has one line, since it outlives its process. The first points
// of a line are left out: a process that begins fills its heap. Flat is: the upper end of the
// slope's 95% interval is at most the limit. In a run of less than enough points, for which the
// interval is wide, only its lower end must not pass twenty times that: raft's log is first cut off
// after 1,024 entries, some thirty studies.
//
// What is kept of every study by design is allowed for: at a coordinator its proposal, releases and
// plan, in memory and in both snapshots that are kept; at a site the journal of what it signed and
// was told, the zeroed keys, the egress log's lines, and in past/ how it ended, of the last 100
// (TestPastIsBounded). Nothing else may grow: "the rest" of a folder, and raft's log, which is cut
// off behind a snapshot.
var limits = map[string]map[string]float64{
	"coordinator": {
		"goroutines": 0.1, "files": 0.1, "heap": 64 << 10, "memory": 128 << 10,
		"disk: raft.db": 32 << 10, "disk: snapshots": 64 << 10, "disk: the rest": 16,
	},
	"agent": {
		"goroutines": 0.05, "files": 0.05, "heap": 16 << 10, "memory": 32 << 10,
		"disk: ledger": 192 << 10, "disk: egress.jsonl": 16 << 10, "disk: past": 8 << 10, "disk: the rest": 16,
	},
}

const (
	warming = 3  // points of a line that are left out
	enough  = 60 // studies in a run, from which the upper end counts
)

// sample is what one process holds.
type sample struct {
	study  int // whose end it is
	value  map[string]float64
	leads  bool
	starts int
	at     time.Duration
}

// watch samples a fleet.
type watch struct {
	f     *fleet
	begun time.Time
	done  chan struct{}
	once  sync.Once
	work  sync.WaitGroup

	mu     sync.Mutex
	points map[*proc][]sample            // at the ends of studies
	most   map[string]map[string]float64 // by kind and quantity, every 10 s
	looks  int
}

func newWatch(f *fleet) *watch {
	w := &watch{f: f, begun: time.Now(), done: make(chan struct{}), points: map[*proc][]sample{}, most: map[string]map[string]float64{}}
	w.work.Go(func() {
		every := time.NewTicker(10 * time.Second)
		defer every.Stop()
		for {
			select {
			case <-w.done:
				return
			case <-every.C:
			}
			for _, p := range f.All() {
				s, err := w.look(p)
				if err != nil {
					continue // killed, paused or cut off just now
				}
				w.mu.Lock()
				kind := kindOf(p)
				if w.most[kind] == nil {
					w.most[kind] = map[string]float64{}
				}
				for q, v := range s.value {
					w.most[kind][q] = max(w.most[kind][q], v)
				}
				w.looks++
				w.mu.Unlock()
			}
		}
	})
	return w
}

func (w *watch) since() time.Duration { return time.Since(w.begun) }

func (w *watch) stop() {
	w.once.Do(func() { close(w.done) })
	w.work.Wait()
}

// point samples every process at the end of a study.
func (w *watch) point(k int) {
	for _, p := range w.f.All() {
		var s sample
		w.f.Until(p.Name+" to be read", func() (err error) {
			s, err = w.look(p)
			return err
		})
		s.study = k
		w.points[p] = append(w.points[p], s)
	}
}

func kindOf(p *proc) string {
	if p.ID != "" {
		return "coordinator"
	}
	return "agent"
}

// look reads /proc, /metrics and the folder.
func (w *watch) look(p *proc) (sample, error) {
	s := sample{value: map[string]float64{}, starts: p.Starts(), at: w.since()}
	m, err := metrics(p)
	if err != nil {
		return s, err
	}
	s.leads = m["covey_coordinator_leading"] == 1
	// What the collector aims at is about twice what was live when it ran last: heap is without
	// garbage.
	s.value["goroutines"], s.value["heap"] = m["go_goroutines"], m["go_memstats_next_gc_bytes"]/2
	own := fmt.Sprintf("/proc/%d", p.Pid())
	handles, err := os.ReadDir(own + "/fd")
	if err != nil {
		return s, err
	}
	s.value["files"] = float64(len(handles))
	status, err := os.ReadFile(own + "/status")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(status)) {
		// Anonymous memory is the process's own; pages of mapped files are the ledger's and raft's,
		// which disk counts.
		for field, q := range map[string]string{"RssAnon:": "memory", "VmRSS:": "resident, mapped files included"} {
			if kB, ok := strings.CutPrefix(line, field); ok {
				v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kB), " kB"), 64)
				if err != nil {
					return s, err
				}
				s.value[q] = v * 1024
			}
		}
	}
	for part, bytes := range folder(p.Dir) {
		s.value["disk"] += bytes
		s.value["disk: "+part] += bytes
	}
	return s, nil
}

// folder is what a folder holds on disk, by what grows in it.
func folder(dir string) map[string]float64 {
	out := map[string]float64{"the rest": 0}
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil // gone meanwhile: a snapshot
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		rel, part := strings.TrimPrefix(path, dir+"/"), "the rest"
		switch {
		case strings.HasPrefix(rel, "ledger/"):
			part = "ledger"
		case strings.HasPrefix(rel, "past/"):
			part = "past"
		case strings.HasPrefix(rel, "raft/snapshots/"):
			part = "snapshots"
		case rel == "raft/raft.db", rel == "egress.jsonl":
			part = filepath.Base(rel)
		}
		out[part] += float64(info.Sys().(*syscall.Stat_t).Blocks * 512)
		return nil
	})
	return out
}

// tokenFile is the file of a token that reads all coordinators' metrics.
func tokenFile(p *proc) string { return filepath.Join(filepath.Dir(p.Dir), "metrics.token") }

// metrics scrapes the process: series without labels.
func metrics(p *proc) (map[string]float64, error) {
	request, err := http.NewRequest(http.MethodGet, "http://"+p.Watch+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	if token, err := os.ReadFile(tokenFile(p)); err == nil {
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	// A connection of its own each time: none stays open in what is measured.
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, DialContext: network.DialIn(p.Netns)}}
	reply, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", p.Name, reply.Status)
	}
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && !strings.HasPrefix(name, "#") && !strings.Contains(name, "{") {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				out[name] = v
			}
		}
	}
	return out, lines.Err()
}

// series is one line of a fit.
type series struct{ x, y []float64 }

// fit returns the common slope of lines that each have an intercept, and half of its 95% interval.
func fit(lines []series) (slope, half float64, n int) {
	var xx, xy, yy float64
	for _, l := range lines {
		mx, my := mean(l.x), mean(l.y)
		for i := range l.x {
			xx += (l.x[i] - mx) * (l.x[i] - mx)
			xy += (l.x[i] - mx) * (l.y[i] - my)
			yy += (l.y[i] - my) * (l.y[i] - my)
		}
		n += len(l.x)
	}
	free := float64(n - len(lines) - 1)
	if xx == 0 || free < 1 {
		return 0, math.Inf(1), n
	}
	slope = xy / xx
	spread := math.Sqrt(max(0, yy-slope*xy) / free / xx)
	return slope, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: free}.Quantile(0.975) * spread, n
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

// judge fits, logs and fails what is not flat.
func (w *watch) judge(studies int) {
	type key struct {
		p      *proc
		starts int
		leads  bool
	}
	lines, first, last := map[string]map[string][]series{}, map[string]map[string][]float64{}, map[string]map[string][]float64{}
	for _, p := range w.f.All() {
		kind := kindOf(p)
		if lines[kind] == nil {
			lines[kind], first[kind], last[kind] = map[string][]series{}, map[string][]float64{}, map[string][]float64{}
		}
		seen := map[key]int{}
		points := map[string]map[key]series{}
		for _, s := range w.points[p] {
			at := key{p, s.starts, s.leads}
			seen[at]++
			for q, v := range s.value {
				switch {
				case s.study < max(2, studies/10):
					first[kind][q] = append(first[kind][q], v)
				case s.study >= studies-max(1, studies/10):
					last[kind][q] = append(last[kind][q], v)
				}
				k := at
				if strings.HasPrefix(q, "disk") {
					k = key{p, 0, false} // a folder outlives its process
				} else if seen[at] <= warming {
					continue
				}
				if s.study < studies/2 {
					continue
				}
				if points[q] == nil {
					points[q] = map[key]series{}
				}
				l := points[q][k]
				l.x, l.y = append(l.x, float64(s.study)), append(l.y, v)
				points[q][k] = l
			}
		}
		for q, by := range points {
			for _, l := range by {
				lines[kind][q] = append(lines[kind][q], l)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(lines)) {
		for _, q := range slices.SortedFunc(maps.Keys(lines[kind]), cmp.Compare[string]) {
			slope, half, n := fit(lines[kind][q])
			verdict := ""
			if limit, is := limits[kind][q]; is {
				bound, at := slope+half, limit
				if studies < enough {
					bound, at = slope-half, 20*limit
				}
				if verdict = fmt.Sprintf("flat (limit %.4g)", limit); bound > at {
					verdict = "GROWS"
					w.f.T.Errorf("%s: %s grows by %.4g ± %.4g a study; at most %.4g is flat", kind, q, slope, half, at)
				}
			}
			w.f.T.Logf("figure: %-11s %-32s mean %.6g in the first tenth, %.6g in the last, at most %.6g; slope a study %.4g ± %.4g of %d points on %d lines %s",
				kind, q, mean(first[kind][q]), mean(last[kind][q]), w.most[kind][q], slope, half, n, len(lines[kind][q]), verdict)
		}
	}
}
