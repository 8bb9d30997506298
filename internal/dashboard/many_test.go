package dashboard

import (
	"fmt"
	"slices"
	"testing"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// TestManySites: a study's page of the most sites that there can be, all awaited, and each but the
// first in every sum. Sites are looked up: a walk through them for each took seconds a page.
func TestManySites(t *testing.T) {
	const queries = 50
	var o outline.Overview
	s := outline.Story{Plan: &study.Plan{}}
	s.Status = round.StatusRunning
	for i := range proposal.MaxSites {
		name := fmt.Sprintf("site-%d", i)
		s.Plan.Proposal.Roster = append(s.Plan.Proposal.Roster, proposal.Member{Name: name})
		s.Sites, s.Waiting = append(s.Sites, outline.SiteView{Name: name}), append(s.Waiting, name)
		o.Sites = append(o.Sites, outline.SiteStatus{Name: name, Connected: i%2 == 0})
	}
	s.Sites[1].Barred, o.Sites[2].Revoked, s.Sites[4].Refused = "revoked", true, study.CodeData
	for range queries {
		r := round.View{}
		for i := range proposal.MaxSites {
			if i > 0 {
				r.Survivors = append(r.Survivors, i)
			}
		}
		s.Rounds = append(s.Rounds, r)
	}
	whole := sight{whole: true}
	var m studyModel
	m.approvals(whole, s, o)
	for i, row := range m.Approvals {
		if want := queries * max(0, 1-i); row.Missed != want || row.Away {
			t.Fatalf("site %d: %+v", i, row)
		}
	}
	awaited := waiting(whole, s.View, o)
	if want := []string{"site-0", "site-1 (another key now)", "site-2 (revoked)", "site-3 (away)", "site-4 (data)"}; !slices.Equal(awaited[:5], want) || len(awaited) != proposal.MaxSites {
		t.Errorf("%d are awaited: %q", len(awaited), awaited[:5])
	}
	if said := missing(s.Rounds[0].Survivors, s.Plan); said != "site-0" {
		t.Errorf("%q is missing", said)
	}
}
