//go:build mutants

package mutants

func init() {
	tables = append(tables, []mutant{
		{"wire: a message may be of no study", 0, []edit{
			{"internal/wire/codec.go", "!ok {\n		return h, ErrNoStudy\n", "!ok {\n		return h, nil\n"},
		}, in("wire", "TestDecodeRefuses"), killer{}},
		{"wire: numbers of any size", 0, []edit{
			{"internal/wire/codec.go", "	if v > math.MaxInt32 {", "	if v > math.MaxInt32 && false {"},
		}, in("wire", "TestDecodeRefuses"), killer{}},
		{"wire: a hello of too many tags", 0, []edit{
			{"internal/wire/codec.go", "len(raw)%TagBytes != 0 || len(raw) > maxTags", "len(raw)%TagBytes != 0 || len(raw) > 2*maxTags"},
		}, in("wire", "TestDecodeRefuses"), killer{}},
		{"wire: packed survivors of any length", 0, []edit{
			{"internal/wire/shape.go", "if k < 0 || s.packed[[2]protowire.Number{of, number}] && k > maxPacked {", "if k < 0 || s.packed[[2]protowire.Number{of, number}] && k > 8*maxPacked {"},
		}, in("wire", "TestShape"), killer{}},
		{"wire: egress.jsonl does not name the query", 0, []edit{
			{"internal/wire/codec.go", "	if field(body, \"query\") != nil {\n		s.Query = &h.Query\n	}\n", ""},
		}, in("wire", "TestEveryMessageNamesItsStudy"), killer{}},
	})
}
