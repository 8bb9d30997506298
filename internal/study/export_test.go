package study

// What tests of whole studies, which need package test/runs, see of the inside.

const ObservedLeast = observedLeast

func (p *Plan) ReadFilled(c *Course, r Release) { (&transition{p, Query{}, r, nil, c}).filled() }

func (p *Plan) Observed(r Release) []float64 { return (&transition{Plan: p, r: r}).observed() }

func (p *Plan) Corrected(m Moment, c Course) Moment { return p.corrected(m, c) }

func (p *Plan) Learn(c *Course, q Query, r Release) { (&transition{p, q, r, nil, c}).learn() }
