//go:build mutants

package mutants

// Cells without a value: where they go, what they are filled with, and how they are counted.
func init() {
	const (
		gap       = "internal/clip/gap.go"
		derive    = "internal/clip/derive.go"
		studyGap  = "internal/study/gap.go"
		studyForm = "internal/study/form.go"
		builder   = "internal/dataset/builder.go"
		data      = "internal/siteconfig/dataset.go"
		standard  = "internal/study/standardize.go"
		queryGrid = "internal/query/grid.go"
	)
	tables = append(tables, []mutant{
		{"gaps: one is what the center leaves of zero", 0, []edit{
			{derive, "row[8*at+bits.TrailingZeros64(w)] = 0", "_ = row[8*at+bits.TrailingZeros64(w)]"},
		}, in("clip", "TestGapsTravel"), killer{}},
		{"gaps: of a pair's second row they are values", 0, []edit{
			{derive, "m.gapsOf(order[2*i])[at] | m.gapsOf(order[2*i+1])[at]", "m.gapsOf(order[2*i])[at]"},
		}, in("clip", "TestGapsTravel"), killer{}},
		{"gaps: they stay where a unit's rows were", 0, []edit{
			{"internal/clip/unit.go", "		order(gapStride(m.d), m.gaps, slices.Clone(to))\n", "		_ = slices.Clone(to)\n"},
		}, in("clip", "TestGapsTravel"), killer{}},
		{"gaps: a value may be in one", 0, []edit{
			{gap, "if b&1 != 0 && values[lo+j] != 0 {", "if b&1 != 0 && values[lo+j] != 0 && false {"},
		}, in("clip", "TestGapsAreRefused"), killer{}},
		{"fill: of a row remembers the row before", 0, []edit{
			{gap, "	clear(f.gram)\n", ""},
		}, in("clip", "TestFillOfARowIsItsOwn"), killer{}},
		{"fill: from its own indicator", 0, []edit{
			{gap, "	f.hide(y)\n", ""},
		}, in("clip", "TestFillIsNotOfItsIndicator"), killer{}},
		{"fill: a study's rows from their own indicators", 0, []edit{
			{"internal/answer/answer.go", "rows.Fill(a.Fill, p.Layout.Own())", "rows.Fill(a.Fill, nil)"},
		}, in("answer", "TestGapIsNotPredictedFromBeingOne"), killer{}},
		{"fill: without a ridge", 0, []edit{
			{gap, "f.gram[l*(l+3)/2] = 1 + fillRidge", "f.gram[l*(l+3)/2] = 1"},
		}, in("clip", "TestFillIsThePrediction"), killer{}},
		{"fill: a row's last gaps are not seen", 0, []edit{
			{gap, "		w |= uint64(b) << (8 * i)\n", "		w |= uint64(b) << (8 * i) & 0\n"},
		}, in("clip", "TestRowsWithoutGapsAreNotCopied"), killer{}},
		{"fill: a row is another's place along the directions", 0, []edit{
			{gap, "f.along[l*h+h-(end-i)]", "f.along[l*h+0*(end-i)]"},
		}, in("clip", "TestFillOfARowIsItsOwn"), killer{}},
		{"fill: rows without gaps are copied", 0, []edit{
			{gap, "	filled.same = m.full\n", ""},
		}, in("clip", "TestRowsWithoutGapsAreNotCopied"), killer{}},
		{"fill: a table's products follow those of other columns", 0, []edit{
			{gap, "		at := j * size\n", "		at := 0\n"},
		}, in("clip", "TestFillWithoutProducts"), killer{}},
		{"fill: any directions are taken", 0, []edit{
			{gap, "	if err := orthonormal(v, m.d, crossTolerance); err != nil {\n		return nil, err\n	}\n	v =", "	v ="},
		}, in("clip", "TestFillNearlyOrthonormal"), killer{}},
		{"gaps: a unit counts each of its rows", 0, []edit{
			{gap, "n * one / uint64(end-first)", "n * one / uint64(1+0*(end-first))"},
		}, in("clip", "TestColumnsSkipGaps"), killer{}},
		{"gaps: their count has the sensitivity of one column", 0, []edit{
			{queryGrid, "return ratio * up(math.Sqrt(float64(values))) // exact: ratio is a power of two", "return ratio * up(math.Sqrt(min(1, float64(values))))"},
		}, in("answer", "TestReplacedUnitWithGapsMovesNoAnswerByMore"), killer{}},
		{"gaps: a query about single columns counts them", 0, []edit{
			{"internal/clip/column.go", "return c.m.there(i) * (1 - c.m.gap(i, j))", "return c.m.there(i)"},
		}, in("clip", "TestColumnsSkipGaps"), killer{}},
		{"gaps: a file's are NaN in the sums", 0, []edit{
			{builder, "			b.row.values[k] = 0\n", ""},
		}, in("dataset", "TestGapsAreKept"), killer{}},
		{"gaps: in a cache file they stay where a unit's rows were", 0, []edit{
			{"internal/rowcache/convert.go", "from.gaps[int(i)*stride:][:stride]", "from.gaps[int(order[0]+i*0)*stride:][:stride]"},
		}, in("rowcache", "TestCacheIsRead"), killer{}},
		{"gaps: a policy's approval refuses faults where rows are dropped", 0, []edit{
			{data, "	case spec.Missing == proposal.MissingDropRow:\n		return dataset.MissingDropFaulty\n", ""},
		}, in("agent", "TestValuesMoveNoMessage/by_policy,_rows_dropped"), killer{}},
		{"gaps: central noise needs no word for them", 0, []edit{
			{"internal/proposal/standardize.go", "	if s.KeepsGaps() {\n		return fmt", "	if s.KeepsGaps() && false {\n		return fmt"},
		}, in("study", "TestGapsAreCounted"), killer{}},
		{"fill: ctx does not hold its directions", 0, []edit{
			{"internal/study/ask.go", "	e.floats(a.Fill)\n", ""},
		}, in("study", "TestFillFollowsFromTheReleases"), killer{}},
		{"fill: its directions are the leader's to choose", 0, []edit{
			{"internal/study/history.go", "case !NearVector(a.Fill, want.Fill):", "case false:"},
		}, in("study", "TestFillFollowsFromTheReleases"), killer{}},
		{"fill: its directions have any shape", 0, []edit{
			{studyForm, "len(v.x) != v.want*f.d {", "len(v.x) != v.want*f.d && v.field != \"fill\" {"},
		}, in("study", "TestFillFollowsFromTheReleases"), killer{}},
		{"fill: before anything is released", 0, []edit{
			{studyForm, "later := 2*q.Round >= p.Rounds || s.Start != nil", "later := true"},
		}, in("study", "TestFillFollowsFromTheReleases"), killer{}},
		{"gaps: the covariance's diagonal is corrected twice", 0, []edit{
			{studyGap, "			b := 1.0\n", "			b := c.seen(i)\n"},
		}, in("study", "TestCorrectedCovariance"), killer{}},
		{"gaps: an empty column is divided by its noise", 0, []edit{
			{studyGap, "least := min(1, max(observedLeast, 2*t.r.Tau()))", "least := 1e-3"},
		}, in("study", "TestFilledIsRead"), killer{}},
		{"gaps: the center is a mean with zeros", 0, []edit{
			{studyCourse, "z[j] /= c.RowsPerUnit() * c.seen(j)", "z[j] /= c.RowsPerUnit()"},
		}, in("study", "TestCenterIsOfValues"), killer{}},
	})
}
