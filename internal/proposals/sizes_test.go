package proposals

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/texts"
)

// BenchmarkSizes measures a proposal of 100,000 columns at an agent: its bytes on the wire, those
// of its file here, and what its plan takes in memory. Names are of a pattern, or of 15 characters
// as genes have them, each with an offset and a scale of its own.
func BenchmarkSizes(b *testing.B) {
	for name, column := range map[string]func(j int) string{
		"pattern": func(j int) string { return fmt.Sprintf("name = \"c%d\"\nscale = 1\n", j) },
		"genes": func(j int) string {
			return fmt.Sprintf("name = \"ENSG%011d\"\noffset = %.3f\nscale = %.3f\n", j*7919, float64(j*31%997)/100, 1+float64(j*17%541)/100)
		},
	} {
		b.Run(name, func(b *testing.B) {
			var text strings.Builder
			text.WriteString("name = \"wide\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\nmethod = \"power\"\n")
			for j := range proposal.MaxColumns {
				text.WriteString("[[columns]]\n" + column(j))
			}
			spec, err := proposal.ParseSpec([]byte(text.String()))
			if err != nil {
				b.Fatal(err)
			}
			body, err := proposal.Propose(spec, texts.Roster(20_000, 20_000, 20_000, 20_000, 20_000), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
			if err != nil {
				b.Fatal(err)
			}
			spec = proposal.Spec{}
			for b.Loop() {
				p, err := OpenPending(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Put(body); err != nil {
					b.Fatal(err)
				}
				file, err := os.Stat(p.path(proposal.DigestOf(body)))
				if err != nil {
					b.Fatal(err)
				}
				before := held()
				plan, err := study.NewPlan(body)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(held()-before), "plan-B")
				b.ReportMetric(float64(len(body)), "wire-B")
				b.ReportMetric(float64(file.Size()), "file-B")
				runtime.KeepAlive(plan)
			}
		})
	}
}

// held is how many bytes of the heap are in use.
func held() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
