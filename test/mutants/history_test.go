//go:build mutants

package mutants

const (
	siteHistory  = "internal/responder/history.go"
	studyHistory = "internal/study/history.go"
)

// What comes next: every site finds it itself, from results of one history.
func init() {
	tables = append(tables, []mutant{
		{"history: a site asks nothing of what follows", 0, []edit{
			{"internal/responder/upload.go", "if no, ok := q.s.lawful(r, ask); !ok {", "if no, ok := q.s.lawful(r, ask); !ok && no.Code == study.CodeInternal {"},
		}, in("agent", "TestCatchesUp"), killer{}},
		{"history: releases of another history are asked on", 0, []edit{
			{studyHistory, "if a.History != c.History {", "if false {"},
		}, in("agent", "TestForkedHistory"), killer{}},
		{"history: a result on record is not compared with those before it", 0, []edit{
			{siteHistory, "if err := s.plan.CheckCourse(h.course, release.Ask()); err != nil {\n\t\t\treturn h,", "if err := error(nil); err != nil {\n\t\t\treturn h,"},
		}, in("agent", "TestForkBehindAGap"), killer{}},
		{"history: a result off the course is recorded", 0, []edit{
			{siteHistory, "\treturn s.plan.CheckCourse(h.course, release.Ask())\n", "\treturn nil\n"},
		}, in("agent", "TestResultsOffTheCourse"), killer{}},
		{"history: a result in another encoding", 0, []edit{
			{siteHistory, "if !release.EncodedAs(encoded) {", "if len(encoded) == 0 {"},
		}, in("agent", "TestResultsOffTheCourse"), killer{}},
		{"history: x off the rule", 0, []edit{
			{studyHistory, "case !NearVector(a.X, want.X):", "case false:"},
		}, in("study", "TestCheckCourse"), killer{}},
		{"history: a center off the rule", 0, []edit{
			{studyHistory, "case !nearCenter(a.Center, want.Center, want.Scale):", "case false:"},
		}, in("study", "TestCheckCourse"), killer{}},
		{"history: found vectors off the rule", 0, []edit{
			{studyHistory, "case !NearVector(a.Found, want.Found):", "case false:"},
		}, in("study", "TestCheckCourse"), killer{}},
		{"history: a radius off the rule", 0, []edit{
			{studyHistory, "case !Near(a.Radius, want.Radius):", "case false:"},
		}, in("study", "TestCheckCourse"), killer{}},
		{"history: the branch that the releases do not lead to", 0, []edit{
			{siteHistory, "case ask.Query != h.course.Query:", "case !s.plan.Queries.Follows(h.course.Query-1, ask.Query):"},
			{studyHistory, "if a.Query != c.Query {", "if a.Query < c.Query {"},
		}, in("agent", "TestOneBranch"), killer{}},
		{"history: masks and signatures of two histories fit", 0, []edit{
			{"internal/study/ask.go", "\te.fixed(a.History)\n", ""},
		}, in("study", "TestContextBinds"), killer{}},
		{"history: a release names nothing before it", 0, []edit{
			{"internal/study/release.go", "Previous: a.History, Kind", "Previous: p.Digest, Kind"},
		}, in("study", "TestLinkNamesAllBefore"), killer{}},
		{"history: a course forgets which releases led to it", 0, []edit{
			{"internal/study/course.go", "\tc.History = link\n", "\t_ = link\n"},
		}, in("study", "TestLinkNamesAllBefore"), killer{}},
		{"history: a coordinator takes up a result of another history", 0, []edit{
			{leaderRefusal, "s.Plan.CheckCourse(s.State.Course, release.Ask()) == nil &&", ""},
		}, in("coordinator", "TestAdoptedResultFitsThePlan"), killer{}},
		{"history: a site that lacks releases is not told them", 0, []edit{
			{"internal/round/refusal.go", "k.lacks, k.caught = lacks, lacks", "k.caught = lacks"},
		}, in("round", "TestLackedReleases"), killer{}},
		{"history: a site is told the same release without end", 0, []edit{
			{"internal/round/refusal.go", "has >= k.caught && ", ""},
		}, in("round", "TestLackedReleases"), killer{}},
		{"history: a result that another key signed", 0, []edit{
			{"internal/responder/final.go", "if !ed25519.Verify(key, study.SigningInput(r.Encoded), r.Signature) {", "if len(key) == 0 {"},
		}, killer{pkg: "test/hostile", run: "TestForgedResults"}, killer{}},
	})
}
