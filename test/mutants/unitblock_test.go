//go:build mutants

package mutants

const clipBlock = "internal/clip/unitblock.go"

// Moments of units of several rows, which are added a few lines of the triangle after the others.
func init() {
	exact := in("clip", "TestUnitMomentsAreExact")
	tables = append(tables, []mutant{
		{"units: clip off by √2: moments", 0, []edit{
			{clipBlock, "min(l.scale, l.bound/trace)", "min(l.scale, math.Sqrt2*l.bound/trace)"},
		}, in("clip", "TestReplacingUnitsNeverExceedsSensitivity"), killer{}},
		{"units: a trace without rows beyond the fourth", 0, []edit{
			{clipBlock, "	blendSquares(b.squares, rows)\n", "	blendSquares(b.squares, rows[:min(4*b.d, len(rows))])\n"},
		}, in("clip", "TestReplacingUnitsNeverExceedsSensitivity"), killer{}},
		{"units: a moment's diagonal times √2", 0, []edit{
			{clipBlock, "accumulate(b.diagonal, b.squares, []float64{c}, 0)", "accumulate(b.diagonal, b.squares, []float64{off(c)}, 0)"},
		}, exact, killer{}},
		{"units: a moment that is not finite is added", 0, []edit{
			{clipBlock, "trace >= 0 && trace <= math.MaxFloat64\n", "true\n"},
		}, in("clip", "TestBlockTakesFiniteUnits"), killer{}},
		{"units: lines with what the block before left", 0, []edit{
			{clipBlock, "		clear(sums)\n", ""},
		}, exact, killer{}},
		{"units: a diagonal with what the block before left", 0, []edit{
			{clipBlock, "	b.units = b.units[:0]\n	clear(b.diagonal)\n", "	b.units = b.units[:0]\n"},
		}, exact, killer{}},
		{"units: the second lines are of the first's columns", 0, []edit{
			{clipBlock, "addLines(sums, u.rows[first:], ", "addLines(sums, u.rows, "},
		}, exact, killer{}},
		{"units: one too long for a block is left out", 0, []edit{
			{clipBlock, "				long.add(acc, l)\n", ""},
		}, exact, killer{}},
		{"units: a unit's triangle is whole", 0, []edit{
			{clipBlock, "	var long *fold\n", "	long := newFold(m, q, nil, blockBytes)\n"},
		}, in("clip", "TestNoUnitsTriangleIsWhole"), killer{}},
		{"units: rows apart are read as if together", 0, []edit{
			{"internal/clip/kernel.go", "		r, f := rows[i*stride:], c[i*step:]", "		r, f := rows[i*len(v):], c[i*step:]"},
		}, in("clip", "TestBlendApart"), killer{}},
	})
}
