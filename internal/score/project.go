package score

import (
	"io"
	"runtime"
	"slices"
	"sync"

	"covey/internal/dataset"
)

// Options of a projection.
type Options struct {
	Format    Format
	Quantiles []float64 // of outlier flags
	Gaps      bool      // the study keeps cells without a value: write how many a row has
	Read      dataset.ReadOptions
}

// Summary describes what was written. All of it comes from this site's rows.
type Summary struct {
	Rows    int      `json:"rows"`
	LeftOut int      `json:"rows_left_out"` // the study would drop them; they have no scores
	Columns []string `json:"columns"`       // numbers of a row, in order
	Limits  []Limit  `json:"limits,omitempty"`
	Flagged []int    `json:"flagged,omitempty"` // rows above either limit, at each quantile
	// Read is the SHA-256 of the data set as it was read now.
	Read [32]byte `json:"-"`
}

// batchValues are projected together: what a channel costs is then little.
const batchValues = 64 << 10

// Project reads a data set once and writes its rows' scores to to, in memory that the number of
// rows does not change: blocks are projected by as many goroutines as there are processors and
// written in order. Errors are those of [dataset.Stream], of [Model.block] and of to.
func Project(m *Model, s dataset.Source, q dataset.Request, to io.WriteSeeker, o Options) (*Summary, error) {
	limits, err := m.Limits(o.Quantiles)
	if err != nil {
		return nil, err
	}
	t := &table{k: m.k, t2: m.hasT2(), limits: limits, units: q.Unit != "", filled: o.Gaps}
	out := &Summary{Limits: limits, Flagged: make([]int, len(limits))}
	out.Columns, _ = t.numbers()
	t.width = len(out.Columns)
	sink, err := newSink(o.Format, to, t)
	if err != nil {
		return nil, err
	}
	p := newPool(m, t, sink, out)
	read, err := dataset.Stream(s, q, o.Read, p.add)
	if failed := p.finish(); failed != nil { // add may have returned it
		err = failed
	}
	if err != nil {
		return nil, err
	}
	out.Read = read.SHA256
	return out, sink.close(out.Rows)
}

// pool projects batches of blocks beside the reading, and hands them to the sink in order.
type pool struct {
	m       *Model
	t       *table
	sink    sink
	out     *Summary
	free    chan *batch // those that nobody uses
	work    chan *batch
	order   chan *batch
	next    *batch // that is being filled
	workers sync.WaitGroup
	written chan error // of the writer, once

	mu     sync.Mutex
	failed error
}

// batch is blocks on their way.
type batch struct {
	blocks  []dataset.Block
	values  []float64
	gaps    []byte
	parts   []*part
	encoded []byte
	err     error
	done    chan struct{}
}

func newPool(m *Model, t *table, s sink, out *Summary) *pool {
	n := runtime.GOMAXPROCS(0)
	p := &pool{m: m, t: t, sink: s, out: out, free: make(chan *batch, 3*n), work: make(chan *batch, 3*n), order: make(chan *batch, 3*n), written: make(chan error, 1)}
	for range 3 * n {
		p.free <- &batch{done: make(chan struct{}, 1)}
	}
	for range n {
		p.workers.Go(func() {
			for b := range p.work {
				b.err = p.project(b)
				b.done <- struct{}{}
			}
		})
	}
	go func() { p.written <- p.write() }()
	return p
}

// add copies a block to the batch that is being filled.
func (p *pool) add(b dataset.Block) error {
	if err := p.failure(); err != nil {
		return err
	}
	if p.next == nil {
		p.next = <-p.free
	}
	n := p.next
	at, gap := len(n.values), len(n.gaps)
	n.values, n.gaps = append(n.values, b.Values...), append(n.gaps, b.Gaps...)
	kept := dataset.Block{First: b.First, Values: n.values[at:], Absent: slices.Clone(b.Absent), Units: slices.Clone(b.Units)}
	if b.Gaps != nil {
		kept.Gaps = n.gaps[gap:]
	}
	n.blocks = append(n.blocks, kept)
	if len(n.values) >= batchValues {
		p.send()
	}
	return nil
}

func (p *pool) send() {
	if p.next == nil {
		return
	}
	p.order <- p.next // of as many places as there are batches: neither waits
	p.work <- p.next
	p.next = nil
}

// project fills in a batch's parts.
func (p *pool) project(b *batch) error {
	for _, block := range b.blocks {
		s, err := p.m.Block(block)
		if err != nil {
			return err
		}
		part := p.t.make(block, s, p.m.d)
		b.parts, b.encoded = append(b.parts, part), p.sink.encode(b.encoded, part)
	}
	return nil
}

// write hands parts to the sink in order, and after a failure takes batches alone.
func (p *pool) write() error {
	for b := range p.order {
		<-b.done
		err := b.err
		if err == nil && p.failure() == nil {
			err = p.sink.take(b.parts, b.encoded)
		}
		for _, part := range b.parts {
			p.out.Rows += part.rows()
			p.out.LeftOut += part.left
			for l, n := range part.flagged {
				p.out.Flagged[l] += n
			}
		}
		if err != nil {
			p.mu.Lock()
			if p.failed == nil {
				p.failed = err
			}
			p.mu.Unlock()
		}
		clear(b.parts)
		*b = batch{blocks: b.blocks[:0], values: b.values[:0], gaps: b.gaps[:0], parts: b.parts[:0], encoded: b.encoded[:0], done: b.done}
		p.free <- b
	}
	return p.failure()
}

func (p *pool) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// finish waits for all that was added.
func (p *pool) finish() error {
	p.send()
	close(p.work)
	close(p.order)
	p.workers.Wait()
	return <-p.written
}
