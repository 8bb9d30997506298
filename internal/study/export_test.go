package study

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
)

// What tests of whole studies, which need package test/runs, see of the inside.

const ObservedLeast = observedLeast

func (p *Plan) ReadFilled(c *Course, r Release) { (&transition{p, Query{}, r, nil, c}).filled() }

func (p *Plan) Observed(r Release) []float64 { return (&transition{Plan: p, r: r}).observed() }

func (c Course) Corrected(m Moment, d int) Moment { return c.corrected(m, d) }

func (p *Plan) Learn(c *Course, q Query, r Release) { (&transition{p, q, r, nil, c}).learn() }

// Bits hashes every bit of numbers.
type Bits struct{ hash.Hash }

func NewBits() Bits { return Bits{sha256.New()} }

func (b Bits) Add(values ...float64) {
	for _, v := range values {
		b.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)))
	}
}
