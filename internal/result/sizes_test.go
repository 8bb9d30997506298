package result

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// wideStudy runs a study of d columns and 5 components at 5 sites of 20,000 rows, on answers made
// up, each with its noise.
func wideStudy(b testing.TB, method string, d int) (*study.Plan, []byte, []study.Release) {
	b.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "name = \"wide\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\ncomponents = 5\nmethod = %q\n", method)
	for j := range d {
		fmt.Fprintf(&text, "[[columns]]\nname = \"c%d\"\nscale = 1\n", j)
	}
	spec, err := proposal.ParseSpec([]byte(text.String()))
	if err != nil {
		b.Fatal(err)
	}
	body, err := proposal.Propose(spec, texts.Roster(20_000, 20_000, 20_000, 20_000, 20_000), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		b.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	c := p.Start()
	var releases []study.Release
	for c.Query < len(p.Queries) {
		a, err := p.NewAsk(c, len(releases))
		if err != nil {
			b.Fatal(err)
		}
		noised := runs.Answer(p, a, rng, method == proposal.MethodCovariance)
		if runs.Decides(p) && a.Radius > 0 { // runs.Answer left the noise out
			for i := range noised {
				noised[i] += int64(math.Round(a.Sigma.Float() * rng.NormFloat64()))
			}
		}
		r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, noised)
		if err != nil {
			b.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			b.Fatal(err)
		}
		releases = append(releases, r)
	}
	return p, body, releases
}

// BenchmarkSizes measures the files of results of 2,000 columns and 5 components: their bytes, and,
// where they are verified, the bytes of their releases' numbers and the most that the heap held
// beyond what it held before.
func BenchmarkSizes(b *testing.B) {
	for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower, proposal.MethodAuto} {
		b.Run(method, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "result.json")
			vectors := writeWide(b, method, path)
			for b.Loop() {
				file, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				peak := watchHeap()
				if _, _, err := Read(file); err != nil {
					b.Fatal(err)
				}
				size, err := file.Seek(0, io.SeekEnd)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(peak()), "peak-B")
				b.ReportMetric(float64(vectors), "vectors-B")
				b.ReportMetric(float64(size), "file-B")
				file.Close()
			}
		})
	}
}

// writeWide writes the result of a wide study, and returns how many bytes its releases' vectors
// have in memory.
func writeWide(b testing.TB, method, path string) (vectors int) {
	b.Helper()
	p, body, releases := wideStudy(b, method, 2000)
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if err := made(b, p, body, signReleases(b, releases)).Write(file); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	for _, r := range releases {
		vectors += 8 * (len(r.X) + len(r.Center) + len(r.Found) + len(r.Scale) + len(r.Fill) + len(r.Deviations) + len(r.Noised))
	}
	return vectors
}

// watchHeap returns a function that returns the most bytes that the heap has held since then,
// beyond those it holds now.
func watchHeap() (peak func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	runtime.GC()
	metrics.Read(sample)
	before, stop, most := sample[0].Value.Uint64(), make(chan struct{}), make(chan uint64)
	go func() {
		var seen []uint64
		for {
			metrics.Read(sample)
			seen = append(seen, sample[0].Value.Uint64())
			select {
			case <-stop:
				most <- slices.Max(seen) - min(before, slices.Max(seen))
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(stop); return <-most }
}

// TestOutline: what is read without releases is the rest of the file.
func TestOutline(t *testing.T) {
	p, body, signed := course(t, public, nil)
	r := made(t, p, body, signed)
	got, err := Outline(bytes.NewReader(file(t, r)))
	if err != nil || len(got.Releases) > 0 {
		t.Fatalf("%d releases, %v", len(got.Releases), err)
	}
	got.Releases = r.Releases
	if !bytes.Equal(file(t, got), file(t, r)) {
		t.Error("the rest is another")
	}
}
