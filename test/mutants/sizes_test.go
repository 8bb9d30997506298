//go:build mutants

package mutants

// Packed numbers, and result files that are read as they come: a second form of one value, and a
// file with content that nobody signed.
func init() {
	const packed, strict, transcript = "internal/packed/packed.go", "internal/result/strict.go", "internal/result/transcript.go"
	tables = append(tables, []mutant{
		{"packed: numbers in more bytes than they need", 0, []edit{
			{packed, "if best, _ := out.width(); best != w {", "if best, _ := out.width(); best != w && false {"},
		}, in("packed", "TestOtherFormsAreRefused"), killer{}},
		{"packed: an exception over another number", 0, []edit{
			{packed, "|| out[i] != 0 || width(x) <= w {", "|| width(x) <= w {"},
		}, in("packed", "TestOtherFormsAreRefused"), killer{}},
		{"packed: exceptions in any order", 0, []edit{
			{packed, "if i <= last || i >= len(out)", "if i <= last && i < 0 || i >= len(out)"},
		}, in("packed", "TestOtherFormsAreRefused"), killer{}},
		{"packed: base64 with line breaks", 0, []edit{
			{packed, "if err != nil || base64.StdEncoding.EncodedLen(len(out)-before) != len(text) {", "if err != nil || before < 0 {"},
		}, in("packed", "TestOtherFormsAreRefused"), killer{}},
		{"packed: an infinite number", 0, []edit{
			{packed, "if !out.finite() {", "if false {"},
		}, in("packed", "TestOtherFormsAreRefused"), killer{}},
		{"packed: no bound on memory", 0, []edit{
			{packed, "if n > maxInts {", "if false {"},
		}, in("packed", "TestTooManyInts"), killer{}},
		{"packed: a text that grows beyond its bound", 0, []edit{
			{"internal/packed/text.go", "if size < 0 || size > most {", "if size < 0 {"},
		}, in("packed", "TestZip"), killer{}},
		{"packed: memory as a text's file says", 0, []edit{
			{"internal/packed/text.go", "min(size, 1032*len(zipped))", "size"},
		}, in("packed", "TestZipTakesNoMemory"), killer{}},
		{"packed: memory for all of a text that goes on", 0, []edit{
			{"internal/packed/text.go", "io.Copy(&out, io.LimitReader(r, int64(size)+1))", "io.Copy(&out, r)"},
		}, in("packed", "TestZipTakesNoMemory"), killer{}},
		{"packed: a vector without a text has one", 0, []edit{
			{packed, "append(slices.Clip(between[i]), '\"')); !ok || !v.finite() {", "append(slices.Clip(between[i]), '\"')); !ok {"},
		}, in("packed", "TestBehindNothing"), killer{}},
		{"packed: a string that reads like a stand-in is one", 0, []edit{
			{packed, "if len(between) != len(vectors)+1 {", "if len(between) < len(vectors)+1 {"},
		}, in("packed", "TestBehindNothing"), killer{}},
		{"packed: a text that is longer than it says", 0, []edit{
			{"internal/packed/text.go", "if err != nil || n != int64(size) {", "if n < int64(size) {"},
		}, in("packed", "TestZip"), killer{}},
		{"result: a key is missing", 0, []edit{
			{strict, "!seen[key] && !optional(field)", "!seen[key] && false"},
		}, in("result", "TestVerifyIsStrict"), killer{}},
		{"result: a key stands there twice", 0, []edit{
			{strict, "		if seen[key] {\n			return nil, unverified(-1, key, \"appears twice\")", "		if false {\n			return nil, unverified(-1, key, \"appears twice\")"},
		}, in("result", "TestVerifyIsStrict"), killer{}},
		{"result: a list of more values than are read", 0, []edit{
			{strict, "			if !at.object {\n				if err := visit(", "			if false {\n				if err := visit("},
		}, in("result", "TestVerifyKnowsLengths"), killer{}},
		{"result: entries of a few bytes take memory", 0, []edit{
			{"internal/result/entries.go", "n*len(least) > len(text) {", "n*len(least) < 0 {"},
		}, in("result", "TestShortEntriesTakeNoMemory"), killer{}},
		{"result: many keys in another order are held", 0, []edit{
			{strict, "len(order) > maxKeys {", "len(order) < 0 {"},
		}, in("result", "TestKeysInAnyOrder"), killer{}},
		{"a proposal's keys have any number of parts", 0, []edit{
			{"internal/proposal/known.go", "dots > maxDots {", "dots < 0 {"},
		}, in("proposal", "TestListsAreBounded"), killer{}},
		{"result: more releases than a study has slots", 0, []edit{
			{strict, "		if i == proposal.MaxSlots {", "		if false {"},
		}, in("result", "TestReleasesAreBounded"), killer{}},
		{"result: more behind the object", 0, []edit{
			{strict, "if _, err := d.Token(); !errors.Is(err, io.EOF) {", "if false {"},
		}, in("result", "TestVerifyIsStrict"), killer{}},
		{"result: a release that nobody signed", 0, []edit{
			{transcript, "if !before && !verifies(p, study.SigningInput(release.encoded), r.Signatures[i]) {", "if !before && len(r.Signatures[i]) == 0 {"},
		}, in("result", "TestVerifyRefusesSigned"), killer{}},
		{"result: a coordinator signs a release in another form", 0, []edit{
			{"internal/result/sealed.go", "release, err := parseCanonical(len(releases), s.Encoded)", "release, err := study.ParseRelease(s.Encoded)"},
		}, in("result", "TestSignRefusesOtherForms"), killer{}},
		{"agent: proposals that wait are bounded zipped", 0, []edit{
			{"internal/proposals/pending.go", "total += max(0, packed.Length(zipped))", "total += len(zipped)"},
		}, in("proposals", "TestPendingProposalsAreBounded"), killer{}},
	})
}
