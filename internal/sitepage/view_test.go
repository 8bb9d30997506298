package sitepage

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"covey/internal/agent"
	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/limits"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/terms"
)

// TestProposalInPlainWords: what was computed here stands before what its proposer wrote, and that
// before the form.
func TestProposalInPlainWords(t *testing.T) {
	v, _ := visited(t)
	plan := planOf(t, 3, func(s *proposal.Spec) {
		s.About = proposal.About{Purpose: "approved by your data protection officer", Contact: "https://evil.example"}
	})
	d := pendingOf(plan)
	d.Warnings = []string{"a warning"}
	d.Policy = []siteconfig.PolicyRule{{Rule: "min_sites", Limit: "3", Study: "2 sites"}}
	d.Since = &agent.Since{Digest: plan.Digest, Name: "blood", Approved: time.Unix(0, 0), Changes: []string{"epsilon = 2 (was 1)"}}
	d.Leaves = []egress.Planned{{Kind: "upload", What: "a sum", Bytes: 700}, {Kind: "upload", What: "a sum", Bytes: 702}}
	d.Privacy, d.Learns = terms.Privacy(plan), terms.Learners(plan)
	v.site.studies[plan.Digest] = d
	page := v.get("/studies/" + plan.Digest.String())
	at := 0
	for _, part := range []string{
		"asks for the strongest pattern (principal component) in 2 columns of your data set &#34;rows&#34;", "No row leaves this site. 2 messages do, 1402 bytes in all", "of the budget of &#34;people&#34;", "7 more such studies would fit after it",
		"1 warning is below", "does not meet 1 of this site", "ε = 0.5", "<td class=\"num\">700-702</td>", "min_sites", "epsilon = 2 (was 1)", "a warning",
		"Written by the coordinator&#39;s operator, not checked</h2>", "approved by your data protection officer", "https://evil.example", "Your decision",
	} {
		next := strings.Index(page[at:], part)
		if next < 0 {
			t.Fatalf("no %q after the one before it in\n%s", part, page)
		}
		at += next
	}
	if regexp.MustCompile(`href="[^/#]`).MatchString(page) {
		t.Error("a link leads away")
	}
	d.Budget.More = 999 // where counting ends
	v.site.studies[plan.Digest] = d
	if page := v.get("/studies/" + plan.Digest.String()); !strings.Contains(page, "at least 999 more such studies would fit after it") || !strings.Contains(page, "<strong>at least 999</strong>") {
		t.Error("999 is said to be all")
	}
	d.Budget = &limits.Budget{Population: "people", CapRho: 1e-9, StudyRho: plan.Rho, LeftRho: -plan.Rho, Remedy: "at δ = 1e-06 a smaller one would do"}
	v.site.studies[plan.Digest] = d
	if page := v.get("/studies/" + plan.Digest.String()); strings.Count(page, "at δ = 1e-06 a smaller one would do") != 2 || !strings.Contains(page, "It does not fit") || strings.Contains(page, "would fit after it") {
		t.Error("a study that does not fit looks as if it did")
	}
}

// TestAskingIsNoRuleThatIsBroken: a site that decides every study itself is not told of each that
// it breaks a rule, but of one that does.
func TestAskingIsNoRuleThatIsBroken(t *testing.T) {
	v, id := visited(t)
	d := v.site.studies[id]
	ask := siteconfig.Policy{Approve: siteconfig.ApproveAsk, MinSites: 3}
	for min, said := range map[int]bool{3: false, 4: true} {
		ask.MinSites = min
		d.Policy = ask.Judge(d.Plan, 0)
		v.site.studies[id] = d
		page := v.get("/studies/" + id.String())
		if strings.Contains(page, "It does not meet 1 of this site") != said || strings.Contains(page, "It does not meet") != said || !strings.Contains(page, "<td>you decide</td>") {
			t.Errorf("min_sites = %d:\n%s", min, page)
		}
	}
}

