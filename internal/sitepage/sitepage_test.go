package sitepage

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/agent"
	"covey/internal/chainwatch"
	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/limits"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// site is an agent that has what a test gives it, and notes what it is told.
type site struct {
	studies  map[proposal.Digest]agent.StudyDetail
	figures  sitedata.Figures
	ledger   agent.LedgerReply
	sent     egress.Reply
	found    []doctor.Finding
	fault    error
	away     bool
	exchange pki.KeyExchange
	broken   string     // why the coordinators' chain is
	mu       sync.Mutex // held to decide
	approved []proposal.Digest
	rejected []proposal.Digest
	stays    bool // what is decided on stays open, after a second
	slow     bool // what is approved is so after a second
}

func (s *site) Status(context.Context) (agent.Status, error) {
	return agent.Status{Site: "alpha", Linked: !s.away, Coordinator: "hub.example:7443", KeyExchange: s.exchange, DaysLeft: 80, Chain: chainwatch.View{Broken: s.broken}}, s.fault
}

func (s *site) Studies(context.Context) (out []agent.StudyView, _ error) {
	for _, d := range s.studies {
		out = append(out, d.StudyView)
	}
	return out, s.fault
}

func (s *site) Study(_ context.Context, id proposal.Digest) (agent.StudyDetail, error) {
	d, ok := s.studies[id]
	if !ok {
		return d, errors.New("no such study")
	}
	return d, s.fault
}

func (s *site) Figures(context.Context, proposal.Digest) (sitedata.Figures, error) {
	return s.figures, s.fault
}

func (s *site) decide(id proposal.Digest, state string) error {
	d, ok := s.studies[id]
	if !ok || s.fault != nil {
		return errors.Join(errors.New("no such study"), s.fault)
	}
	if s.stays {
		return nil
	}
	d.State = state
	s.studies[id] = d
	return nil
}

func (s *site) Approve(_ context.Context, id proposal.Digest) error {
	if s.stays || s.slow {
		time.Sleep(time.Second)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.approved = append(s.approved, id)
	return s.decide(id, "approved")
}

func (s *site) Reject(_ context.Context, id proposal.Digest) error {
	s.rejected = append(s.rejected, id)
	return s.decide(id, "rejected")
}

func (s *site) Ledger(context.Context) (agent.LedgerReply, error) { return s.ledger, s.fault }
func (s *site) Egress(context.Context) (egress.Reply, error)      { return s.sent, s.fault }
func (s *site) Sent(int64, int) ([]egress.Line, int64, error)     { return nil, 0, s.fault }
func (s *site) Checks() ([]doctor.Finding, error)                 { return s.found, s.fault }
func (s *site) untouched() bool                                   { return len(s.approved)+len(s.rejected) == 0 }

// planOf is a plan of three sites.
func planOf(t testing.TB, nonce byte, change func(*proposal.Spec)) *study.Plan {
	t.Helper()
	spec := proposal.Spec{Center: proposal.CenterPublic, Name: "blood", Dataset: "rows", Epsilon: 0.5, Delta: 1e-6,
		Columns: []proposal.Column{{Name: "x", Scale: 1, Measure: "mg"}, {Name: "y", Offset: 2, Scale: 1}}}
	if change != nil {
		change(&spec)
	}
	var roster []proposal.Member
	for i, name := range []string{"alpha", "beta", "gamma"} {
		key := ed25519.NewKeyFromSeed([]byte(fmt.Sprintf("%032d", i))).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: name, Identity: proposal.Key(key), Units: 1000})
	}
	body, err := proposal.Propose(spec, roster, ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey), [32]byte{nonce})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// pendingOf is a proposal that awaits a decision.
func pendingOf(plan *study.Plan) agent.StudyDetail {
	spec := plan.Proposal.Spec
	return agent.StudyDetail{StudyView: agent.StudyView{Digest: plan.Digest, Name: spec.Name, State: "pending", Population: "people"}, Dataset: spec.Dataset, Plan: plan,
		Budget: &limits.Budget{Population: "people", CapRho: 1, StudyRho: plan.Rho, LeftRho: 1 - plan.Rho, Fits: true, More: 7}}
}

const address = "127.0.0.1:7482"

// visit is a page and a browser that has come in.
type visit struct {
	t      testing.TB
	site   *site
	page   *Page
	all    http.Handler
	cookie *http.Cookie
	mu     sync.Mutex // of told
	told   []string
}

