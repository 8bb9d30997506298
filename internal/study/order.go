package study

import (
	"slices"

	"covey/internal/proposal"
)

// Queries are a plan's, in the order in which they are asked. Where method = "auto" decides in the
// course of a study, they have two branches, of which one is taken.
type Queries []Query

// Follows reports whether query next may be the one after the last that was released
// (-1: none): the one behind it, or one behind a whole branch that is not taken. Once a
// branch is taken the other is closed.
func (qs Queries) Follows(last, next int) bool {
	if last < -1 || last >= next || next >= len(qs) {
		return false
	}
	from, to := "", qs[next].Branch
	if last >= 0 {
		from = qs[last].Branch
	}
	if from != "" && to != "" && from != to {
		return false
	}
	between := qs[last+1 : next]
	if len(between) == 0 {
		return true
	}
	skipped := between[0].Branch
	return skipped != "" && skipped != from && skipped != to &&
		!slices.ContainsFunc(between, func(q Query) bool { return q.Branch != skipped })
}

// after returns the index of the next query once method is decided.
func (qs Queries) after(query int, method string) int {
	for query++; query < len(qs); query++ {
		if b := qs[query].Branch; b == "" || b == method {
			break
		}
	}
	return query
}

// Ends reports whether nothing is left to ask after the query.
func (qs Queries) Ends(query int) bool {
	own := qs[query].Branch
	for _, q := range qs[query+1:] {
		if q.Branch == "" || own == "" || q.Branch == own {
			return false
		}
	}
	return true
}

// Left is how many queries are still to be released from query on, that one included,
// at most.
func (qs Queries) Left(query int) int {
	left := qs[min(query, len(qs)):]
	if len(left) > 0 && left[0].Branch != "" { // its branch is taken
		taken := left[0].Branch
		left = slices.DeleteFunc(slices.Clone(left), func(q Query) bool { return q.Branch != "" && q.Branch != taken })
	}
	return most(left, func(Query) int { return 1 })
}

// Bytes returns how many bytes a site uploads for the whole study, at most. A query that is asked
// again counts again.
func (qs Queries) Bytes() int { return most(qs, func(q Query) int { return q.Bytes }) }

// most is the sum of what is returned for each of the queries that a study can ask: of two
// branches, the larger.
func most[N int | float64](qs Queries, of func(Query) N) N {
	sum := map[string]N{}
	for _, q := range qs {
		sum[q.Branch] += of(q)
	}
	return sum[""] + max(sum[proposal.MethodPower], sum[proposal.MethodCovariance])
}

// LastMoment reports whether no part of the covariance follows the query, which is one.
func (qs Queries) LastMoment(query int) bool {
	return query+1 == len(qs) || qs[query+1].Kind != KindMoment
}

// Earlier lists the queries whose releases [Plan.Next] reads with that of query: the other steps of
// a run of power steps, after its last, and the parts of a covariance that they started at; the
// parts of a covariance before, and the histogram that their bounds are read from; the mean before.
// Of a query that is not planned, which Next refuses, it lists none.
func (qs Queries) Earlier(query int) []int {
	if query < 0 || query >= len(qs) {
		return nil
	}
	var out []int
	q := qs[query]
	ends := q.Kind == KindPower && !slices.ContainsFunc(qs[query+1:], func(n Query) bool { return n.Kind == KindPower && n.Run == q.Run })
	for i, e := range qs[:query] {
		step := ends && e.Kind == KindPower && e.Run == q.Run
		start := ends && q.Branch != "" && e.Kind == KindMoment && e.Branch == ""
		part := q.Kind == KindMoment && (e.Kind == KindMoment || e.Of == KindTotal)
		mean := q.Kind == KindMean && e.Kind == KindMean
		if step || start || part || mean {
			out = append(out, i)
		}
	}
	return out
}

// Fill returns an ask that came without kind and round, as the wire carries none, with
// the planned ones.
// One of no planned query is returned as it is: Check refuses it.
func (qs Queries) Fill(a Ask) Ask {
	if a.Kind == "" && a.Query >= 0 && a.Query < len(qs) {
		a.Kind, a.Round = qs[a.Query].Kind, qs[a.Query].Round
	}
	return a
}