// TestManyColumnsAreFolded: of a study of many columns an approver sees the first hundred at once,
// opens up to 400 more, and is told how many the page leaves out; one of few has no fold.
func TestManyColumnsAreFolded(t *testing.T) {
	v, _ := visited(t)
	for columns, want := range map[int]struct{ folded, left string }{100: {"", ""}, 101: {"1 more column<", ""}, 700: {"400 more columns", "200 more: <code>"}} {
		plan := planOf(t, 3, func(s *proposal.Spec) {
			s.Columns = nil
			for j := range columns {
				s.Columns = append(s.Columns, proposal.Column{Name: fmt.Sprintf("column-%d", j), Scale: 1})
			}
		})
		v.site.studies[plan.Digest] = pendingOf(plan)
		v.site.figures.Columns = make([]sitedata.ColumnFigure, columns)
		page := v.get("/studies/" + plan.Digest.String())
		seen, hidden, folded := strings.Cut(page, "<details><summary>"+want.folded)
		if want.folded == "" {
			seen, hidden, folded = page, "", false
		}
		if n := strings.Count(seen, "<bdi>column-"); n != min(columns, 100) || folded != (want.folded != "") || strings.Contains(page, " more column") != folded {
			t.Errorf("of %d columns %d are open, folded %t", columns, n, folded)
		}
		if n := strings.Count(hidden, "<bdi>column-"); n != min(columns, 500)-min(columns, 100) || !strings.Contains(page, want.left) {
			t.Errorf("of %d columns %d are in the fold", columns, n)
		}
	}
}

// TestUncheckedUnitsAreSaid: a page without a warning does not look as if units had been checked.
func TestUncheckedUnitsAreSaid(t *testing.T) {
	const said = "Of 1 of these 2 columns nothing checks the unit of measurement"
	v, id := visited(t)
	v.site.figures.Rows = 1000
	if page := v.get("/studies/" + id.String()); strings.Contains(page, said) {
		t.Error("of constants of the proposer")
	}
	v.site.figures.Columns[1].Learned = true
	if page := v.get("/studies/" + id.String()); !strings.Contains(page, said) {
		t.Error("of learned constants nothing is said")
	}
}

// TestBrokenChainIsSaid: the first page says that no query is answered, and why.
func TestBrokenChainIsSaid(t *testing.T) {
	v, _ := visited(t)
	if strings.Contains(v.get("/"), "No query is answered") {
		t.Error("a chain that is in order is called broken")
	}
	v.site.broken = "the chain ends <early>"
	if page := v.get("/"); !strings.Contains(page, "No query is answered: the chain ends &lt;early&gt;") || !strings.Contains(page, "<code>agent chain show</code>") {
		t.Errorf("the page is silent:\n%s", page)
	}
}

// TestProposerIsNamed: an analyst who proposes stands in the first sentence, over the words, and
// with the key; so do the readers.
func TestProposerIsNamed(t *testing.T) {
	v, _ := visited(t)
	plan := planOf(t, 3, func(s *proposal.Spec) { s.About.Purpose = "words" })
	plan.Proposal.Proposer = &proposal.Party{Name: "ada", Identity: proposal.Key("a key")}
	plan.Proposal.Readers = []proposal.Party{{Name: "bob", Identity: proposal.Key("another")}}
	v.site.studies[plan.Digest] = pendingOf(plan)
	page := v.get("/studies/" + plan.Digest.String())
	for _, part := range []string{"<li>Analyst &#34;ada&#34; asks for", "Written by analyst &#34;ada&#34;, not checked</h2>", "Proposed by analyst <bdi>ada</bdi>, with the key <code>" + pki.Fingerprint([]byte("a key")),
		"also for analyst <bdi>bob</bdi> (<code>" + pki.Fingerprint([]byte("another"))} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
}