// unvisited is a page of a site with one proposal.
func unvisited(t testing.TB) (*visit, proposal.Digest) {
	plan := planOf(t, 1, nil)
	v := &visit{t: t, site: &site{studies: map[proposal.Digest]agent.StudyDetail{plan.Digest: pendingOf(plan)}, figures: sitedata.Figures{Rows: 1000, Units: 1000, Columns: make([]sitedata.ColumnFigure, 2)}}}
	v.page = New(Options{Source: v.site, Address: address, Tell: func(line string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.told = append(v.told, line)
	}})
	v.all = v.page.Handler()
	return v, plan.Digest
}

func visited(t testing.TB) (*visit, proposal.Digest) {
	v, id := unvisited(t)
	v.enter()
	return v, id
}

func (v *visit) enter() {
	v.t.Helper()
	v.cookie = nil
	reply := v.do("GET", strings.TrimPrefix(v.page.Link(), "http://"+address), nil, nil)
	if reply.Code != http.StatusSeeOther || reply.Header().Get("Location") != "/" || len(reply.Result().Cookies()) != 1 {
		v.t.Fatalf("entering: %d, %v", reply.Code, reply.Header())
	}
	v.cookie = reply.Result().Cookies()[0]
}

// do makes a request as the browser would that came in; change makes it another one.
func (v *visit) do(method, path string, form url.Values, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Host = address
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+address)
	}
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	v.all.ServeHTTP(w, r)
	return w
}

func (v *visit) get(path string) string {
	v.t.Helper()
	w := v.do("GET", path, nil, nil)
	if w.Code != http.StatusOK {
		v.t.Fatalf("%s: %d, %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

var tokenOf = regexp.MustCompile(`name="form" value="([0-9a-f]{64})"`)

// form is what a person sends who read a proposal's page and the terminal.
func (v *visit) form(id proposal.Digest) url.Values {
	v.t.Helper()
	page := v.get("/studies/" + id.String())
	token := tokenOf.FindStringSubmatch(page)
	letters := ""
	for _, line := range v.told {
		if at := strings.Index(line, "type these letters there:  "); at >= 0 && strings.Contains(line, short(id)) {
			letters = line[at+len("type these letters there:  "):]
		}
	}
	if token == nil || len(letters) != letterLen || strings.Contains(page, letters) {
		v.t.Fatalf("token %v, letters %q, told %q", token, letters, v.told)
	}
	return url.Values{"form": {token[1]}, "digest": {id.String()}, "seen": {seenIn(page)}, "name": {"blood"}, "letters": {letters}, "decision": {"approve"}}
}

// TestDecision: with all that it takes one decision is taken, of the digest that was shown; the
// same form a second time is refused.
func TestDecision(t *testing.T) {
	for _, word := range []string{"approve", "reject"} {
		v, id := visited(t)
		form := v.form(id)
		form.Set("decision", word)
		form.Set("letters", " "+strings.ToLower(form.Get("letters"))+" ")
		path := "/studies/" + id.String()
		if w := v.do("POST", path, form, nil); w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
			t.Fatalf("%s: %d, %s", word, w.Code, w.Body)
		}
		if w := v.do("POST", path, form, nil); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "This form changed nothing") ||
			strings.Contains(w.Body.String(), "Nothing was decided") || strings.Contains(w.Body.String(), "Not taken") {
			t.Errorf("%s twice: %d, %s", word, w.Code, w.Body)
		}
		if got := len(v.site.approved)*10 + len(v.site.rejected); got != map[string]int{"approve": 10, "reject": 1}[word] {
			t.Errorf("%s: approved %v, rejected %v", word, v.site.approved, v.site.rejected)
		}
		if page := v.get(path); strings.Contains(page, "Your decision") {
			t.Errorf("%s: it can be decided on again", word)
		}
	}
}

// TestLettersAreUsedOnce: where the agent refuses, and the proposal stays open, the same letters do
// not count again, and the terminal has new ones.
func TestLettersAreUsedOnce(t *testing.T) {
	v, id := visited(t)
	form := v.form(id)
	d := v.site.studies[id]
	v.do("POST", "/studies/"+id.String(), form, nil)
	v.site.studies[id] = d // as if the agent had refused
	told := len(v.told)
	if w := v.do("POST", "/studies/"+id.String(), form, nil); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "were used") || len(v.site.approved) != 1 {
		t.Errorf("%d, approved %v", w.Code, v.site.approved)
	}
	if len(v.told) != told+1 || strings.HasSuffix(v.told[told], form.Get("letters")) {
		t.Errorf("told %q", v.told[told:])
	}
	v.get("/studies/" + id.String())
	if len(v.told) != told+1 {
		t.Errorf("letters are printed again: %q", v.told)
	}
}

