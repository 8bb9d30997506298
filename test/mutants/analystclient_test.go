//go:build mutants

package mutants

// Of an analyst's program.
func init() {
	const client, pins, draft, proposal, result = "internal/analyst/client.go", "internal/analyst/pins.go", "internal/analyst/draft.go", "internal/analyst/proposal.go", "internal/analyst/result.go"
	tables = append(tables, []mutant{
		{"analyst's program: the coordinator's key may change", 0, []edit{
			{pins, "if err := same(\"\", p.Coordinator, o.Coordinator, trusted); err != nil {", "if err := same(\"\", p.Coordinator, o.Coordinator, trusted); err != nil && false {"},
		}, in("analyst", "TestChangedKeys"), killer{}},
		{"analyst's program: a site's key may change", 0, []edit{
			{pins, "if err := same(one.Name, known, one.Identity, trusted); err != nil {", "if err := same(one.Name, known, one.Identity, trusted); err != nil && false {"},
		}, in("analyst", "TestChangedKeys"), killer{}},
		{"analyst's program: readers' keys are not pinned", 0, []edit{
			{pins, "parties := slices.Clone(o.Readers)", "parties := slices.Clone(o.Readers[:0])"},
		}, in("analyst", "TestChangedKeys"), killer{}},
		{"analyst's program: the old key's fingerprint trusts the new one", 0, []edit{
			{pins, "slices.Contains(trusted, FingerprintOf(is))", "(slices.Contains(trusted, FingerprintOf(is)) || slices.Contains(trusted, FingerprintOf(was)))"},
		}, in("analyst", "TestChangedKeys"), killer{}},
		{"analyst's program: pins end with the process", 0, []edit{
			{pins, "return pki.ReplaceFile(filepath.Join(c.dir, pinsFile), text, 0o600)", "_, _ = filepath.Join, pki.ReplaceFile\n\t_ = text\n\treturn nil"},
		}, in("analyst", "TestChangedKeys"), killer{}},
		{"analyst's program: keys that were only shown are pinned", 0, []edit{
			{draft, "return &Draft{body, plan, fresh, offer, trusted}, nil", "return &Draft{body, plan, fresh, offer, trusted}, c.pin(offer, trusted)"},
		}, in("analyst", "TestPropose"), killer{}},
		{"analyst's program: keys that were proposed with are not pinned", 0, []edit{
			{proposal, "if err := c.pin(d.offer, d.trusted); err != nil {", "if err := error(nil); err != nil {"},
		}, in("analyst", "TestChangedKeys"), killer{}},
		{"analyst's program: the coordinator chooses the sites", 0, []edit{
			{draft, "if len(spec.Sites) > 0 && !slices.Equal(names, spec.Sites) {", "if false {"},
		}, in("analyst", "TestBadOffers"), killer{}},
		{"analyst's program: the coordinator chooses the readers", 0, []edit{
			{draft, "if !slices.Equal(names, spec.Readers) {", "if len(names) != len(spec.Readers) {"},
		}, in("analyst", "TestBadOffers"), killer{}},
		{"analyst's program: a site twice", 0, []edit{
			{draft, "pki.ValidName(s.Name) != nil || slices.Contains(names, s.Name)", "pki.ValidName(s.Name) != nil"},
		}, in("analyst", "TestBadOffers"), killer{}},
		{"analyst's program: what is signed is not kept", 0, []edit{
			{proposal, "if err := c.keep(id, d.Body, signature); err != nil {", "if err := error(nil); err != nil {"},
		}, in("analyst", "TestKeptBeforeSent"), killer{}},
		{"analyst's program: the signature is over something else", 0, []edit{
			{proposal, "proposal.SignProposal(c.holder.Identity(), id)", "proposal.SignProposal(c.holder.Identity(), proposal.Digest{})"},
			{proposal, "if err := d.Plan.Proposal.CheckSignature(id, signature); err != nil {", "if err := error(nil); err != nil {"},
		}, in("analyst", "TestPropose"), killer{}},
		{"analyst's program: a lost answer was a yes", 0, []edit{
			{proposal, "if _, found := c.Study(ctx, id); found == nil {", "if _, found := c.Study(ctx, id); found == nil || true {"},
		}, in("analyst", "TestLostAnswer"), killer{}},
		{"analyst's program: kept bytes are not looked at", 0, []edit{
			{proposal, "proposal.DigestOf(body) != id", "false"},
		}, in("analyst", "TestKeptIsWhatWasSigned"), killer{}},
		{"analyst's program: a result is taken as it comes", 0, []edit{
			{result, "r, v, err := result.Read(file)\n", "r, err := result.ReadVerified(file)\n\tv := &result.Verified{Digest: id}\n"},
		}, in("analyst", "TestResult"), killer{}},
		{"analyst's program: a result of another study", 0, []edit{
			{result, "if v.Digest != id {", "if false {"},
		}, in("analyst", "TestResult"), killer{}},
		{"analyst's program: a result of any key", 0, []edit{
			{result, "return out, same(\"\", p.Coordinator, v.Coordinator, trusted)", "return out, nil"},
		}, in("analyst", "TestResult"), killer{}},
		{"analyst's program: an altered copy of a proposal counts for nothing", 0, []edit{
			{result, "\tif err != nil {\n\t\treturn nil, err\n\t}\n\tp, err := c.readPins()", "\tp, err := c.readPins()"},
		}, in("analyst", "TestResult"), killer{}},
		{"analyst's program: any host may lead", 0, []edit{
			{client, "for _, a := range slices.Backward(other.Addresses) {\n\t\t\t\t\ttoFront(left, a)", "for _, a := range slices.Backward(other.Addresses) {\n\t\t\t\t\tleft = append([]string{a}, left...)"},
		}, in("analyst", "TestFindsLeader"), killer{}},
		{"analyst's program: a certificate past its end is shown", 0, []edit{
			{client, "if !c.now().Before(c.Ends()) {", "if false {"},
		}, in("analyst", "TestErrorsInWords"), killer{}},
		{"analyst's program: the certificate is not renewed", 0, []edit{
			{"internal/analyst/standing.go", ">= int(pki.RenewBefore/(24*time.Hour))", ">= 0*int(pki.RenewBefore/(24*time.Hour))"},
		}, in("analyst", "TestRenewal"), killer{}},
		{"analyst's program: another study is watched", 0, []edit{
			{"internal/analyst/studies.go", "if t.Study != id {", "if false {"},
		}, in("analyst", "TestWatch"), killer{}},
		{"analyst's program: proposes unasked", 0, []edit{
			{"cmd/analyst/propose.go", "if !c.Yes {", "if false {"},
		}, killer{pkg: "cmd/analyst", run: "TestProposing"}, killer{}},
		{"analyst's program: withdraws by a name", 0, []edit{
			{"cmd/analyst/studies.go", "case c.Yes && whole != nil:", "case c.Yes && whole != nil && false:"},
		}, killer{pkg: "cmd/analyst", run: "TestStudiesInWords"}, killer{}},
		{"analyst's program: another's words stand bare", 0, []edit{
			{"cmd/analyst/propose.go", "return frame.Word(s)", "_ = frame.Word\n\treturn s"},
		}, killer{pkg: "cmd/analyst", run: "TestStudiesInWords"}, killer{}},
		{"analyst's program: a result replaces a file", 0, []edit{
			{"cmd/internal/cli/newfile.go", "if _, err := os.Lstat(path); err == nil {", "if false {"},
			{"cmd/internal/cli/newfile.go", "err = os.Link(beside, path)", "err = os.Rename(beside, path)"},
		}, killer{pkg: "cmd/analyst", run: "TestResultIsCheckedFirst"}, killer{}},
		{"analyst's program: a site's join file is spent", 0, []edit{
			{"internal/enroll/join.go", "case role != n.Role:", "case false:"},
		}, in("enroll", "TestJoinOfAnotherRole"), killer{}},
		{"analyst's program: times that have no year", 0, []edit{
			{"internal/wire/analysis.go", "unix < 0 || unix > latest", "unix < 0"},
		}, in("wire", "TestTold"), killer{}},
	})
}