// TestHostileTextIsText: names, words and errors of others are no markup and no directions on any
// page, however long they are.
func TestHostileTextIsText(t *testing.T) {
	const bad = "<script>alert(1)</script>\"'\u202eevil\x1b[31m\u2066\xff\u00ad</h1>"
	hostile := bad + strings.Repeat("W", 5000)
	v, _ := visited(t)
	plan := planOf(t, 4, nil)
	spec := &plan.Proposal.Spec
	spec.Name, spec.Dataset, spec.About = hostile, hostile, proposal.About{Purpose: hostile}
	for i := range spec.Columns {
		spec.Columns[i].Name, spec.Columns[i].Measure = hostile, hostile
	}
	d := pendingOf(plan)
	d.Name, d.Why, d.Code, d.By, d.Population = hostile, hostile, "", hostile, hostile
	d.Budget.Population, d.Warnings, d.Privacy = hostile, []string{hostile}, []string{hostile}
	d.Learns = []terms.Learner{{Who: hostile, What: hostile}}
	d.Roster = []agent.RosterLine{{Name: hostile, Fingerprint: hostile, Known: hostile}}
	d.Policy = []siteconfig.PolicyRule{{Rule: hostile, Limit: hostile, Study: hostile}}
	d.Since = &agent.Since{Name: hostile, Changes: []string{hostile}}
	d.Leaves = []egress.Planned{{Kind: hostile, What: hostile}}
	d.Key, v.site.broken = hostile, hostile
	v.site.studies[plan.Digest] = d
	v.site.figures.Fault, v.site.figures.Faulty, v.site.figures.Rows = hostile, 1, 1000
	v.site.figures.Columns = []sitedata.ColumnFigure{{Name: hostile, Warnings: []string{hostile}}, {Name: hostile, Levels: 2}}
	over := d
	over.State, over.Digest, over.Code = hostile, proposal.DigestOf([]byte("over")), hostile
	v.site.studies[over.Digest] = over
	v.site.ledger = agent.LedgerReply{Populations: []limits.Population{{Name: hostile, Curve: hostile, CapRho: 1}}, Studies: []agent.StudyView{over.StudyView}}
	v.site.sent = egress.Reply{Link: map[string]egress.Count{hostile: {}}, Studies: []egress.Study{{Name: hostile, Sent: map[string]egress.Count{hostile: {Messages: 1}}}}}
	v.site.found = []doctor.Finding{{Check: hostile, Result: hostile, Do: hostile}}
	pages := map[string]string{}
	for _, path := range []string{"/", "/studies/" + plan.Digest.String(), "/studies/" + over.Digest.String(), "/budgets", "/egress"} {
		pages[path] = v.get(path)
	}
	form := v.do("GET", "/checks", nil, nil).Body.String()
	pages["/checks"] = v.do("POST", "/checks", map[string][]string{"form": {tokenOf.FindStringSubmatch(form)[1]}}, nil).Body.String()
	v.site.fault = errors.New(hostile)
	pages["a fault"] = v.do("GET", "/", nil, nil).Body.String()
	pages["a fault of figures"] = v.do("GET", "/studies/"+plan.Digest.String(), nil, nil).Body.String()
	for path, page := range pages {
		if strings.Contains(page, "<script") || strings.ContainsAny(page, "\u202e\u2066\x1b\u00ad") || strings.Contains(page, "\"'evil") {
			t.Errorf("%s: a text is more than text", path)
		}
		if regexp.MustCompile(`\s(on[a-z]+|style)=`).MatchString(page) {
			t.Errorf("%s: the policy forbids inline styles and handlers", path)
		}
		if !strings.Contains(page, "&lt;script&gt;") {
			t.Errorf("%s has nothing of the text", path)
		}
	}
	for _, line := range v.told {
		if strings.Contains(line, hostile) || len(line) > 1000 {
			t.Errorf("the terminal is told %d bytes: %.300q", len(line), line)
		}
	}
}