// TestOneOfManyDecides: of requests with the same letters at the same time one is taken, even while
// the agent has not answered.
func TestOneOfManyDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, id := visited(t)
		form := v.form(id)
		v.site.stays = true
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { v.do("POST", "/studies/"+id.String(), form, nil) })
		}
		all.Wait()
		if len(v.site.approved) != 1 {
			t.Errorf("%d approvals", len(v.site.approved))
		}
	})
}

// TestSecondClickWaits: a form that is sent again while the agent approves is not told that nothing
// was decided, nor to type new letters: it sees the approval.
func TestSecondClickWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, id := visited(t)
		form := v.form(id)
		v.site.slow = true
		told := len(v.told)
		var first sync.WaitGroup
		first.Go(func() { v.do("POST", "/studies/"+id.String(), form, nil) })
		synctest.Wait()
		w := v.do("POST", "/studies/"+id.String(), form, nil)
		first.Wait()
		if body := w.Body.String(); !strings.Contains(body, "This form changed nothing. The study awaits no decision here: approved here.") || strings.Contains(body, "Nothing was decided") {
			t.Errorf("%d, %s", w.Code, body)
		}
		if said := v.told[told:]; len(said) != 1 || !strings.Contains(said[0], "is approved") || len(v.site.approved) != 1 {
			t.Errorf("approved %v, told %q", v.site.approved, said)
		}
	})
}

// TestNamesAreTypedAsShown: a name that a page cannot show as it is can be typed as it is shown; a
// name that looks the same, or nearly, is another one.
func TestNamesAreTypedAsShown(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		ok          bool
	}{
		{"blood", " blood ", true}, {`a"b`, "a'b", true}, {`a"b`, `a"b`, true}, {"a  b", "a b", true}, {`a\b`, `a\b`, true}, {`a\b`, `a\\b`, true}, {"a b", `"a b"`, true},
		{"blood", "Blood", false}, {"blood", "", false}, {"blood", "bloo", false}, {"a b", "ab", false}, {"аda", "ada", false}, {"ada", `"ada"`, false},
	} {
		v, id := visited(t)
		d := v.site.studies[id]
		d.Name = c.name
		v.site.studies[id] = d
		form := v.form(id)
		form.Set("name", c.typed)
		w := v.do("POST", "/studies/"+id.String(), form, nil)
		if v.site.untouched() == c.ok || !c.ok && !strings.Contains(w.Body.String(), "Copy it from the top") {
			t.Errorf("%q typed as %q: %d", c.name, c.typed, w.Code)
		}
	}
}

