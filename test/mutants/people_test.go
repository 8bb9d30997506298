//go:build mutants

package mutants

// Who may log in at the page, until when, and what each sees there.
func init() {
	const (
		register = "internal/people/people.go"
		state    = "internal/coordinator/machine.go"
		snapshot = "internal/coordinator/snapshot.go"
		sessions = "internal/dashboard/session.go"
		visitor  = "internal/dashboard/visitor.go"
		sight    = "internal/dashboard/sight.go"
		route    = "internal/dashboard/route.go"
		stream   = "internal/dashboard/stream.go"
		files    = "internal/dashboard/dashboard.go"
		report   = "internal/dashboard/result.go"
		shown    = "internal/dashboard/study.go"
		list     = "internal/dashboard/template/main.html"
	)
	people := func(name, file, old, new, test string) mutant {
		return mutant{"people: " + name, 0, []edit{{file, old, new}}, in("people", test), killer{}}
	}
	page := func(name, file, old, new, test string) mutant {
		return mutant{"people: " + name, 0, []edit{{file, old, new}}, in("dashboard", test), killer{}}
	}
	tables = append(tables, []mutant{
		people("any number of them", register, "if len(r) >= maxPeople {", "if len(r) > 2*maxPeople {", "TestBadPeople"),
		people("a snapshot of any number", register, "if len(r) > maxPeople {", "if len(r) > 2*maxPeople {", "TestBadPeople"),
		people("any role", register, "case !slices.Contains(Roles, e.Role):", "case e.Role == \"\":", "TestBadPeople"),
		people("a limit that limits nobody", register, "len(e.Studies) > 0 && e.Role != Viewer", "len(e.Studies) > MaxStudies && e.Role != Viewer", "TestBadPeople"),
		people("a certificate and a token", register, "case e.Certificate && e.Hash != \"\":", "case e.Certificate && e.Role == \"\":", "TestBadPeople"),
		people("no way in", register, "case !e.Certificate && (err != nil ||", "case !e.Certificate && e.Hash != \"\" && (err != nil ||", "TestBadPeople"),
		people("a limit is not looked at", register, "return len(p.Studies) == 0 || slices", "return len(p.Studies) >= 0 || slices", "TestSees"),
		people("an unknown role sees all", register, "	return false\n}\n\n// Entry", "	return p.Role != Metrics\n}\n\n// Entry", "TestSees"),
		people("the register changes under who reads it", register, "out := slices.Clone(r)", "out := r", "TestRegister"),
		people("a hash without a label", register, "[]byte(\"covey page token v1\\x00\" + token)", "[]byte(token)", "TestTokens"),

		{"people: lost with a snapshot", 0, []edit{{snapshot, "s.Journal, s.People, s.Chain", "s.Journal, nil, s.Chain"}}, in("coordinator", "TestPeopleAreReplicated"), killer{}},
		{"people: not in a snapshot", 0, []edit{{snapshot, ", People: m.people,", ","}}, in("coordinator", "TestPeopleAreReplicated"), killer{}},
		{"people: a snapshot is not checked", 0, []edit{{snapshot, "if err := s.People.Check(); err != nil {", "if err := s.People.Check(); err != nil && len(text) == 0 {"}}, in("coordinator", "TestBadPeopleAreNotRestored"), killer{}},
		{"people: a revocation is not kept", 0, []edit{{state, "m.people, err = m.people.Remove(*e.Dismiss)", "_, err = m.people.Remove(*e.Dismiss)"}}, in("coordinator", "TestPeopleAreReplicated"), killer{}},
		{"people: a name that nobody has fills the log", 0, []edit{{"internal/coordinator/people.go", "Remove(name); err != nil {\n		return", "Remove(name); err != nil && name == \"-\" {\n		return"}}, in("coordinator", "TestPeopleAreReplicated"), killer{}},

		page("a logout is the browser's alone", visitor, "		d.sessions.end(c.Value)\n	}\n	http.SetCookie", "		_ = c\n	}\n	http.SetCookie", "TestLogoutEndsCopies"),
		page("logins are not bounded", sessions, "		delete(s.open, oldest)\n", "", "TestSessionsAreBounded"),
		page("one's logins end another's", sessions, "if l.as.Name == as.Name {", "if l.as.Name != \"\" {", "TestSessionsAreBounded"),
		page("an idle login goes on", sessions, " || now.Sub(l.used) >= idle", "", "TestSessionsEnd"),
		page("a login in use goes on for ever", sessions, "now.Sub(l.began) >= lasting || ", "", "TestSessionsEnd"),
		page("a stream is a use", route, "v.cookie != \"\" && r.URL.Path != \"/events\"", "v.cookie != \"\"", "TestSessionsEnd"),
		page("another token leaves logins", register, "e.Hash == now.Hash && ", "", "TestRevokedAtOnce"),
		page("another role leaves logins", register, "e.Role == now.Role && ", "", "TestRevokedAtOnce"),
		page("another limit leaves logins", register, " && slices.Equal(e.Studies, now.Studies)", "", "TestRevokedAtOnce"),
		page("a revocation leaves logins", visitor, "	if !known || !as.Same(e) || !now.Before(e.Expires) {", "	if !known {\n		e = as\n	}\n	if !now.Before(e.Expires) {", "TestRevokedAtOnce"),
		page("a login outlives its token", visitor, "|| !as.Same(e) || !now.Before(e.Expires) {", "|| !as.Same(e) {", "TestRevokedAtOnce"),
		page("a token outlives itself", visitor, "return visitor{Entry: e}, known && now.Before(e.Expires)", "return visitor{Entry: e}, known", "TestRevokedAtOnce"),
		page("an ended token logs in", visitor, "if !known || !now.Before(e.Expires) || e.Role", "if !known || e.Role", "TestRevokedAtOnce"),
		page("a stream outlives its login", stream, "if now, ok := d.visitor(r); !ok || !now.Same(v.Entry) {", "if now, ok := d.visitor(r); !ok && now.Name == \"-\" {", "TestRevokedAtOnce"),
		page("an ended certificate is taken", visitor, "known && e.Certificate && now.Before(e.Expires)", "known && e.Certificate", "TestCertificate"),
		page("a certificate is anybody's", visitor, "known && e.Certificate && now", "known && now", "TestCertificate"),
		page("a site's certificate is a person's", visitor, "uri.Scheme == \"covey\"", "uri.Scheme == \"none\"", "TestCertificate"),
		page("a program logs in", visitor, " || e.Role == people.Metrics {\n		if d.wrong", " {\n		if d.wrong", "TestEveryRoute"),
		page("tokens that are shown are not paced", visitor, "if shown && !d.wrong(w, r) {", "if shown && r.Method == \"\" {", "TestWrongLoginsArePaced"),

		page("a program reads the list", route, "/{$}\", roles: readers,", "/{$}\", roles: people.Roles,", "TestEveryRoute"),
		page("a viewer reads metrics", route, "[]people.Role{people.Operator, people.Metrics}", "people.Roles", "TestEveryRoute"),
		page("a route is open", route, "{pattern: \"GET /events\", roles: readers,", "{pattern: \"GET /events\", open: true,", "TestEveryRoute"),
		page("a viewer's list has every study", sight, "return !s.as.Sees(v.Digest)", "return !s.as.Sees(v.Digest) && v.Name == \"\"", "TestEveryRoute"),
		page("a viewer's page is of every study", sight, "	if !s.as.Sees(digest) {", "	if !s.as.Sees(digest) && digest == (proposal.Digest{}) {", "TestEveryRoute"),
		page("a report past the sight", report, "s, ok := d.sight(v.Person).story(digest)", "s, ok := d.source.Story(digest)", "TestEveryRoute"),
		page("a result past the sight", files, "story, ok := s.story(digest)", "story, ok := d.source.Story(digest)", "TestEveryRoute"),
		page("a page is another's", stream, "at := shownTo{digest, in.key()}", "at := shownTo{digest, \"\"}", "TestEveryRoute"),
		page("a page is that of another limit", sight, "		b.Write(d[:])\n", "		_ = d\n", "TestEveryRoute"),
		page("a viewer sees the whole", sight, "p.Role == people.Operator, p}", "p.Role != \"\", p}", "TestEveryRoute"),
		page("a viewer sees what happened", list, "{{if .Whole}}{{template \"happenings\" .}}{{end}}", "{{template \"happenings\" .}}", "TestEveryRoute"),
		page("a viewer sees who is away", shown, "	if !in.whole {\n		return v.Waiting\n	}\n", "", "TestEveryRoute"),
		page("a viewer sees who has answered", shown, "newProgress(s, in.whole && o.Leading)", "newProgress(s, o.Leading)", "TestEveryRoute"),
		page("a viewer sees when a sum was released", sight, "s.Rounds[i].At, s.Rounds[i].Retried = time.Time{}, 0", "s.Rounds[i].Retried = 0", "TestEveryRoute"),
		page("a viewer sees retries", sight, "s.Rounds[i].At, s.Rounds[i].Retried = time.Time{}, 0", "s.Rounds[i].At = time.Time{}", "TestEveryRoute"),
		page("a viewer is told every code", sight, "if slices.Contains(shownCodes, v.Code) {", "if v.Code != \"\" {", "TestViewerIsToldWhatAnAnalystIs"),
		page("a viewer is told a no by its code", sight, "study.CodeWithdrawn, study.CodeUnit,", "study.CodeWithdrawn, study.CodeRejected, study.CodeUnit,", "TestViewerIsToldWhatAnAnalystIs"),
		page("a viewer is told why there is no result", files, "if !s.whole && story.Status", "if s.whole && story.Status", "TestViewerIsToldWhatAnAnalystIs"),
		page("a viewer times sites", sight, "const window = 10 * time.Second", "const window = time.Second", "TestViewersTimesAreCoarse"),
		page("a viewer's pages are of several moments", sight, "		if !over(v) {\n", "		if over(v) {\n", "TestViewersTimesAreCoarse"),
		page("a viewer sees seconds", sight, "Proposed: v.Proposed.Truncate(time.Minute)", "Proposed: v.Proposed", "TestBlindNamesEachField"),
		page("what is hidden is shown", sight, "Expires: v.Expires, Survivors", "Expires: v.Expires, Deadline: v.Deadline, Survivors", "TestBlindNamesEachField"),
		page("a viewer sees who has answered", sight, "round.StatusRunning || v.Overdue {", "round.StatusRunning || !v.Overdue {", "TestViewersSeeNoSiteAnswer"),
		page("a person takes all streams", stream, " || s.of[person] >= personStreams", "", "TestStreamsArePeoples"),

		page("a read result is no line", files, "	d.read(v, \"result\", digest)\n", "", "TestReadsAreLogged"),
		page("a read report is no line", report, "	d.read(v, \"report\", digest)\n", "", "TestReadsAreLogged"),
		page("a stream is no line", stream, "			d.read(v, \"stream\", digest)\n", "			_ = v\n", "TestReadsAreLogged"),
		page("each read is a line", route, "if ok && now.Sub(last) < readEvery {", "if ok && now.Sub(last) < 0 {", "TestReadsAreLogged"),
		page("the first hour's reads are all", route, "if ok && now.Sub(last) < readEvery {", "if ok && now.Sub(last) < 1000*readEvery {", "TestReadsAreLogged"),
	})
}
