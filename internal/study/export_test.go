package study

// What tests of whole studies, which need package test/runs, see of the inside.

const ObservedLeast = observedLeast

func (p *Plan) ReadFilled(c *Course, r Release) { p.readFilled(c, r) }

func (p *Plan) Observed(r Release) []float64 { return p.observed(r) }

func (p *Plan) Corrected(m Moment, c Course) Moment { return p.corrected(m, c) }

func (p *Plan) Learn(c *Course, q Query, r Release) { p.learn(c, q, r) }
