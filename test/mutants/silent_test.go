//go:build mutants

package mutants

const (
	datasetBuilder = "internal/dataset/builder.go"
	figures        = "internal/sitedata/figures.go"
	agentRows      = "internal/holding/rows.go"
	agentOwn       = "internal/agent/session.go"
	studyKept      = "internal/study/kept.go"
	studyCourse    = "internal/study/course.go"
	studyWrites    = "internal/studyfile/written.go"
	clipFold       = "internal/clip/fold.go"
)

// What values decide, what is counted of rows, and what a site's operator is shown.
func init() {
	tables = append(tables, []mutant{
		{"values: a fault refuses what a policy approves", 0, []edit{
			{agentRows, "	if r.unattended && q.Missing", "	if r.unattended && false && q.Missing"},
		}, in("agent", "TestValuesMoveNoMessage/by_policy"), killer{}},
		{"values: a refusal waits for a sum", 0, []edit{
			{"internal/responder/ahead.go", "if !q.s.journal.MayUpload(ask.Query,", "if false && !q.s.journal.MayUpload(ask.Query,"},
		}, in("responder", "TestNoSumForARefusal"), killer{}},
		{"values: a direction makes numbers that take long", 0, []edit{
			{"internal/answer/answer.go", "settled(a.X), settled(a.Center),", "slices.Clone(a.X), settled(a.Center),"},
		}, in("answer", "TestTinyCoordinatesAreZero"), killer{}},
		{"values: a center makes numbers that take long of zeros", 0, []edit{
			{"internal/answer/answer.go", "settled(a.X), settled(a.Center),", "settled(a.X), slices.Clone(a.Center),"},
		}, in("answer", "TestTinyCoordinatesAreZero"), killer{}},
		{"values: a restart forgets who approved", 0, []edit{
			{"internal/agent/sessions.go", "s.unattended = approved && approval.By == ledger.ByPolicy", "s.unattended = approved && false"},
		}, in("agent", "TestFaultsStayHere/policy"), killer{}},
		{"values: a fault in a changed file has a code of its own", 0, []edit{
			{"internal/agent/dataset.go", "if units || found && at.Value {", "if units || found && at.Value && false {"},
		}, in("agent", "TestFaultsStayHere/operator"), killer{}},
		{"values: an operator's approval takes faults", 0, []edit{
			{"internal/agent/decision.go", "s.unattended = by == ledger.ByPolicy", "s.unattended = by != \"\""},
		}, in("agent", "TestFaultsStayHere/operator"), killer{}},
		{"rows: a faulty one is in the sums", 0, []edit{
			{datasetBuilder, "row.drop = b.missing == MissingDropFaulty", "row.drop = false"},
		}, in("dataset", "TestFaultyRowsAreLeftOut"), killer{}},
		{"rows: one left out is counted as kept", 0, []edit{
			{clipFold, "f.v[0] += float64(f.m.there(i))", "f.v[0]++"},
		}, in("answer", "TestKeptRowsAreCounted"), killer{}},
		{"rows: the mean is not over kept rows", 0, []edit{
			{studyCourse, "z[j] /= c.RowsPerUnit() * c.seen(j)", "z[j] /= max(1, c.RowsPerUnit()) * c.seen(j)"},
		}, in("result", "TestKeptRowsScaleTheResult"), killer{}},
		{"rows: the quantile is of those left out, too", 0, []edit{
			{studyKept, "noised[0] -= int64(units - kept)", "kept = units"},
		}, in("study", "TestRadiusIsOfKeptRows"), killer{}},
		{"rows: what noise leaves of none is divided by", 0, []edit{
			{studyKept, "least = min(1, 2*t.r.Tau())", "least = 0"},
		}, in("study", "TestNothingKept"), killer{}},
		{"columns: a forgotten scale is 1", 0, []edit{
			{studyWrites, "asItIs := scale == int64(1) || scale == 1.0", "asItIs := scale == nil || scale == int64(1) || scale == 1.0"},
		}, in("study", "TestColumnsNeedConstants"), killer{}},
		{"units: a column near zero everywhere is in order", 0, []edit{
			{figures, "leastSpread   = 0.2", "leastSpread   = 0.0"},
		}, in("sitedata", "TestFiguresFindUnits"), killer{}},
	})
}