// TestFewValuesAreNotShown: of 49 values a median is nearly a person's value, and so is what a
// warning says of them. Of a column with gaps its own values count, not the rows.
func TestFewValuesAreNotShown(t *testing.T) {
	v, id := visited(t)
	at := 7.25
	figures := func(rows, dropped int, empty float64) {
		v.site.figures = sitedata.Figures{Rows: rows, Units: rows, Dropped: dropped, Columns: []sitedata.ColumnFigure{
			{Name: "x", Scale: 1, Median: 7.25, Spread: 1.5, Low: &at, High: &at, Empty: empty, Warnings: []string{"lies 7.25 scales above the study's offset"}}, {Name: "y", Levels: 2, Other: 0.0725, Empty: empty}}}
	}
	for _, c := range []struct {
		rows, dropped int
		empty         float64
		shown         bool
	}{{50, 0, 0, true}, {49, 0, 0, false}, {60, 11, 0, false}, {61, 11, 0, true}, {1000, 0, 0.951, false}, {1000, 0, 0.95, true}} {
		figures(c.rows, c.dropped, c.empty)
		page := v.get("/studies/" + id.String())
		if got := strings.Contains(page, "7.25"); got != c.shown {
			t.Errorf("%+v: shown %t", c, got)
		}
		if !c.shown && !strings.Contains(page, "fewer than 50 values") {
			t.Errorf("%+v: it is not said why", c)
		}
	}
	for _, line := range v.told {
		if strings.Contains(line, "7.25") {
			t.Errorf("told %q", line)
		}
	}
}

// TestDatesOnThePage: beside dates the range that a proposer states is one of dates.
func TestDatesOnThePage(t *testing.T) {
	columns := []proposal.Column{{Name: "seen", Scale: 1, Range: []float64{0, 366}}}
	if c := columnsOf(columns, nil)[0]; c.Range != "0 to 366" {
		t.Errorf("without figures: %+v", c)
	}
	f := &sitedata.Figures{Columns: []sitedata.ColumnFigure{{Name: "seen", Since: "2020-01-01", Median: 31, Spread: 2}}}
	if c := columnsOf(columns, f)[0]; c.Range != "2020-01-01 to 2021-01-01" || c.Median != "2020-02-01" || c.Spread != "2 days" {
		t.Errorf("%+v", c)
	}
}

// TestFaultsAreSaid: without an agent, without figures, and of a study that is over, pages say so.
func TestFaultsAreSaid(t *testing.T) {
	v, id := visited(t)
	d := v.site.studies[id]
	over := d
	over.Plan, over.Budget, over.State, over.Code = nil, nil, "finished", "aborted"
	v.site.studies[id] = over
	if page := v.get("/studies/" + id.String()); !strings.Contains(page, "It is over here") || strings.Contains(page, "Your decision") {
		t.Errorf("of a study that is over:\n%s", page)
	}
	over.State, over.Code = "pending", "unit"
	v.site.studies[id] = over
	if page := v.get("/studies/" + id.String()); !strings.Contains(page, "cannot be approved as agent.toml is now (unit)") || strings.Contains(page, "Your decision") {
		t.Errorf("of a study that fits no data set:\n%s", page)
	}
	over.State, over.Code, over.Rho = "approved", "columns", 0.25
	v.site.studies[id] = over
	if page := v.get("/studies/" + id.String()); !strings.Contains(page, "cannot go on as this program or agent.toml is now (columns). Its ρ = 0.25 stays reserved") || strings.Contains(page, "It is over here") {
		t.Errorf("of an approved study that cannot go on:\n%s", page)
	}
	told := len(v.told)
	v.site.fault = errors.New("no agent answers")
	for _, path := range []string{"/", "/studies/" + id.String(), "/budgets", "/egress"} {
		if w := v.do("GET", path, nil, nil); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "no agent answers") {
			t.Errorf("%s: %d\n%s", path, w.Code, w.Body)
		}
	}
	if len(v.told) != told {
		t.Errorf("letters are printed for what cannot be decided: %q", v.told[told:])
	}
}

