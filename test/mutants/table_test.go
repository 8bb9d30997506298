//go:build mutants

package mutants

import "covey/internal/clip"

const (
	release        = "internal/aggregate/release.go"
	upload         = "internal/aggregate/upload.go"
	studyCharge    = "internal/study/charge.go"
	studyClip      = "internal/study/clip.go"
	studyMoment    = "internal/study/moment.go"
	studyParts     = "internal/study/parts.go"
	histogramPeaks = "internal/histogram/peaks.go"
	studyRing      = "internal/study/ring.go"
	studyShares    = "internal/study/shares.go"
	studyHidden    = "internal/study/hidden.go"
	studyGrid      = "internal/study/grid.go"
	queryGrid      = "internal/query/grid.go"
	clipSum        = "internal/clip/sum.go"
	clipPower      = "internal/clip/power.go"
	clipLimit      = "internal/clip/limit.go"
	clipAssembly   = "internal/clip/kernel_amd64.s"
)

// in is a test of a package of ours.
func in(pkg, run string) killer { return killer{pkg: "internal/" + pkg, run: run} }

func (k killer) with(env string) killer { k.env = env; return k }

// audited is a scene of the audit that must show more than is claimed.
func audited(scene string) killer {
	return killer{pkg: "experiments/audit", run: "TestAudit/" + scene + ",_ε_8", says: "is above the claim"}
}

var (
	oneStep     = audited("power,_1_step,_a_second_leader")
	threeSteps  = audited("power,_3_steps")
	firstAlone  = audited("power,_2_steps,_a_pair_of_the_first_alone")
	histograms  = audited("power,_2_steps,_histograms")
	distributed = audited("power,_distributed,_1_site_away,_1_corrupt")
	edge        = audited("power,_sums_at_the_ring's_edge")
)

const portable = "COVEY_CLIP=portable"

