package main

import (
	"slices"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// standOut tells the operator where this site's own rows are far from what a study learned from all
// sites: before the study there was nothing to compare them with. It is for the screen alone:
// nothing that leaves the site depends on it, and its faults are no failure.
func standOut(t *terminal, r *result.Result) {
	if r.ScaleNote == "" {
		return
	}
	config, fault := siteconfig.Read(t.dir)
	plan, wrong := study.NewPlan(r.Proposal)
	if fault != nil || wrong != nil {
		return
	}
	t.Say("Comparing this site's rows with the constants that were learned. Nothing is sent.")
	found := make(chan []string, 1)
	go func() { found <- unitsAsked(config, plan, r) }()
	select {
	case warnings := <-found:
		for _, text := range warnings {
			t.Say("WARNING, for this site alone: %s", text)
		}
	case <-t.Ctx.Done():
	}
}

// unitsAsked returns the warnings of this site's own rows, by the learned constants, that another
// unit of measurement may explain.
func unitsAsked(config *siteconfig.Config, plan *study.Plan, r *result.Result) []string {
	spec := plan.Proposal.Spec
	d, ok := config.Dataset(spec.Dataset)
	if !ok || len(r.Offset) != plan.D || len(r.Scale) != plan.D || len(r.Mean) != plan.D || len(r.Columns) != plan.D {
		return nil
	}
	q := d.Request(spec)
	for j, at := range plan.Layout.Coordinates {
		learned := spec.Columns[at.Column].Standardize == proposal.StandardizePrivate && at.Level < 0 && !at.Gap
		if !learned || slices.ContainsFunc(r.LeftOut, func(l result.LeftOut) bool { return l.Column == r.Columns[j] }) {
			continue
		}
		q.Columns[at.Column].Offset, q.Columns[at.Column].Scale = r.Offset[j]+r.Mean[j]*r.Scale[j], r.Scale[j]
		q.Readings[at.Column].Learned = false
	}
	f, err := sitedata.Look(config.Source(d), q)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(f.Warnings(), func(text string) bool { return !sitedata.AsksUnit(text) })
}