// TestRefusedRequests: what must not decide does not, and every reply forbids framing, script and
// the cache.
func TestRefusedRequests(t *testing.T) {
	set := func(key, value string) func(*http.Request, url.Values) {
		return func(r *http.Request, _ url.Values) { r.Header.Set(key, value) }
	}
	del := func(key string) func(*http.Request, url.Values) {
		return func(r *http.Request, _ url.Values) { r.Header.Del(key) }
	}
	host := func(name string) func(*http.Request, url.Values) {
		return func(r *http.Request, _ url.Values) { r.Host = name }
	}
	field := func(key, value string) func(*http.Request, url.Values) {
		return func(_ *http.Request, form url.Values) { form.Set(key, value) }
	}
	method := func(word string) func(*http.Request, url.Values) {
		return func(r *http.Request, form url.Values) {
			r.Method, r.URL.RawQuery = word, form.Encode()
		}
	}
	const refused, again = http.StatusForbidden, http.StatusUnprocessableEntity
	other := proposal.DigestOf([]byte("other")).String()
	for name, c := range map[string]struct {
		change func(*http.Request, url.Values)
		code   int
	}{
		"a rebound name": {host("evil.example:7482"), http.StatusMisdirectedRequest},
		"localhost":      {host("localhost:7482"), http.StatusMisdirectedRequest},
		"no port":        {host("127.0.0.1"), http.StatusMisdirectedRequest},
		"another port":   {host("127.0.0.1:7483"), http.StatusMisdirectedRequest},
		"a rebound name, and its origin": {func(r *http.Request, _ url.Values) {
			r.Host = "evil.example:7482"
			r.Header.Set("Origin", "http://evil.example:7482")
		}, http.StatusMisdirectedRequest},
		"no cookie":                    {del("Cookie"), refused},
		"another cookie":               {set("Cookie", "covey-site-7482="+strings.Repeat("0", 64)), refused},
		"an empty cookie":              {set("Cookie", "covey-site-7482="), refused},
		"no origin":                    {del("Origin"), refused},
		"origin null":                  {set("Origin", "null"), refused},
		"the origin of another port":   {set("Origin", "http://127.0.0.1:7483"), refused},
		"the origin of another scheme": {set("Origin", "https://127.0.0.1:7482"), refused},
		"a foreign origin":             {set("Origin", "http://evil.example"), refused},
		"no Sec-Fetch-Site":            {del("Sec-Fetch-Site"), refused},
		"from another port's page":     {set("Sec-Fetch-Site", "same-site"), refused},
		"from another site's page":     {set("Sec-Fetch-Site", "cross-site"), refused},
		"typed into the address bar":   {set("Sec-Fetch-Site", "none"), refused},
		"GET":                          {method("GET"), http.StatusOK},
		"HEAD":                         {method("HEAD"), http.StatusOK},
		"PUT":                          {method("PUT"), http.StatusMethodNotAllowed},
		"no form token":                {field("form", ""), refused},
		"another form token":           {field("form", strings.Repeat("0", 64)), refused},
		"the form in the address": {func(r *http.Request, form url.Values) {
			r.URL.RawQuery = form.Encode()
			clear(form)
		}, refused},
		"a form of another type":    {set("Content-Type", "text/plain"), refused},
		"a form too long":           {field("more", strings.Repeat("x", maxForm)), refused},
		"no digest":                 {field("digest", ""), again},
		"another digest":            {field("digest", other), again},
		"a digest's beginning":      {func(_ *http.Request, form url.Values) { form.Set("digest", form.Get("digest")[:12]) }, again},
		"no decision":               {field("decision", ""), again},
		"another decision":          {field("decision", "withdraw"), again},
		"no name":                   {field("name", ""), again},
		"another name":              {field("name", "Blood"), again},
		"no letters":                {field("letters", ""), again},
		"wrong letters":             {field("letters", "ILOI"), again},
		"some letters":              {func(_ *http.Request, form url.Values) { form.Set("letters", form.Get("letters")[:3]) }, again},
		"letters too many":          {func(_ *http.Request, form url.Values) { form.Set("letters", form.Get("letters")+"A") }, again},
		"a study that is no digest": {func(r *http.Request, _ url.Values) { r.URL.Path = "/studies/blood" }, http.StatusNotFound},
		"a study that is not there": {func(r *http.Request, form url.Values) { r.URL.Path = "/studies/" + other; form.Set("digest", other) }, http.StatusBadGateway},
	} {
		for _, word := range []string{"approve", "reject"} {
			v, id := visited(t)
			form := v.form(id)
			form.Set("decision", word)
			r := httptest.NewRequest("POST", "/studies/"+id.String(), nil)
			r.Host = address
			r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {"http://" + address}, "Sec-Fetch-Site": {"same-origin"}}
			r.AddCookie(v.cookie)
			c.change(r, form)
			body := form.Encode()
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			w := httptest.NewRecorder()
			v.all.ServeHTTP(w, r)
			if w.Code != c.code || !v.site.untouched() {
				t.Errorf("%s of %s: %d, want %d; approved %v, rejected %v", word, name, w.Code, c.code, v.site.approved, v.site.rejected)
			}
			guarded(t, name, w)
		}
	}
}

// guarded fails unless a reply can be framed nowhere, runs nothing and is kept nowhere.
func guarded(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	h := w.Header()
	csp := h.Get("Content-Security-Policy")
	if !strings.HasPrefix(csp, "default-src 'none';") || !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "base-uri 'none'") || !strings.Contains(csp, "form-action 'self'") ||
		strings.Contains(csp, "script-src") || strings.Contains(csp, "unsafe") || h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Referrer-Policy") != "same-origin" && h.Get("Referrer-Policy") != "no-referrer" || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%s: %v", name, h)
	}
	if strings.HasPrefix(h.Get("Content-Type"), "text/html") && h.Get("Cache-Control") != "no-store" {
		t.Errorf("%s is kept: %v", name, h)
	}
}

// TestEveryReplyIsGuarded: pages, files, redirects, and what is not there.
func TestEveryReplyIsGuarded(t *testing.T) {
	v, id := visited(t)
	for _, path := range []string{"/", "/studies/" + id.String(), "/budgets", "/egress", "/checks", "/style.css", "/icon.svg", "/none", "/enter/x", "/studies/x"} {
		guarded(t, path, v.do("GET", path, nil, nil))
		guarded(t, path, v.do("DELETE", path, nil, nil))
	}
	w := v.do("GET", strings.TrimPrefix(v.page.Link(), "http://"+address), nil, nil)
	guarded(t, "the link", w)
	if w.Header().Get("Referrer-Policy") != "no-referrer" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("the link: %v", w.Header())
	}
	c := w.Result().Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Name != "covey-site-7482" || c.Path != "/" || !c.Expires.IsZero() || c.MaxAge != 0 {
		t.Errorf("cookie %v", c)
	}
}