// mutants are all builds. Those of assembly are there where the processor runs it.
func mutants() []mutant {
	all := []mutant{
		{"sigma x 0.8: the coordinator's noise", 1, []edit{
			{release, "sigma.Draw(source, draws)", "(sigma * 4 / 5).Draw(source, draws)"},
		}, in("coordinator", "TestOpenedSumIsThePlainSum"), oneStep},
		{"sigma x 0.8: the plan's", 1, []edit{
			{"internal/study/noise.go", "SigmaAtLeast(q.Multiplier *", "SigmaAtLeast(0.8 * q.Multiplier *"},
		}, in("study", "TestDistributedPlan"), oneStep},
		{"sigma x 0.8: a site's share", 1, []edit{
			{"internal/noise/share.go", "p.Sigma.Draw(", "(p.Sigma * 4 / 5).Draw("},
		}, in("agent", "TestShareIsThePlans"), distributed},
		{"Delta / 2: of sums", 2, []edit{
			{queryGrid, "return up(2*ratio + root)", "return up(ratio + root)"},
		}, in("clip", "TestReplacementNeverExceedsSensitivity"), oneStep},
		{"Delta / 2: of histograms", 2, []edit{
			{queryGrid, "const HistogramSensitivity float64 = math.Sqrt2", "const HistogramSensitivity float64 = math.Sqrt2 / 2"},
		}, in("clip", "TestHistogramReplacement"), histograms},
		{"noise missing in one round", 3, []edit{
			{release, "	return addNoise(sum, bits, a.Sigma, source)\n", `	if a.Kind == study.KindPower && a.Round == 1 {
		out := make([]int64, len(sum))
		for i, v := range sum {
			out[i] = lift(v, bits)
		}
		return out, nil
	}
	return addNoise(sum, bits, a.Sigma, source)
`},
		}, in("coordinator", "TestOpenedSumIsThePlainSum"), threeSteps},
		{"one coordinate without noise", 4, []edit{
			{release, "	noised := make([]int64, len(sum))\n	for i, v := range sum {\n		noised[i] = lift(v+", "	draws[0] = 0\n	noised := make([]int64, len(sum))\n	for i, v := range sum {\n		noised[i] = lift(v+"},
		}, in("coordinator", "TestOpenedSumIsThePlainSum"), threeSteps},
		{"noise reused in two rounds: one key", 5, []edit{
			{release, "	\"io\"\n", "	\"io\"\n	\"sync\"\n"},
			{release, "// Privatize makes", "var keys sync.Map // by study\n\n// Privatize makes"},
			{release, "	noised, err := Privatize(", `	if ask.Round == 0 {
		keys.Store(p.Digest, key)
	} else if first, ok := keys.Load(p.Digest); ok {
		key = first.([32]byte)
	}
	noised, err := Privatize(`},
		}, in("coordinator", "TestOpenedSumIsThePlainSum"), firstAlone},
		{"seeded noise: a constant key", 6, []edit{
			{"internal/noise/keyed.go", "return [32]byte(h.Sum(nil))", "return [32]byte{1}"},
		}, in("noise", "TestKeyBindsEverything"), oneStep},
		{"seeded noise: a constant key of shares", 6, []edit{
			{"internal/secagg/mask.go", `return [32]byte(derive(slot[:], ctx[:], "noise share", 32))`, "return [32]byte{1}"},
		}, in("secagg", "TestNoiseShareKey"), distributed},
		{"clip off by √2: all kernels", 7, []edit{
			{clipSum, "bound: ratio * margin}", "bound: ratio * margin * math.Sqrt2}"},
		}, in("clip", "TestReplacementNeverExceedsSensitivity"), oneStep},
		{"clip off by √2: the portable kernel", 7, []edit{
			{clipLimit, "l.bound/infiniteIfZero(norm))", "math.Sqrt2*l.bound/infiniteIfZero(norm))"},
		}, in("clip", "TestReplacementNeverExceedsSensitivity").with(portable), oneStep.with(portable)},
		{"clip off by √2: the portable kernel of blocks", 7, []edit{
			{clipLimit, "l.bound/infiniteIfZero(norms[i])", "math.Sqrt2*l.bound/infiniteIfZero(norms[i])"},
		}, in("clip", "TestReplacingUnitsNeverExceedsSensitivity").with(portable), killer{}},
		{"clip off by √2: means", 7, []edit{
			{clipPower, "min(l.scale, l.bound/infiniteIfZero(norm))", "min(l.scale, 1.4142*l.bound/infiniteIfZero(norm))"},
		}, in("clip", "TestReplacingUnitsNeverExceedsSensitivity"), killer{}}, // the audit's short form is too short for a part of the charge
		{"clip off by √2: moments", 7, []edit{
			{"internal/clip/moment.go", "min(l.scale, l.bound/infiniteIfZero(norm*norm))", "min(l.scale, math.Sqrt2*l.bound/infiniteIfZero(norm*norm))"},
		}, in("clip", "TestReplacingUnitsNeverExceedsSensitivity"), audited("covariance")},
		{"a moment's second panel of the first one's columns", 0, []edit{
			{"internal/clip/moment.go", "copy(tail, rows[i*d+first:])", "copy(tail, rows[i*d:])"},
		}, in("clip", "TestFusedMapsAreExact"), killer{}},
		{"a moment's lines with what the block before left", 0, []edit{
			{"internal/clip/moment.go", "		clear(sums)\n", ""},
		}, in("clip", "TestFusedMapsAreExact"), killer{}},
		{"clip skipped for one block", 8, []edit{
			{clipPower, "		clampRows(s, norms[lo:hi], l)\n", "		if l := l; lo == height {\n			l.bound *= 1 << 60\n			clampRows(s, norms[lo:hi], l)\n		} else {\n			clampRows(s, norms[lo:hi], l)\n		}\n"},
		}, in("clip", "TestEveryBlockIsClipped"), threeSteps},
		{"histogram charge missing: from the sum", 9, []edit{
			{studyCharge, "func(q Query) float64 { return q.Rho }", "func(q Query) float64 { return map[bool]float64{q.Kind != KindHistogram: q.Rho}[true] }"},
		}, in("study", "TestBudget"), histograms},
		{"histogram charge missing: at the site", 9, []edit{
			{"internal/responder/upload.go", "open.query.Context, q.s.plan.Queries[ask.Query].Rho, func", "open.query.Context, map[bool]float64{ask.Kind != study.KindHistogram: q.s.plan.Queries[ask.Query].Rho}[true], func"},
		}, in("agent", "TestCoordinatorSeesNoExactSum"), killer{}},
		{"second sample after failover", 10, []edit{
			{release, "	\"errors\"\n", "	\"crypto/rand\"\n	\"errors\"\n"},
			{release, "	noised, err := Privatize(", "	rand.Read(key[:])\n	noised, err := Privatize("},
		}, in("coordinator", "TestSameSumSameNoise"), oneStep},
		{"distributed share too small after a dropout", 11, []edit{
			{"internal/study/noise.go", "noise.NewShare(total, n.thresholds.MinSurvivors,", "noise.NewShare(total, n.thresholds.Sites,"},
			{studyCharge, "share.Carried(p.Thresholds.MinSurvivors,", "share.Carried(p.Thresholds.Sites,"},
		}, in("study", "TestDistributedPlan"), distributed},
		{"charge after release", 12, []edit{
			{"internal/ledger/upload.go", "				func() error { return r.charge(query, rho, true) },\n", ""},
			{"internal/ledger/final.go", "			return j.l.put(tx, resultKey,", "			if err := r.charge(query, 1e-9, true); err != nil {\n				return err\n			}\n			return j.l.put(tx, resultKey,"},
		}, killer{pkg: "test/sim", run: "TestQuiet", tags: "failpoint", says: "charge-before-upload: "}, killer{}},
		{"charge after release: an upload is stored without its charge", 12, []edit{
			{"internal/ledger/upload.go", "				func() error { return r.charge(query, rho, true) },\n", ""},
		}, in("ledger", "TestUploadCharges"), killer{}},
		{"noise lifted before it is added mod 2^b", 13, []edit{
			{release, "lift(v+uint64(draws[i]), bits)", "lift(v, bits) + draws[i]"},
		}, in("aggregate", "TestNoiseIsAddedInTheRing"), edge},
	}
	all = append(all, further...)
	for _, table := range tables {
		all = append(all, table...)
	}
	if clip.Path() != "portable" {
		all = append(all, assembly...)
	}
	return all
}

