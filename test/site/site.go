// Package site makes the folders and rows of sites for tests, with or without a join.
package site

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/test/must"
)

// Dataset is the name under which a site of tests offers its rows.
const Dataset = "rows"

// Config returns the configuration of a site that offers the rows of path and approves what it is
// asked; its budget does not end. The coordinator's addresses and the peers are the caller's.
func Config(name, path string) siteconfig.Config {
	return siteconfig.Config{
		Site:        name,
		Populations: []siteconfig.Population{{Name: "people", CapRho: 1e9}},
		Datasets:    []siteconfig.Dataset{{Name: Dataset, Path: path, Population: "people", Workers: 1}},
		Policy: siteconfig.Policy{
			Approve: siteconfig.ApproveWithinLimits, MaxEpsilon: 100, MaxDelta: 1e-3,
			OnDropout: []string{proposal.DropoutWait, proposal.DropoutContinue},
			Noise:     []string{proposal.NoiseCentral, proposal.NoiseDistributed},
		},
	}
}

// Write writes a configuration into a site's folder.
func Write(dir string, c siteconfig.Config) error {
	text, err := toml.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, siteconfig.File), text, 0o600)
}

// Keys makes a site's keys in dir, if they are not there, and its request for a certificate.
func Keys(t testing.TB, dir, name string) (s *pki.Holder, csr []byte) {
	t.Helper()
	err := pki.NewKeys(dir)
	if err == nil {
		s, err = pki.LoadHolder(pki.RoleSite, dir)
	}
	if err == nil {
		csr, err = s.CSR(name)
	}
	must.Do(t, err)
	return s, csr
}

// Issue is Keys with a certificate, without a join.
func Issue(t testing.TB, dir, name string, authority *pki.Authority, now time.Time) *pki.Holder {
	t.Helper()
	s, csr := Keys(t, dir, name)
	certificate, err := authority.Issue(pki.RoleSite, name, csr, now)
	if err == nil {
		err = s.SaveCertificate(certificate, authority.CertificatePEM(), now)
	}
	must.Do(t, err)
	return s
}

// Authority makes a CA in dir, for coordinators at hosts.
func Authority(t testing.TB, dir string, now time.Time, hosts ...string) *pki.Authority {
	t.Helper()
	err := pki.Init(dir, hosts, now)
	var a *pki.Authority
	if err == nil {
		a, err = pki.Load(dir)
	}
	must.Do(t, err)
	return a
}

// Names returns n column names: c0, c1 and so on.
func Names(n int) (names []string) {
	for j := range n {
		names = append(names, fmt.Sprintf("c%d", j))
	}
	return names
}

// Columns returns a spec's first n columns, all of one scale around 0.
func Columns(n int, scale float64) (columns []proposal.Column) {
	for _, name := range Names(n) {
		columns = append(columns, proposal.Column{Name: name, Scale: scale})
	}
	return columns
}

// CSV returns n rows of columns, with their names before them, and the numbers as a reader of the
// text finds them, row-major.
func CSV(names []string, n int, value func(i, j int) float64) (text string, values []float64) {
	var b strings.Builder
	b.WriteString(strings.Join(names, ","))
	for i := range n {
		for j := range names {
			one := strconv.FormatFloat(value(i, j), 'g', 8, 64)
			v, _ := strconv.ParseFloat(one, 64) // it was just written
			values = append(values, v)
			b.WriteByte([2]byte{',', '\n'}[max(0, 1-j)])
			b.WriteString(one)
		}
	}
	b.WriteByte('\n')
	return b.String(), values
}

// Strong returns a value for CSV: d columns with one strong component.
func Strong(rng *rand.Rand) func(i, j int) float64 {
	var strong float64
	return func(_, j int) float64 {
		if j == 0 {
			strong = rng.NormFloat64()
		}
		return strong*float64(j+1) + rng.NormFloat64()/2
	}
}

// Rows are a site's rows for the sums that it ought to send.
type Rows struct{ rows *answer.Rows }

// Exact returns row-major values of d columns, each divided by scale as a study of that scale does.
func Exact(values []float64, d int, scale float64) (*Rows, error) {
	scaled := make([]float64, len(values))
	for i, v := range values {
		scaled[i] = v / scale
	}
	m, err := clip.NewMatrix(d, scaled)
	if err != nil {
		return nil, err
	}
	return &Rows{answer.New(m)}, nil
}

// Answer returns the site's exact contribution to a query.
func (r *Rows) Answer(p *study.Plan, self int, a study.Ask) ([]int64, error) {
	return r.rows.Answer(p, self, a, 1)
}
