package terms

import (
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
)

// wordsPlan is a plan of so many sites.
func wordsPlan(t *testing.T, sites int, change func(*proposal.Spec)) *study.Plan {
	t.Helper()
	s := proposal.Spec{Center: proposal.CenterPublic, Name: "words", Dataset: "rows", Epsilon: 2, Delta: 1e-6, Columns: []proposal.Column{{Name: "a", Scale: 1}, {Name: "b", Scale: 1}}}
	change(&s)
	return runs.PlanOf(t, s, slices.Repeat([]int{1000}, sites)...)
}

// TestPrivacyWords: whoever approves reads what ε means in a number, that it rests on cryptography,
// what is replaced, and at how many sites.
func TestPrivacyWords(t *testing.T) {
	all := strings.Join(Privacy(wordsPlan(t, 3, func(*proposal.Spec) {})), "\n")
	for _, part := range []string{"under replacement of one unit (replace-one)", "e^ε = 7.39", "does not break the cryptography", "its ρ is s² times this (sites_per_unit = 1)"} {
		if !strings.Contains(all, part) {
			t.Errorf("%q is not in\n%s", part, all)
		}
	}
	all = strings.Join(Privacy(wordsPlan(t, 3, func(s *proposal.Spec) { s.SitesPerUnit = 2 })), "\n")
	if !strings.Contains(all, "a unit at up to 2 sites has the whole promise (sites_per_unit = 2)") {
		t.Errorf("two sites are not in\n%s", all)
	}
}

// TestDropoutWords: where every sum needs all sites, nobody reads that sums go on without one.
func TestDropoutWords(t *testing.T) {
	const on = "sums go on without a site"
	for sites, want := range map[int]string{2: "every sum needs all 2 sites, so a site that is away holds up the study", 3: "every sum needs all 3 sites", 5: on} {
		all := strings.Join(Privacy(wordsPlan(t, sites, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutContinue })), "\n")
		if !strings.Contains(all, want) || want != on && strings.Contains(all, on) {
			t.Errorf("%d sites: no %q in\n%s", sites, want, all)
		}
	}
}

// TestSharesAreCounted: of two sites one may be honest, which is no plural.
func TestSharesAreCounted(t *testing.T) {
	for sites, want := range map[int]string{2: "the shares of 1 honest site in a sum over all 2", 3: "the shares of 2 honest sites in a sum over all 3"} {
		all := strings.Join(Privacy(wordsPlan(t, sites, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })), "\n")
		if !strings.Contains(all, want) {
			t.Errorf("%d sites: no %q in\n%s", sites, want, all)
		}
	}
}

// TestCentralDetailIsSaid: an approver of central noise over single columns reads that the leader
// can read this site's own sums, in words and in the list of who learns what. Other studies do not
// say it.
func TestCentralDetailIsSaid(t *testing.T) {
	of := func(change func(*proposal.Spec)) string {
		p := wordsPlan(t, 3, change)
		all := strings.Join(Privacy(p), "\n")
		for _, l := range Learners(p) {
			all += "\n" + l.Who + ": " + l.What
		}
		return all
	}
	all := of(func(s *proposal.Spec) {
		s.Center, s.Standardize, s.CentralDetail, s.Columns = "", proposal.StandardizePrivate, true, []proposal.Column{{Name: "a"}, {Name: "b"}}
	})
	for _, part := range []string{"it counts every unit by the magnitude and the place of each column's value", "the coordinator's leader can read this site's exact sums of what this site alone has", "column by column, so that what one site alone has is that site's exact sum"} {
		if !strings.Contains(all, part) {
			t.Errorf("%q is not in\n%s", part, all)
		}
	}
	all = of(func(s *proposal.Spec) {
		s.CentralDetail, s.Columns = true, []proposal.Column{{Name: "a", Scale: 1}, {Name: "b", Levels: []string{"x"}}}
	})
	for _, part := range []string{"it counts every unit in one level of each column", "sums of what this site alone has"} {
		if !strings.Contains(all, part) {
			t.Errorf("%q is not in\n%s", part, all)
		}
	}
	if all := of(func(*proposal.Spec) {}); strings.Contains(all, "alone has") {
		t.Errorf("said of a study without:\n%s", all)
	}
}

// TestPicturesAreSaid: an approver reads what pictures count, for how much, and by site that they
// show this institution, in a line of its own.
func TestPicturesAreSaid(t *testing.T) {
	two := func(change func(*proposal.Spec)) func(*proposal.Spec) {
		return func(s *proposal.Spec) { s.Components, s.Picture = 2, true; change(s) }
	}
	const shows = "IT SHOWS THIS INSTITUTION"
	for _, c := range []struct {
		change func(*proposal.Spec)
		says   []string
		never  []string
	}{
		{two(func(s *proposal.Spec) { s.PictureShare = 0.08 }), []string{"For 8% of its ρ the study counts every unit by its score on each component, and on the components 1 and 2 together", "leader sees these counts exact"}, []string{shows}},
		{two(func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed }), []string{"For 5% of its ρ"}, []string{shows, "counts exact"}},
		{two(func(s *proposal.Spec) { s.PictureBy = proposal.PictureBySite }), []string{shows, "ε and δ protect units, not the site", "Blocks are not authenticated"}, nil},
		{two(func(s *proposal.Spec) {
			s.Columns[1].Scale, s.Columns[1].Levels, s.PictureBy, s.PictureColumn = 0, []string{"x"}, proposal.PictureByColumn, "b"
		}), []string{`by level of "b"`}, []string{shows}},
		{func(*proposal.Spec) {}, nil, []string{shows, "score on each component"}},
	} {
		words := Privacy(wordsPlan(t, 3, c.change))
		all := strings.Join(words, "\n")
		for _, part := range c.says {
			if !strings.Contains(all, part) {
				t.Errorf("%q is not in\n%s", part, all)
			}
		}
		for _, part := range c.never {
			if strings.Contains(all, part) {
				t.Errorf("%q is in\n%s", part, all)
			}
		}
		if strings.Contains(all, shows) != slices.ContainsFunc(words, func(line string) bool { return strings.HasPrefix(line, shows) }) {
			t.Errorf("it is in no line of its own:\n%s", all)
		}
	}
}

// TestPoolWords: how many sites that pool what they know see less noise than planned, and how much
// less, with distributed noise.
func TestPoolWords(t *testing.T) {
	for _, c := range []struct {
		sites, least int
		want         []string
	}{
		{2, 0, []string{"see no less"}},
		{3, 0, []string{"If 2 or more sites pool what they know, without the coordinator, they see less noise: 1/2 of the planned variance", "pay 2 times the ρ."}},
		{5, 0, []string{"4 honest sites in a sum over all 5", "down to 3 in one over 4", "If 2 or more sites pool what they know, without the coordinator, they see less noise: 2/3 of the planned variance", "pay 1.5 times", "1/4 and 4 times"}},
		{10, 0, []string{"If 4 or more sites pool what they know, without the coordinator, they see less noise: 3/4 of", "pay 1.33 times", "1/7 and 7 times"}},
	} {
		p := wordsPlan(t, c.sites, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })
		text := noiseWords(p)
		for _, part := range c.want {
			if !strings.Contains(text, part) {
				t.Errorf("%d sites: %q is not in\n%s", c.sites, part, text)
			}
		}
	}
	if text := noiseWords(wordsPlan(t, 5, func(*proposal.Spec) {})); strings.Contains(text, "pool") {
		t.Errorf("central noise is no site's to take off: %s", text)
	}
}