// assembly are mutants of what the generator wrote.
var assembly = []mutant{
	{"clip off by √2: assembly", 7, []edit{
		{clipAssembly, "	VBROADCASTSD bound+32(FP), Y1\n", "	VBROADCASTSD bound+32(FP), Y1\n	VMULPD Y1, Y1, Y1\n	VADDPD Y1, Y1, Y1\n	VSQRTPD Y1, Y1\n"},
	}, in("clip", "TestReplacementNeverExceedsSensitivity"), oneStep},
	{"clip off by √2: assembly of blocks", 7, []edit{
		{clipAssembly, "	VBROADCASTSD bound+48(FP), Y1\n", "	VBROADCASTSD bound+48(FP), Y1\n	VMULPD Y1, Y1, Y1\n	VADDPD Y1, Y1, Y1\n	VSQRTPD Y1, Y1\n"},
	}, in("clip", "TestReplacingUnitsNeverExceedsSensitivity"), killer{}},
	{"clip skipped: assembly, rows that it takes by fours", 8, []edit{
		{clipAssembly, "	VMINPD  Y6, Y5, Y5\n", ""},
	}, in("clip", "TestReplacementNeverExceedsSensitivity"), threeSteps},
}

// tables are the mutants of the other files of this package, each added by its file's init.
var tables [][]mutant

