//go:build mutants

package mutants

// What the site's page must not let in, show or decide.
func init() {
	const (
		front   = "internal/sitepage/sitepage.go"
		door    = "internal/sitepage/door.go"
		decide  = "internal/sitepage/decide.go"
		model   = "internal/sitepage/model.go"
		study   = "internal/sitepage/study.go"
		since   = "internal/agent/since.go"
		changes = "internal/terms/change.go"
	)
	refused := in("sitepage", "TestRefusedRequests")
	tables = append(tables, []mutant{
		{"site page: any host", 0, []edit{{front, "if r.Host != p.address {", "if false {"}}, refused, killer{}},
		{"site page: a host by its name alone", 0, []edit{{front, "if r.Host != p.address {", "if strings.Split(r.Host, \":\")[0] != strings.Split(p.address, \":\")[0] {"}}, refused, killer{}},
		{"site page: pages of other ports read", 0, []edit{{front, "case \"\", \"none\", \"same-origin\":", "case \"\", \"none\", \"same-origin\", \"same-site\":"}}, in("sitepage", "TestForeignPagesSeeNothing"), killer{}},
		{"site page: no cookie", 0, []edit{{door, "s == nil || !equal(s.cookie, cookie)", "s == nil"}}, refused, killer{}},
		{"site page: any origin decides", 0, []edit{{front, "case r.Header.Get(\"Origin\") != \"http://\"+p.address:\n", ""}}, refused, killer{}},
		{"site page: no origin decides", 0, []edit{{front, "case r.Header.Get(\"Origin\") != \"http://\"+p.address:", "case r.Header.Get(\"Origin\") != \"\" && r.Header.Get(\"Origin\") != \"http://\"+p.address:"}}, refused, killer{}},
		{"site page: no Sec-Fetch-Site decides", 0, []edit{{front, "case r.Header.Get(\"Sec-Fetch-Site\") != \"same-origin\":\n", ""}}, refused, killer{}},
		{"site page: no form token", 0, []edit{{front, "case !same(s.form, token):", "case token == \"none\":"}}, refused, killer{}},
		{"site page: the form token in the address", 0, []edit{{front, "r.PostForm.Get(\"form\")", "r.Form.Get(\"form\")"}}, refused, killer{}},
		{"site page: a form of any length", 0, []edit{{front, "r.Body = http.MaxBytesReader(w, r.Body, maxForm)\n", ""}}, refused, killer{}},
		{"site page: it can be framed", 0, []edit{{front, "; frame-ancestors 'none'", ""}}, in("sitepage", "TestEveryReplyIsGuarded"), killer{}},
		{"site page: the link's address is told on", 0, []edit{{front, "\tw.Header().Set(\"Referrer-Policy\", \"no-referrer\")\n", ""}}, in("sitepage", "TestEveryReplyIsGuarded"), killer{}},
		{"site page: it is kept by the browser", 0, []edit{{front, "\"no-store\"", "\"no-cache\""}}, in("sitepage", "TestEveryReplyIsGuarded"), killer{}},
		{"site page: a link works twice", 0, []edit{{door, "\td.until = time.Time{}\n", ""}}, in("sitepage", "TestLinkIsGoodOnce"), killer{}},
		{"site page: a link works for ever", 0, []edit{{door, "case !time.Now().Before(d.until):", "case false:"}}, in("sitepage", "TestLinkIsGoodOnce"), killer{}},
		{"site page: looking at a link uses it", 0, []edit{{front, "if r.Method != http.MethodGet {", "if false {"}}, in("sitepage", "TestLinkIsGoodOnce"), killer{}},
		{"site page: an idle session goes on", 0, []edit{{door, "if time.Since(s.seen) >= idleFor {", "if false {"}}, in("sitepage", "TestSessionEnds"), killer{}},
		{"site page: leaving ends nothing", 0, []edit{{front, "\tp.door.leave(s)\n", ""}}, in("sitepage", "TestSessionEnds"), killer{}},
		{"site page: an older session goes on", 0, []edit{
			{door, "\td.session = &session{cookie: sha256.Sum256([]byte(cookie))", "\tif d.session != nil {\n\t\treturn cookie, entryGood\n\t}\n\td.session = &session{cookie: sha256.Sum256([]byte(cookie))"},
		}, in("sitepage", "TestSessionEnds"), killer{}},
		{"site page: the form's digest is not looked at", 0, []edit{{decide, "r.PostForm.Get(\"digest\") != id.String() || ", ""}}, refused, killer{}},
		{"site page: no typed name", 0, []edit{{decide, "case !names(r.PostForm.Get(\"name\"), d.Name):", "case false:"}}, refused, killer{}},
		{"site page: any letters", 0, []edit{{door, "case subtle.ConstantTimeCompare([]byte(letters), []byte(typed)) == 1:", "case subtle.ConstantTimeCompare([]byte(letters), []byte(typed)) >= 0:"}}, refused, killer{}},
		{"site page: letters decide twice", 0, []edit{{door, "\t\tdelete(s.letters, id)\n", ""}}, in("sitepage", "TestLettersAreUsedOnce"), killer{}},
		{"site page: of two requests with the same letters both decide", 0, []edit{{door, "\t\tdelete(s.letters, id)\n\t\treturn lettersRight\n", "\t\treturn lettersRight\n"}, {decide, "\tcase lettersRight:\n", "\tcase lettersRight:\n\t\tdefer func() { p.door.mu.Lock(); delete(s.letters, id); p.door.mu.Unlock() }()\n"}, {decide, "\tcase p.deciding <- struct{}{}:\n\t\tdefer func() { <-p.deciding }()\n", "\tdefault:\n"}}, in("sitepage", "TestOneOfManyDecides"), killer{}},
		{"site page: a second click does not wait", 0, []edit{{decide, "\tcase p.deciding <- struct{}{}:\n\t\tdefer func() { <-p.deciding }()\n", "\tdefault:\n"}}, in("sitepage", "TestSecondClickWaits"), killer{}},
		{"site page: guesses without end", 0, []edit{{door, "s.wrong++; s.wrong >= maxWrong", "s.wrong++; false"}}, in("sitepage", "TestStolenCookieReads"), killer{}},
		{"site page: guesses are counted by proposal", 0, []edit{
			{door, "\tif s.wrong++; s.wrong >= maxWrong {", "\tif s.letters[proposal.Digest{}] += \"x\"; len(s.letters[id])+len(s.letters[proposal.Digest{}]) > 100 {"},
		}, in("sitepage", "TestGuessesAreCountedTogether"), killer{}},
		{"site page: one proposal's letters are another's", 0, []edit{{door, "letters, ok := s.letters[id]\n", "letters, ok := s.letters[id]\n\tfor _, other := range s.letters {\n\t\tif other == typed {\n\t\t\tletters = other\n\t\t}\n\t}\n"}}, in("sitepage", "TestGuessesAreCountedTogether"), killer{}},
		{"site page: the letters are on the page", 0, []edit{{study, "\t\tif letters, fresh := p.door.letters(s, id); fresh {\n", "\t\tif letters, fresh := p.door.letters(s, id); fresh {\n\t\t\tm.Alert = letters\n"}}, in("sitepage", "TestDecision"), killer{}},
		{"site page: runes that are not printed pass", 0, []edit{{model, "w.Write(printed(b.Bytes()))", "w.Write(b.Bytes())"}}, in("sitepage", "TestHostileTextIsText"), killer{}},
		{"site page: figures of few values", 0, []edit{{study, "f = f.Shown()\n", ""}}, in("sitepage", "TestFewValuesAreNotShown"), killer{}},
		{"site page: rows count where a column's values do", 0, []edit{{"internal/sitedata/figures.go", "float64(f.Rows-f.Dropped) * (1 - c.Empty)", "float64(f.Rows - f.Dropped)"}}, in("sitepage", "TestFewValuesAreNotShown"), killer{}},
		{"site page: it runs where a journal keeps what it prints", 0, []edit{{"cmd/agent/page.go", "!ok || !term.IsTerminal(int(in.Fd())) || shared.Width(t.Err) == nil", "in == nil && ok && term.IsTerminal(0)"}}, killer{pkg: "cmd/agent", run: "TestPageNeedsATerminal"}, killer{}},
		{"site page: more studies fit than the ledger takes", 0, []edit{{"internal/ledger/room.go", "if _, ok := p.fits(zcdp, gdp, rho, bridge); !ok {\n\t\t\treturn n", "if _, ok := p.fits(gdp, gdp, rho, bridge); !ok {\n\t\t\treturn n"}}, in("ledger", "TestRoom"), killer{}},
		{"since: of any population", 0, []edit{{since, "e.Population != population || ", "population == \"\" || "}}, in("agent", "TestSince"), killer{}},
		{"since: of any key", 0, []edit{{since, "err != nil || !sameProposer(before, s.plan.Proposal)", "err != nil"}}, in("agent", "TestSince"), killer{}},
		{"since: of a study that was withdrawn from", 0, []edit{{since, " || withdrew(e)", ""}}, in("agent", "TestSince"), killer{}},
		{"since: an analyst is the operator", 0, []edit{{since, "a.Proposer == nil && b.Proposer == nil && bytes", "bytes"}}, in("agent", "TestSameProposer"), killer{}},
		{"since: another key of a site is not told", 0, []edit{{changes, "return partyChanges(proposal.Party{Identity: was.Identity}, proposal.Party{Identity: m.Identity})", "return nil"}}, in("terms", "TestChangesMissNothing"), killer{}},
		{"since: what is asked hides who takes part", 0, []edit{{changes, "return append(few(who), few(out)...)", "return few(append(out, who...))"}}, in("terms", "TestChangesInWords"), killer{}},
		{"since: keys that went are not told", 0, []edit{{changes, "if _, has := current[key]; !has {", "if false {"}}, in("terms", "TestChangesMissNothing"), killer{}},
		{"figures: rows are read at every look", 0, []edit{{"internal/agent/figures.go", "k.study == id && k.dataset == now.dataset && fresh", "false && fresh"}}, in("agent", "TestFiguresAreKept"), killer{}},
		{"figures: of a file that changed", 0, []edit{{"internal/agent/figures.go", "k.dataset == now.dataset && fresh", "(fresh || true)"}}, in("agent", "TestFiguresAreKept"), killer{}},
	})
}
