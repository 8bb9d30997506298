//go:build mutants

package mutants

func init() {
	const curve = "internal/noise/curve.go"
	tables = append(tables, []mutant{
		{"the bridge takes less than r = 4 off σ", 0, []edit{
			{curve, "const bridge = 4", "const bridge = 1"},
		}, in("noise", "TestBridgeRhoIsRoundedUp"), killer{}},
		{"the bridge takes nothing off σ²", 0, []edit{
			{curve, "sensitivity/(sigma-bridge)*(sensitivity/(sigma+bridge))", "sensitivity/sigma*(sensitivity/sigma)"},
		}, in("noise", "TestBridgeCoversCompositions"), killer{}},
		{"K of a coordinate is less than 4q", 0, []edit{
			{curve, "one := 5 * math.Exp(", "one := 3 * math.Exp("},
		}, in("noise", "TestKappa"), killer{}},
		{"K of a sum of shares forgets half of τ/2", 0, []edit{
			{curve, "closeness(s) / 2", "closeness(s) / 4"},
		}, in("noise", "TestBridgeOfShares"), killer{}},
		{"a query's K may be more than is reserved", 0, []edit{
			{curve, "const MaxKappa = 0x1p-120", "const MaxKappa = 0x1p-20"},
		}, in("noise", "TestKappa"), killer{}},
		{"a plan does not look at K", 0, []edit{
			{studyCharge, "!(kappa <= noise.MaxKappa)", "kappa < 0"},
		}, in("study", "TestClosenessIsCharged"), killer{}},
		{"the Gaussian's δ is not rounded up", 0, []edit{
			{curve, "first - second + (first+second)*share + 0x1p-1000", "first - second + 0*share"},
		}, in("noise", "TestGDPRoundsUp"), killer{}},
		{"a choice is charged as by zCDP", 0, []edit{
			{curve, "	if c == GDP {\n		return new(big.Rat).Mul(", "	if c == \"\" {\n		return new(big.Rat).Mul("},
		}, in("noise", "TestSelectionIsGaussian"), killer{}},
		{"a plan without the bridge's r has the bridge's curve", 0, []edit{
			{studyCharge, "q.Rho = max(q.Rho, noise.BridgeRho(", "_ = max(q.Rho, noise.BridgeRho("},
			{studyCharge, "q.Multiplier = noise.BridgeMultiplier(q.Rho, least) * (1 + 2*sigmaTolerance)", "_ = noise.BridgeMultiplier"},
		}, in("study", "TestAnyPlanKeepsItsEpsilon"), killer{}},
		{"U_min is less than all sites that are waited for", 0, []edit{
			{"internal/proposal/thresholds.go", "		least = n\n", "		least = 0\n"},
		}, in("study", "TestWaitIsForAll"), killer{}},
		{"the larger cap stays with a charge of another curve", 0, []edit{
			{"internal/ledger/budget.go", "if study && (p.GDP || ", "if study && (true || "},
		}, in("ledger", "TestCapsByCurve"), killer{}},
		{"the larger cap is for studies of another curve", 0, []edit{
			{"internal/ledger/budget.go", "if study && (p.GDP || ", "if (p.GDP || "},
		}, in("ledger", "TestCapsByCurve"), killer{}},
		{"a restored ledger takes every charge for one with the bridge", 0, []edit{
			{"internal/ledger/recover.go", "GDP: s.GDP, CapRho", "GDP: true, CapRho"},
		}, in("ledger", "TestRestoredKeepsItsCurve"), killer{}},
		{"a budget in (ε, δ) grows by itself", 0, []edit{
			{"internal/siteconfig/config.go", "	case bridged:\n", "	default:\n"},
		}, in("siteconfig", "TestConfigValues"), killer{}},
		{"a refused study is said to fit at a larger epsilon than does", 0, []edit{
			{"internal/limits/limits.go", "digits(x, math.Floor,", "digits(x, math.Ceil,"},
		}, in("limits", "TestRemedy"), killer{}},
		{"an approval's cap counts as larger than it was", 0, []edit{
			{"internal/ledger/budget.go", "Bridged: a.capGDP() > a.CapRho", "Bridged: true"},
		}, in("ledger", "TestCapOnRecord"), killer{}},
	})
}