// TestKeyExchangeIsShown: the page says of the link whether a later quantum computer could open it.
func TestKeyExchangeIsShown(t *testing.T) {
	v, _ := visited(t)
	const warned, linked = "The link to the coordinator is not quantum-safe: its key exchange is CurveP256.", "Linked to hub.example:7443; the link is "
	v.site.exchange = pki.KeyExchange{Group: "X25519MLKEM768", QuantumSafe: true}
	if page := v.get("/"); strings.Contains(page, warned) || !strings.Contains(page, linked+"quantum-safe (X25519MLKEM768).") {
		t.Error(page)
	}
	v.site.exchange = pki.KeyExchange{Group: "CurveP256"}
	if page := v.get("/"); !strings.Contains(page, warned) || !strings.Contains(page, linked+"not quantum-safe (CurveP256).") {
		t.Error(page)
	}
	v.site.away, v.site.exchange = true, pki.KeyExchange{}
	if page := v.get("/"); strings.Contains(page, "quantum") {
		t.Error(page)
	}
}

// TestBudgetParts: the parts of a bar follow each other and never pass its end.
func TestBudgetParts(t *testing.T) {
	for _, c := range []struct {
		limit float64
		of    []float64
		want  string
	}{
		{1, []float64{0.25, 0.5, 0.125}, "[{full 0 250} {open 250 500} {part 750 125}]"},
		{1, []float64{0, 0, 0.0001}, "[{part 0 1}]"},
		{1, []float64{0.9, 0, 0.4}, "[{full 0 900} {part 900 100}]"},
		{1, []float64{2, 1, 1}, "[{full 0 1000}]"},
		{0, []float64{1, 1, 1}, "[]"},
	} {
		if got := fmt.Sprint(parts(c.limit, c.of...)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestPages: what other pages show.
func TestPages(t *testing.T) {
	v, id := visited(t)
	d := v.site.studies[id]
	running, over := d, d
	running.Digest, running.State, running.Name, running.Queries = proposal.DigestOf([]byte("a")), "approved", "running", 2
	over.Digest, over.State, over.Name, over.Code, over.SpentRho = proposal.DigestOf([]byte("b")), "finished", "finished", "completed", 0.125
	over.Population = "people"
	v.site.studies[running.Digest], v.site.studies[over.Digest] = running, over
	v.site.ledger = agent.LedgerReply{Populations: []limits.Population{{Name: "people", CapRho: 1, SpentRho: 0.125, ReservedRho: 0.25, LeftRho: 0.625, Declared: true}, {Name: "others"}},
		Studies: []agent.StudyView{over.StudyView, running.StudyView}}
	v.site.sent = egress.Reply{Link: map[string]egress.Count{"hello": {Messages: 3, Bytes: 99}}, Studies: []egress.Study{{Study: over.Digest, Name: "finished", Sent: map[string]egress.Count{"upload": {Messages: 2, Bytes: 640}}}}}
	v.site.found = []doctor.Finding{{Check: "data set rows", OK: true, Result: "1000 rows"}, {Check: "policy", OK: true, Warning: true, Result: "wide"}, {Check: "keys", Result: "gone", Do: "find them"}}
	for path, parts := range map[string][]string{
		"/":        {"What awaits your decision", "blood", "2 of at most", "completed"},
		"/budgets": {"spent: 12.5% (ρ = 0.125)", "reserved by studies that go on: 25%", "left: 62.5%", "finished", "no longer names this population"},
		"/egress":  {"finished", "640", "3 messages of kind hello"},
	} {
		page := v.get(path)
		if strings.Contains(page, "OLDER COPY") {
			t.Errorf("%s: a ledger without a sign of it is called older", path)
		}
		for _, part := range parts {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %q in\n%s", path, part, page)
			}
		}
	}
	v.site.ledger.Beyond = []proposal.Digest{over.Digest}
	if page := v.get("/budgets"); !strings.Contains(page, "THE LEDGER MAY BE AN OLDER COPY") || !strings.Contains(page, "(1, the first "+over.Digest.String()[:12]+")") {
		t.Errorf("budgets of an older ledger look whole:\n%s", page)
	}
	page := v.get("/checks")
	if strings.Contains(page, "1000 rows") {
		t.Error("the checks run before anybody asks for them")
	}
	page = v.do("POST", "/checks", map[string][]string{"form": {tokenOf.FindStringSubmatch(page)[1]}}, nil).Body.String()
	for _, part := range []string{"1000 rows", "in order", "look at it", "failed", "find them"} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
}

// TestPageOfWhatIsOver: a study that is over says what left, as the record has it, and never what a
// whole run of it would have sent; one that goes on says both, each by its name.
func TestPageOfWhatIsOver(t *testing.T) {
	v, _ := visited(t)
	plan := planOf(t, 3, nil)
	d := pendingOf(plan)
	d.Leaves = []egress.Planned{{Kind: "upload", What: "a planned sum", Bytes: 700}, {Kind: "shares", What: "planned shares", Bytes: 300}}
	d.Sent = map[string]egress.Count{"decision": {Messages: 3, Bytes: 182}, "upload": {Messages: 2, Bytes: 98}}
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	d.Expires = &at
	view := func(state string, sent map[string]egress.Count) string {
		d.State, d.Sent = state, sent
		v.site.studies[plan.Digest] = d
		return v.get("/studies/" + plan.Digest.String())
	}
	planned, left := []string{"2 messages do, 1000 bytes in all", "a planned sum", "from its approval on"}, "3 of kind decision (182 bytes), 2 of kind upload (98 bytes)"
	for _, c := range []struct {
		state     string
		sent      map[string]egress.Count
		has, lack []string
	}{
		{"pending", d.Sent, append(planned, "So far: "+left, "have not decided", "can be decided until 2026-03-01"), []string{"left this site"}},
		{"approved", d.Sent, append(planned, "So far: "+left, "ends 2026-03-01 00:00 UTC if it has not begun"), []string{"can be decided", "have not decided", "left this site"}},
		{"refused", d.Sent, []string{"5 messages did, 280 bytes in all; 2 of them sums", left}, append(planned, "So far", "leaves this site")},
		{"finished", nil, []string{"<li>It is over here.</li>", "does not count this study's messages separately"}, append(planned, "messages did", "leaves this site")},
	} {
		page := view(c.state, c.sent)
		for _, part := range c.has {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %q in\n%s", c.state, part, page)
			}
		}
		for _, part := range c.lack {
			if strings.Contains(page, part) {
				t.Errorf("%s: it says %q", c.state, part)
			}
		}
	}
}

// TestUsed: what is made of a column's cells is there in full, the texts of its levels quoted.
func TestUsed(t *testing.T) {
	for want, c := range map[string]proposal.Column{
		`(value − 3) / 2`:                        {Offset: 3, Scale: 2},
		`2 levels: ["F" "<b>\u202e"]`:            {Levels: []string{"F", "<b>\u202e"}, Scale: 1},
		`as boolean, scaled as the study learns`: {As: proposal.AsBoolean, Standardize: proposal.StandardizePrivate, Scale: 1},
		`as days since 2000-01-01, (value − 0) / 30; and whether it is missing`: {As: "days since 2000-01-01", Scale: 30, Indicator: true},
	} {
		if got := used(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := used(proposal.Column{Levels: []string{strings.Repeat("ä", 600)}}); len([]rune(got)) != maxUsed+1 {
		t.Errorf("%d characters of levels", len([]rune(got)))
	}
}
