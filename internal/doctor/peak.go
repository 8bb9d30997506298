package doctor

import (
	"fmt"
	"runtime"

	"covey/internal/dataset"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

// need is the most memory that an agent takes for a study, in bytes.
type need struct {
	rows   int64 // as the study reads them
	mapped bool  // they lie in a cache file, of which the system keeps what it has room for
	rest   int64 // all else
	// paged: a page of each column besides, while a Parquet file is read; no plan says how long its
	// pages are, and 1 MB is usual
	paged bool
}

func (n need) all() int64 { return n.rows + n.rest }

// peakOf predicts what a study takes of a data set of so many rows. It follows from the plan, the
// number of rows and agent.toml. Like the number of rows it stays at the site.
func peakOf(p *study.Plan, d siteconfig.Dataset, rows *dataset.Rows) need {
	const (
		process   = 40 << 20 // an agent without rows, its links and its ledger
		blocks    = 1 << 20  // a worker's rows under way
		norms     = 2 * 8    // of a row, as it is and as a query changes it
		unitOfRow = 8 + 8 + 4
		unitName  = 96 // while the source is read
		answers   = 9  // an answer as a sum, noised, masked, as bytes, on its way; the release, likewise
		collected = 0.4
	)
	width := int64(8)
	if d.Precision == string(dataset.Float32) {
		width = 4
	}
	n := int64(rows.Rows)
	values := 0
	for _, q := range p.Queries {
		values = max(values, q.Lanes)
	}
	workers := int64(d.Workers)
	if workers <= 0 {
		workers = int64(runtime.GOMAXPROCS(0))
	}
	out := need{rows: n * int64(p.D) * width}
	if rows.Gaps != nil {
		out.rows += n * int64(dataset.GapStride(p.D))
	}
	out.mapped = out.rows > int64(d.InMemory())
	out.paged = dataset.Source{Path: d.Path, Format: dataset.Format(d.Format)}.Kind() == dataset.Parquet
	// the result is verified once all queries are answered
	out.rest = process + workers*(blocks+8*int64(values)) + max(8*answers*int64(values), p.CheckBytes()) + norms*n
	if d.Unit != "" { // and one unit's sum for each worker
		out.rest += unitOfRow*n + unitName*int64(rows.Units) + 8*workers*int64(values)
	}
	if !out.mapped {
		out.rest += int64(collected * float64(out.rows)) // what waits for the collector
	}
	return out
}

// memoryOf returns the finding on the most memory that a study takes, which warns if less is free.
func memoryOf(n need, free int64, known bool) Finding {
	f := Finding{Code: CheckMemory, Check: "memory of a study", OK: true}
	f.Result = fmt.Sprintf("at most about %s, %s of it rows", megabytes(n.all()), megabytes(n.rows))
	if n.mapped {
		f.Result += " mapped from a file"
	}
	if n.paged {
		f.Result += ", besides a page of each column while the Parquet file is read"
	}
	switch {
	case !known:
	case n.rest > free, !n.mapped && n.all() > free:
		f.Warning, f.Do = true, remedies[CheckMemory]
		f.Result += fmt.Sprintf("; this machine has %s free, and the agent can be killed for lack of memory", megabytes(free))
	case n.all() > free:
		f.Warning, f.Do = true, remedies[CheckMemory]
		f.Result += fmt.Sprintf("; this machine has %s free, so that rows are read from disk for each query", megabytes(free))
	default:
		f.Result += fmt.Sprintf("; this machine has %s free", megabytes(free))
	}
	return f
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", (n+999_999)/1_000_000) }