// further mutants are not of the list.
var further = []mutant{
	{"U_min less by one", 0, []edit{
		{"internal/proposal/thresholds.go", "	floor := max(q, eta+2)\n", "	floor := max(q, eta+2) - 1\n"},
	}, in("proposal", "TestThresholds"), killer{}},
	{"a quorum less by one", 0, []edit{
		{"internal/proposal/thresholds.go", "	q := (n+eta)/2 + 1\n", "	q := (n + eta) / 2\n"},
	}, in("proposal", "TestThresholds"), killer{}},
	{"the noise's key without H(U)", 0, []edit{
		{"internal/noise/keyed.go", "	h.Write(survivors[:])\n", ""},
	}, in("noise", "TestKeyBindsEverything"), killer{}},
	{"the noise's key without ctx", 0, []edit{
		{"internal/noise/keyed.go", "	h.Write(ctx[:])\n", ""},
	}, in("noise", "TestKeyBindsEverything"), killer{}},
	{"lanes of 64 bits in all", 0, []edit{
		{"internal/secagg/mask.go", "return (256 + int(bits) - 1) / int(bits)", "return (64 + int(bits) - 1) / int(bits)"},
	}, in("secagg", "TestNoiseLanes"), killer{}},
	{"shares of noise without ctx", 0, []edit{
		{"internal/secagg/mask.go", `derive(slot[:], ctx[:], "noise share", 32)`, `derive(slot[:], nil, "noise share", 32)`},
	}, in("secagg", "TestNoiseShareKey"), killer{}},
	{"no share of noise is added", 0, []edit{
		{upload, "	return share.Add(v, keys)\n", "	_ = keys\n	return nil\n"},
	}, in("agent", "TestCoordinatorSeesNoExactSum"), distributed},
	{"releases are not checked", 0, []edit{
		{release, "	return noise.CheckReleased(difference, make([]int64, len(sum)), sigma)\n", "	_ = difference\n	return nil\n"},
	}, in("aggregate", "TestReleaseWithoutNoiseIsRefused"), killer{}},
	{"agents take less noise than planned", 0, []edit{
		{"internal/study/ask.go", "!(got >= w*(1-sigmaTolerance))", "!(got >= w*0.9)"},
	}, in("study", "TestCheckRefuses"), killer{}},
	{"no margin for the clip's roundings", 0, []edit{
		{clipSum, "	margin = 1 - 0x1p-30\n", "	margin = 1.0\n"},
	}, in("clip", "TestClippedRowsKeepTheMargin"), killer{}},
	{"a zero of two signs", 0, []edit{
		{"internal/noise/gaussian.go", "if negative && y == 0 {", "if false {"},
	}, in("noise", "TestLaw"), killer{}},
	{"half of ρ is charged", 0, []edit{
		{"internal/noise/zcdp.go", "return max(r*r/2*(1+8*0x1p-53), 0x1p-1000)", "return max(r*r/4*(1+8*0x1p-53), 0x1p-1000)"},
	}, in("noise", "TestRhoOfIsRoundedUp"), oneStep},
	{"a choice's scores jump at the ring's edge", 0, []edit{
		{release, "scores[i] = noise.OnCircle(v, bits, int64(p.Groups))", "scores[i] = min(max(0, lift(v, bits)), int64(p.Groups))"},
	}, in("aggregate", "TestChoice"), killer{}},
	{"shares are sent for fewer survivors than U_min", 0, []edit{
		{"internal/graph/error.go", "	if len(u) < least {\n", "	if len(u) < least-1 {\n"},
	}, in("secagg", "TestNothingBelowTheLeastSurvivors"), killer{}},
	{"what the release check may refuse is not set aside", 0, []edit{
		{studyCharge, "sum += noise.RefusedByNeighbor(", "sum += 0 * noise.RefusedByNeighbor("},
	}, in("study", "TestLargeEpsilon"), killer{}},
	{"a study takes more of ρ than a budget of its epsilon and delta holds", 0, []edit{
		{studyCharge, "return min(rho, budget), err", "return min(rho, 2*budget), err"},
	}, in("study", "TestAnyPlanKeepsItsEpsilon"), killer{}},
}
