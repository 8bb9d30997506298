//go:build mutants

package mutants

func init() {
	const (
		parts     = "internal/noise/share.go"
		closeness = "internal/noise/distributed.go"
		plan      = "internal/study/release.go"
		opening   = "internal/round/opening.go"
		shares    = "internal/secagg/shares.go"
	)
	tables = append(tables, []mutant{
		{"a part goes from a sum that needs it", 0, []edit{
			{parts, "		if p.Most < u {", "		if p.Most <= u {"},
		}, in("noise", "TestShareCarriesEverySum"), killer{}},
		{"a level has what its most sites need", 0, []edit{
			{parts, "partSigma(total, fewest-apart, kept)", "partSigma(total, most-apart, kept)"},
		}, in("noise", "TestShareCarriesEverySum"), killer{}},
		{"a level counts corrupt sites' noise", 0, []edit{
			{parts, "partSigma(total, fewest-apart, kept)", "partSigma(total, fewest, kept)"},
		}, in("noise", "TestShareCarriesEverySum"), killer{}},
		{"levels are wider than a tenth", 0, []edit{
			{parts, "(10*(top-apart)+10)/11", "(10*(top-apart)+10)/13"},
		}, in("noise", "TestShareCarriesEverySum"), killer{}},
		{"narrow parts stay by themselves", 0, []edit{
			{parts, "		if less.Cmp(bound) >= 0 {", "		if less.Sign() >= 0 {"},
		}, in("noise", "TestNarrowPartsAreFolded"), killer{}},
		{"sums are charged as of all sites", 0, []edit{
			{parts, "append(out, Carried{s[: i+1 : i+1], fewest - apart})", "append(out, Carried{s[: i+1 : i+1], max(fewest, s[0].Most) - apart})"},
		}, in("noise", "TestKept"), killer{}},
		{"sums are charged as if nothing were taken away", 0, []edit{
			{parts, "append(out, Carried{s[: i+1 : i+1], fewest - apart})", "append(out, Carried{s, fewest - apart})"},
		}, in("noise", "TestKept"), killer{}},
		{"τ forgets parts of another width", 0, []edit{
			{closeness, "		before += float64(s.Honest) * v\n", "		before = 0\n"},
		}, in("noise", "TestUnequalPartsAreCovered"), killer{}},
		{"τ is 10 times the sum for equal parts alone", 0, []edit{
			{closeness, "all / (all + v)", "float64(k) / float64(k+1)"},
		}, in("noise", "TestUnequalPartsAreCovered"), killer{}},
		{"all parts have one key", 0, []edit{
			{upload, "secagg.NoiseComponentKeys(root, sites, removable.Levels())...", "slices.Repeat(keys, len(removable))..."},
			{upload, "		root := secagg.NoiseChain(own, q.Context, sites, sites)\n", ""},
			{upload, "		sites := p.Thresholds.Sites\n", ""},
			{upload, "import (\n", "import (\n	\"slices\"\n\n"},
		}, in("agent", "TestShareIsThePlans"), killer{}},
		{"a site lets more be taken away than its sum does not need", 0, []edit{
			{shares, "NoiseChain(own, q.Context, s.cfg.sites(), len(u))", "NoiseChain(own, q.Context, s.cfg.sites(), min(len(u)+1, s.cfg.sites()))"},
		}, in("coordinator", "TestNoiseIsTakenAway"), killer{}},
		{"κ of u is that of u+1", 0, []edit{
			{"internal/secagg/chain.go", "for at := sites; at > u; at--", "for at := sites; at > u+1; at--"},
		}, in("secagg", "TestNoiseChain"), killer{}},
		{"the first part's key is the chain's", 0, []edit{
			{"internal/secagg/mask.go", "derive(slot[:], ctx[:], \"noise share\", 32)", "derive(slot[:], ctx[:], \"noise chain\", 32)"},
		}, in("secagg", "TestChainKeyGivesOnlyTheLower"), killer{}},
		{"noise is said to be taken away and is not", 0, []edit{
			{release, "			if err := removable.Subtract(sum, ", "			if err := removable.Subtract(make([]uint64, len(sum)), "},
		}, in("coordinator", "TestNoiseIsTakenAway"), killer{}},
		{"a release names all as those whose noise went", 0, []edit{
			{release, "		r.Removed = removed\n", "		r.Removed = append(removed[:0:0], survivors...)\n"},
		}, in("coordinator", "TestLateNoiseStays"), killer{}},
		{"noise that stays is waited for for ever", 0, []edit{
			{opening, "	if !s.late(PhaseOpen) && slices.ContainsFunc(", "	if slices.ContainsFunc("},
		}, in("round", "TestNoiseIsWaitedForUntilTheDeadline"), killer{}},
		{"noise is not waited for", 0, []edit{
			{opening, "s.unheard) && s.removes(ask) {", "s.unheard) && s.removes(ask) && s.live.proposing {"},
		}, in("round", "TestNoiseIsWaitedForUntilTheDeadline"), killer{}},
		{"noise that all need is waited for", 0, []edit{
			{opening, "s.unheard) && s.removes(ask) {", "s.unheard) && (s.removes(ask) || true) {"},
		}, in("round", "TestNoNoiseNoWait"), killer{}},
		{"an upload leaves without the noise that failed", 0, []edit{
			{"internal/aggregate/upload.go", "		err = AddShare(p, v, own, q, ask)\n", "		AddShare(p, v, own, q, ask)\n"},
		}, in("aggregate", "TestNoUploadWithoutItsNoise"), killer{}},
		{"draws go on once the source has bytes again", 0, []edit{
			{"internal/noise/bernoulli.go", "		if s.err == nil {\n			_, s.err = io", "		if true {\n			_, s.err = io"},
		}, in("noise", "TestFailureOfTheSourceStays"), killer{}},
		{"a draw of more than 62 bits", 0, []edit{
			{"internal/noise/gaussian.go", "y >= 1<<62 {", "y >= 1<<63 {"},
		}, in("noise", "TestDrawThatDoesNotFit"), killer{}},
		{"a draw is what a product leaves in a word", 0, []edit{
			{"internal/noise/gaussian.go", "		if hi != 0 || carry != 0 ||", "		_ = hi\n		if carry != 0 ||"},
		}, in("noise", "TestDrawThatDoesNotFit"), killer{}},
		{"a draw is what a sum leaves in a word", 0, []edit{
			{"internal/noise/gaussian.go", "		if hi != 0 || carry != 0 ||", "		_ = carry\n		if hi != 0 ||"},
		}, in("noise", "TestDrawThatDoesNotFit"), killer{}},
		{"a distance whose square wraps", 0, []edit{
			{"internal/noise/accept.go", "x/r.m < 1<<31", "x/r.m < 1<<33"},
		}, in("noise", "TestDistanceFits"), killer{}},
		{"a release of draws that failed", 0, []edit{
			{"internal/aggregate/release.go", "sigma.Draw(source, draws); err != nil {", "sigma.Draw(source, draws); false && err != nil {"},
		}, in("aggregate", "TestNoReleaseWithoutItsNoise"), killer{}},
		{"a release names others' noise as taken away", 0, []edit{
			{plan, "		rest = rest[at+1:]\n", "		rest = rest[:]\n"},
		}, in("study", "TestCheckReleaseOfRemovedNoise"), killer{}},
		{"a release says that needed noise was taken away", 0, []edit{
			{plan, "len(r.Removed) > 0 && len(r.Removable()) == 0", "false"},
		}, in("study", "TestCheckReleaseOfRemovedNoise"), killer{}},
		{"a release says less noise than stayed", 0, []edit{
			{plan, "(all-removed)*r.Share.Variance()", "(all-removed)*r.Share.Kept(len(r.Survivors)).Variance()"},
		}, in("study", "TestCheckReleaseOfRemovedNoise"), killer{}},
		{"verify states the planned noise", 0, []edit{
			{"internal/result/verify.go", "max(v.NoiseFactor, release.Spread()/release.Sigma.Float())", "max(v.NoiseFactor, plan.Noise.Over(len(release.Survivors)))"},
		}, in("result", "TestVerifiedNoiseIsWhatStayed"), killer{}},
	})
}