// TestStolenCookieReads: a program on another port has the cookie, and no browser's headers. It
// reads, the terminal shows what it asks for, and it decides nothing, whatever headers it makes up,
// in three tries.
func TestStolenCookieReads(t *testing.T) {
	v, id := visited(t)
	bare := func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Del("Origin") }
	w := v.do("GET", "/studies/"+id.String(), nil, bare)
	token := tokenOf.FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusOK || token == nil {
		t.Fatalf("reading: %d", w.Code)
	}
	if len(v.told) != 2 || !strings.Contains(v.told[1], short(id)) {
		t.Errorf("told %q", v.told)
	}
	form := url.Values{"form": {token[1]}, "digest": {id.String()}, "seen": {seenIn(w.Body.String())}, "name": {"blood"}, "letters": {"IIII"}, "decision": {"approve"}}
	if w := v.do("POST", "/studies/"+id.String(), form, bare); w.Code != http.StatusForbidden {
		t.Errorf("without a browser's headers: %d", w.Code)
	}
	for i, want := range []int{http.StatusUnprocessableEntity, http.StatusUnprocessableEntity, http.StatusForbidden, http.StatusForbidden} {
		if w := v.do("POST", "/studies/"+id.String(), form, nil); w.Code != want {
			t.Errorf("guess %d: %d, want %d", i+1, w.Code, want)
		}
	}
	if w := v.do("GET", "/", nil, nil); w.Code != http.StatusForbidden || !v.site.untouched() {
		t.Errorf("after three wrong guesses: %d, approved %v", w.Code, v.site.approved)
	}
	if last := v.told[len(v.told)-1]; !strings.Contains(last, "wrong three times") {
		t.Errorf("told %q", v.told)
	}
}

// TestGuessesAreCountedTogether: three wrong letters end a session whatever proposals they were
// for, and the letters of one proposal are not another's.
func TestGuessesAreCountedTogether(t *testing.T) {
	v, id := visited(t)
	second := planOf(t, 2, nil)
	v.site.studies[second.Digest] = pendingOf(second)
	first, other := v.form(id), v.form(second.Digest)
	if first.Get("letters") == other.Get("letters") {
		t.Skip("the same letters, with a chance of 1 in 279,841")
	}
	other.Set("letters", first.Get("letters"))
	if w := v.do("POST", "/studies/"+second.Digest.String(), other, nil); w.Code != http.StatusUnprocessableEntity {
		t.Errorf("another proposal's letters: %d", w.Code)
	}
	other.Set("letters", "IIII")
	v.do("POST", "/studies/"+second.Digest.String(), other, nil)
	wrong := url.Values{}
	for key := range first {
		wrong[key] = first[key]
	}
	wrong.Set("letters", "IIII")
	v.do("POST", "/studies/"+id.String(), wrong, nil)
	if w := v.do("POST", "/studies/"+id.String(), first, nil); w.Code != http.StatusForbidden || !v.site.untouched() {
		t.Errorf("after three wrong letters the right ones: %d, approved %v", w.Code, v.site.approved)
	}
}

// TestChangedProposal: the coordinator puts another proposal of the same name in the place of the
// one that was read. The form that was read decides on nothing.
func TestChangedProposal(t *testing.T) {
	v, id := visited(t)
	form := v.form(id)
	second := planOf(t, 2, func(s *proposal.Spec) { s.Epsilon = 1 })
	delete(v.site.studies, id)
	v.site.studies[second.Digest] = pendingOf(second)
	for _, path := range []string{id.String(), second.Digest.String()} {
		if w := v.do("POST", "/studies/"+path, form, nil); w.Code == http.StatusSeeOther || !v.site.untouched() {
			t.Errorf("%s: %d, approved %v", path, w.Code, v.site.approved)
		}
	}
}

// TestForeignPagesSeeNothing: what a page of another port or site asks for, its pictures and frames
// too, reads no rows and prints no letters, though the browser sends the cookie along.
func TestForeignPagesSeeNothing(t *testing.T) {
	v, id := visited(t)
	for _, from := range []string{"same-site", "cross-site"} {
		w := v.do("GET", "/studies/"+id.String(), nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", from) })
		if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "blood") || len(v.told) != 1 {
			t.Errorf("%s: %d, told %q", from, w.Code, v.told)
		}
	}
}
