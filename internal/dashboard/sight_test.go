package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/coordinator"
	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
)

// several is a coordinator with studies of several plans and a lot to tell.
type several struct {
	empty
	stories  []outline.Story
	overview outline.Overview
	result   *result.Result
}

func (s *several) Overview(int) outline.Overview { return s.overview }
func (s *several) Story(d proposal.Digest) (outline.Story, bool) {
	at := slices.IndexFunc(s.stories, func(s outline.Story) bool { return s.Digest == d })
	if at < 0 {
		return outline.Story{}, false
	}
	return s.stories[at], true
}
func (s *several) Result(d proposal.Digest) (*result.Result, error) {
	if story, _ := s.Story(d); story.Status != round.StatusCompleted {
		return nil, &coordinator.UnfinishedError{Status: story.Status, Code: story.Code}
	}
	return s.result, nil
}
func (s *several) ResultFile(d proposal.Digest) (func(io.Writer) error, error) {
	r, err := s.Result(d)
	return r.Write, err
}

// newSeveral is a coordinator with two studies, of which viewers see what the words of network are
// not in, and its people: ana (operator), vi (viewer of all), one (viewer of the first study), prom
// (metrics).
func newSeveral(t *testing.T) (*Dashboard, *several, *clock) {
	d, s1, now := newTold(t, proposal.DropoutContinue)
	s := &several{empty: s1.empty, result: &result.Result{Columns: []string{"a"}, Output: "result-of-it"}}
	for i, name := range []string{"first-study", "second-study"} {
		story := s1.story
		story.Name, story.Digest = name, proposal.Digest{byte(i + 1)}
		story.Proposed, story.View.Expires = now.now().Add(-time.Hour-13*time.Second), now.now().Add(48*time.Hour)
		story.Status, story.Released, story.View.Queries, story.Left = round.StatusRunning, 1, 3, 2
		story.Phase, story.Deadline, story.Overdue, story.Waiting = "upload", now.now().Add(77*time.Minute), true, []string{"south"}
		story.Faults = []outline.Fault{{Site: "west", Code: study.CodeBadShare}}
		story.Sites = []outline.SiteView{
			{Name: "north", Units: 1000, Connected: true, Verdict: study.VerdictApproved, Uploaded: true, Signed: true},
			{Name: "south", Units: 1000, Verdict: study.VerdictApproved, Signed: true}, {Name: "west", Units: 1000, Connected: true, Verdict: study.VerdictApproved, Uploaded: true, Signed: true, Refused: study.CodeLeft}}
		story.Rounds = []round.View{{Kind: study.KindPower, Survivors: []int{0, 1, 2}, At: now.now().Add(-37 * time.Second), Retried: 2, NoiseToSignal: 0.1, Turn: -1}}
		s.stories = append(s.stories, story)
	}
	s.overview = outline.Overview{Leading: true, Expires: now.now().Add(3 * 24 * time.Hour), Key: "key-print", CA: "ca-print",
		Studies: []outline.View{s.stories[0].View, s.stories[1].View},
		Sites:   []outline.SiteStatus{{Name: "north", Fingerprint: "north-print", Connected: true, Sighting: outline.Sighting{Software: "covey-agent/9"}}, {Name: "south", Fingerprint: "south-print"}},
		Happenings: []outline.Happening{
			{At: now.now(), Kind: outline.HappenedInvited, Site: "new-site"}, {At: now.now(), Kind: outline.HappenedConnected, Site: "north"},
			{At: now.now(), Kind: outline.HappenedFault, Site: "west", Study: proposal.Digest{1}}, {At: now.now(), Kind: string(round.EntryProposed), Study: proposal.Digest{1}}},
	}
	d.cluster = func() Cluster {
		return Cluster{Self: "hub-one", Leader: "hub-one", Peers: []Peer{{Name: "hub-one", Voter: true, Reached: true}, {Name: "hub-two", Address: "hub-two.example:7444", Voter: true}}}
	}
	d.source = s
	end := now.now().Add(30 * 24 * time.Hour)
	for token, p := range map[string]people.Person{
		"vi's": {Name: "vi", Role: people.Viewer}, "one's": {Name: "one", Role: people.Viewer, Studies: []proposal.Digest{{1}}}, "prom's": {Name: "prom", Role: people.Metrics},
	} {
		p.Expires = end
		s.crew.admit(t, p, token)
	}
	return d, s, now
}

// network are the words of what an operator alone is told.
var network = regexp.MustCompile(`hub-one|hub-two|north-print|covey-agent/9|Last seen|Peer address|What happened|join file|connected|\(away\)|failed a check|bad_share|renew it|At a glance|None more|deadline was|overdue|retried|have answered|37 s|11:59:23|refuses: `)

// body asks and returns the status and what was answered; of a stream, its first page.
func body(t *testing.T, d *Dashboard, method, path, token string) (int, string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r := ask(d, method, path, func(r *http.Request) {
		if strings.HasPrefix(path, "/events") { // it ends after what it has to say
			*r = *r.WithContext(ctx)
		}
		if token != "" {
			showing(token)(r)
		}
	})
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// TestEveryRoute walks all routes for everybody who may ask: each answers as this table says, and a
// route that the table does not have fails. What may not be seen is answered as what is not there.
func TestEveryRoute(t *testing.T) {
	const (
		first, second, none = "0100000000000000000000000000000000000000000000000000000000000000", "0200000000000000000000000000000000000000000000000000000000000000", "0300000000000000000000000000000000000000000000000000000000000000"
		hidden              = http.StatusNotFound
		login               = http.StatusSeeOther // to /login
	)
	type row struct {
		path                     string
		nobody, ana, vi, one, me int // me is prom
	}
	table := map[string][]row{
		"GET /{$}": {{"/", login, 200, 200, 200, hidden}},
		"GET /studies/{digest}": {
			{"/studies/" + first, login, 200, 200, 200, hidden}, {"/studies/" + second, login, 200, 200, hidden, hidden}, {"/studies/" + none, login, hidden, hidden, hidden, hidden}},
		"GET /studies/{digest}/report": {
			{"/studies/" + first + "/report", login, 200, 200, 200, hidden}, {"/studies/" + second + "/report", login, 200, 200, hidden, hidden}, {"/studies/" + none + "/report", login, hidden, hidden, hidden, hidden}},
		"GET /studies/{digest}/result.json": {
			{"/studies/" + first + "/result.json", login, 409, 409, 409, hidden}, {"/studies/" + second + "/result.json", login, 409, 409, hidden, hidden}, {"/studies/" + none + "/result.json", login, hidden, hidden, hidden, hidden}},
		"GET /events": {
			{"/events", login, 200, 200, 200, hidden}, {"/events?study=" + first, login, 200, 200, 200, hidden}, {"/events?study=" + second, login, 200, 200, 200, hidden}, {"/events?study=" + none, login, 200, 200, 200, hidden}},
		"GET /metrics":    {{"/metrics", login, 200, hidden, hidden, 200}},
		"GET /login":      {{"/login", 200, login, login, login, 200}},
		"POST /login":     {{"/login", 401, 401, 401, 401, 401}},
		"POST /logout":    {{"/logout", login, login, login, login, login}},
		"GET /report.css": {{"/report.css", 200, 200, 200, 200, 200}},
		"GET /style.css":  {{"/style.css", 200, 200, 200, 200, 200}},
		"GET /page.js":    {{"/page.js", 200, 200, 200, 200, 200}},
		"GET /icon.svg":   {{"/icon.svg", 200, 200, 200, 200, 200}},
	}
	d, s, _ := newSeveral(t)
	for _, o := range d.routes() {
		rows := table[o.pattern]
		if len(rows) == 0 {
			t.Errorf("%s is in no line of the table: say who may ask for it", o.pattern)
		}
		method, _, _ := strings.Cut(o.pattern, " ")
		for _, row := range rows {
			for token, want := range map[string]int{"": row.nobody, goodToken: row.ana, "vi's": row.vi, "one's": row.one, "prom's": row.me} {
				code, text := body(t, d, method, row.path, token)
				if code != want {
					t.Errorf("%s %s with %q: %d, want %d", method, row.path, token, code, want)
				}
				if token == goodToken || token == "prom's" {
					continue
				}
				if found := network.FindString(text); found != "" && !o.open {
					t.Errorf("%s %s tells the holder of %q of %q", method, row.path, token, found)
				}
				if token != "vi's" && (strings.Contains(text, "second-study") || row.path == "/" && strings.Contains(text, second[:12])) {
					t.Errorf("%s %s tells the holder of %q of a study that it may not see", method, row.path, token)
				}
			}
		}
		delete(table, o.pattern)
	}
	for pattern := range table {
		t.Errorf("%s is served no more", pattern)
	}
	// An operator does see all that, so the words are right.
	_, list := body(t, d, "GET", "/", goodToken)
	_, page := body(t, d, "GET", "/studies/"+first, goodToken)
	for _, word := range []string{"hub-two.example", "north-print", "covey-agent/9", "Last seen", "What happened", "join file", "(away)", "failed a check", "At a glance", "refuses: left", "first-study", "second-study"} {
		if !strings.Contains(list+page, word) {
			t.Errorf("an operator does not see %q", word)
		}
	}
	// Unknown and forbidden: the same, but for the digest that was asked for.
	for _, path := range []string{"/studies/%s", "/studies/%s/report", "/studies/%s/result.json", "/events?study=%s"} {
		_, forbidden := body(t, d, "GET", fmt.Sprintf(path, second), "one's")
		_, unknown := body(t, d, "GET", fmt.Sprintf(path, none), "one's")
		if strings.ReplaceAll(forbidden, second, none) != unknown {
			t.Errorf("%s: a study that may not be seen is answered otherwise than one that is not there:\n%s\n%s", path, forbidden, unknown)
		}
	}
	// A program's token makes no login, and is answered as a wrong one.
	if program, wrong := logIn(d, "prom's", "/"), logIn(d, "wrong", "/"); program.StatusCode != http.StatusUnauthorized || len(program.Cookies()) > 0 || !reflect.DeepEqual(program.Header, wrong.Header) {
		t.Errorf("a program logs in: %s", program.Status)
	}
	// A result, once there is one.
	for i := range s.stories {
		s.stories[i].Status = round.StatusCompleted
	}
	d.coarse = coarse{}
	for token, want := range map[string]int{goodToken: 200, "vi's": 200, "one's": hidden, "prom's": hidden} {
		if code, text := body(t, d, "GET", "/studies/"+second+"/result.json", token); code != want || strings.Contains(text, "result-of-it") != (want == 200) {
			t.Errorf("the result with %q: %d", token, code)
		}
	}
}

// torn is a coordinator whose result cannot be read on.
type torn struct{ *several }

func (torn) ResultFile(proposal.Digest) (func(io.Writer) error, error) {
	return func(to io.Writer) error {
		io.WriteString(to, "{")
		return errors.New("no more")
	}, nil
}

// TestTornResultIsNoFile: a download that ends early does not look like a whole one.
func TestTornResultIsNoFile(t *testing.T) {
	d, s, _ := newSeveral(t)
	for i := range s.stories {
		s.stories[i].Status = round.StatusCompleted
	}
	d.source = torn{s}
	server := httptest.NewServer(d.Handler())
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/studies/"+s.stories[0].Digest.String()+"/result.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	showing(goodToken)(r)
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		defer answer.Body.Close()
		var text []byte
		if text, err = io.ReadAll(answer.Body); err == nil {
			t.Errorf("%s: %q looks whole", answer.Status, text)
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it ends with %v", err)
	}
}

// TestRoutesAreOneTable: nothing is served but what routes lists, and nothing but a sight and the
// metrics looks at the coordinator.
func TestRoutesAreOneTable(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), ".HandleFunc(") + strings.Count(string(text), ".Handle("); path == "route.go" && n != 3 || path != "route.go" && n != 0 {
			t.Errorf("%s registers %d handlers: they belong in routes", path, n)
		}
		for _, call := range []string{"source.Overview(", "source.Story("} {
			allowed := map[string]int{"sight.go": 2, "metrics.go": 1, "result.go": 1}
			if n := strings.Count(string(text), call); n > allowed[path] || path == "result.go" && n > strings.Count(string(text), "source.Overview(0).Key") {
				t.Errorf("%s looks at the coordinator past the visitor's sight: %s", path, call)
			}
		}
	}
	d, _, _ := newSeveral(t)
	for _, o := range d.routes() {
		if o.open == (len(o.roles) > 0) {
			t.Errorf("%s is for everybody and for some, or for nobody", o.pattern)
		}
		if o.open && !slices.Contains([]string{"GET /login", "POST /login", "POST /logout", "GET /report.css", "GET /style.css", "GET /page.js", "GET /icon.svg"}, o.pattern) {
			t.Errorf("%s is open", o.pattern)
		}
	}
}

// TestViewerIsToldWhatAnAnalystIs: of why a study ended a viewer is told what needs nobody's data
// or budget, and a no of a person or a policy looks like all others.
func TestViewerIsToldWhatAnAnalystIs(t *testing.T) {
	d, s, _ := newSeveral(t)
	seen := map[string]string{}
	for _, code := range []study.Code{study.CodeRejected, study.CodeBudget, study.CodeData, study.CodeDataChanged, study.CodeStore, study.CodeRolledBack, study.CodeFormat, study.CodeExpired, study.CodeColumns} {
		v := &s.stories[0].View
		v.Status, v.Code, v.Culprit, v.Waiting, v.Ended = round.StatusEnded, code, "south", nil, v.Proposed.Add(time.Minute)
		v.Sites[1].Verdict, v.Sites[1].Code = study.VerdictRejected, code
		s.overview.Studies[0] = *v
		d.coarse, d.cache = coarse{}, cache{}
		all := ""
		for _, path := range []string{"/", "/studies/" + v.Digest.String(), "/studies/" + v.Digest.String() + "/report", "/studies/" + v.Digest.String() + "/result.json", "/events?study=" + v.Digest.String()} {
			_, text := body(t, d, "GET", path, "vi's")
			all += text
		}
		if told := code == study.CodeExpired || code == study.CodeColumns; strings.Contains(all, "<code>"+string(code)+"</code>") != told {
			t.Errorf("%s: told %v", code, !told)
		} else if !told {
			seen[all] = string(code)
		}
		_, whole := body(t, d, "GET", "/studies/"+v.Digest.String(), goodToken)
		if !strings.Contains(whole, "<code>"+string(code)+"</code>") {
			t.Errorf("an operator is not told of %s", code)
		}
	}
	if len(seen) != 1 {
		t.Errorf("what a viewer may not be told looks in %d ways: %v", len(seen), seen)
	}
}

// TestViewersTimesAreCoarse: a viewer sees one moment of each ten seconds, however it asks; an
// operator sees them within one.
func TestViewersTimesAreCoarse(t *testing.T) {
	d, s, now := newSeveral(t)
	path := "/studies/" + s.stories[0].Digest.String()
	shows := func(token string) bool {
		now.add(rest)
		n := 0
		for _, path := range []string{"/", path, "/events?study=" + s.stories[0].Digest.String()} {
			if _, text := body(t, d, "GET", path, token); strings.Contains(text, "<strong>north</strong>") {
				n++
			}
		}
		if n != 0 && n != 3 {
			t.Errorf("%d of 3 ways show it to the holder of %q", n, token)
		}
		return n > 0
	}
	now.add(window - now.now().Sub(now.now().Truncate(window))) // the deadline has passed
	if shows("vi's") || shows(goodToken) {
		t.Fatal("before it is so")
	}
	s.stories[0].Waiting = []string{"north"}
	s.overview.Studies[0].Waiting = []string{"north"}
	if shows("vi's") || !shows(goodToken) {
		t.Error("within the ten seconds")
	}
	// A path that nobody has asked for in these ten seconds shows the same moment.
	second := s.stories[1].Digest
	s.stories[1].Waiting = []string{"north"}
	if _, text := body(t, d, "GET", "/studies/"+second.String(), "vi's"); strings.Contains(text, "<strong>north</strong>") {
		t.Error("another study's page is of another moment")
	}
	s.stories[1].Waiting = []string{"south"}
	now.add(window - 5*time.Second)
	if shows("vi's") {
		t.Error("within the ten seconds, at their end")
	}
	now.add(5 * time.Second)
	if !shows("vi's") {
		t.Error("after them")
	}
}

// TestViewersSeeNoSiteAnswer: however a viewer asks, nothing tells it which sites have answered a
// query before the query's deadline: it could measure how long each computes. An operator is told,
// and a viewer once the deadline has passed, or where no rows are in it.
func TestViewersSeeNoSiteAnswer(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  round.Status
		overdue bool
		told    bool
	}{
		{"before the deadline", round.StatusRunning, false, false},
		{"after it", round.StatusRunning, true, true},
		{"while sites decide", round.StatusProposed, false, true},
		{"in the setup", round.StatusSetup, false, true},
		{"while sites sign the result", round.StatusSigning, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := func(token string, waiting []string) (all string) {
				d, s, _ := newSeveral(t)
				v := &s.stories[0].View
				v.Status, v.Overdue, v.Waiting = c.status, c.overdue, waiting
				for i := range v.Sites {
					v.Sites[i].Uploaded = !slices.Contains(waiting, v.Sites[i].Name)
				}
				s.overview.Studies[0] = *v
				for _, path := range []string{"/", "/studies/" + v.Digest.String(), "/studies/" + v.Digest.String() + "/report", "/events?study=" + v.Digest.String()} {
					_, text := body(t, d, "GET", path, token)
					all += text
				}
				return all
			}
			for token, told := range map[string]bool{"vi's": c.told, goodToken: true} {
				if one, two := seen(token, []string{"south"}), seen(token, []string{"north", "south"}); (one != two) != told {
					t.Errorf("the holder of %q is told who has answered: %v, want %v", token, !told, told)
				}
			}
		})
	}
}

// TestBlindNamesEachField: what is new of a study is no viewer's until blind says so, and all that
// is hidden stays hidden.
func TestBlindNamesEachField(t *testing.T) {
	full := outline.View{}
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String {
			f.SetString("x")
		} else if f.CanInt() {
			f.SetInt(1)
		} else if f.CanFloat() {
			f.SetFloat(1)
		} else if f.Kind() == reflect.Bool {
			f.SetBool(true)
		}
	}
	at := time.Date(2026, 5, 4, 12, 0, 59, 0, time.UTC)
	full.Proposed, full.Ended, full.Deadline, full.Expires = at, at, at, at
	full.Waiting, full.Faults = []string{"north"}, []outline.Fault{{Site: "north"}}
	full.Sites = []outline.SiteView{{Name: "north", Units: 3, Connected: true, Verdict: study.VerdictRejected, Code: study.CodeBudget, Uploaded: true, Signed: true, Refused: study.CodeData, Barred: "revoked"}}
	out := reflect.ValueOf(blind(full))
	var hidden []string
	for i := range out.NumField() {
		if out.Field(i).IsZero() && !v.Field(i).IsZero() {
			hidden = append(hidden, out.Type().Field(i).Name)
		}
	}
	if want := []string{"Code", "Culprit", "Accuser", "Slot", "Slots", "Phase", "Deadline", "Overdue", "Faults"}; !slices.Equal(hidden, want) {
		t.Errorf("hidden is %v, want %v", hidden, want)
	}
	if got := blind(full); got.Ended.Second() != 0 || got.Proposed.Second() != 0 || got.Sites[0] != (outline.SiteView{Name: "north", Units: 3, Verdict: study.VerdictRejected, Signed: true}) {
		t.Errorf("%+v", got)
	}
}

// TestReadsAreLogged: who read what of which study is one line, by name, with no token and no
// cookie in it; the same again within the hour is none.
func TestReadsAreLogged(t *testing.T) {
	d, s, now := newSeveral(t)
	var lines bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.stories[0].Status = round.StatusCompleted
	first, second := s.stories[0].Digest.String(), s.stories[1].Digest.String()
	value := logIn(d, "one's", "/").Cookies()[0].Value
	ask(d, "GET", "/", cookie(value))
	for _, path := range []string{"/", "/studies/" + first, "/studies/" + first + "/report", "/studies/" + first + "/result.json", "/events?study=" + first, "/studies/" + second, "/studies/" + second + "/result.json", "/events?study=" + second, "/metrics"} {
		body(t, d, "GET", path, "one's")
	}
	body(t, d, "GET", "/metrics", "prom's")
	body(t, d, "GET", "/", "one is not this one's")
	want := []string{"person=one role=viewer what=list\n"}
	for _, what := range []string{"study", "report", "result", "stream"} {
		want = append(want, "person=one role=viewer what="+what+" study="+first+"\n")
	}
	want = append(want, "person=prom role=metrics what=metrics\n")
	for range 2 {
		for _, line := range want {
			if strings.Count(lines.String(), `msg="dashboard: read" `+line) != 1 {
				t.Errorf("not one line %q in\n%s", line, lines.String())
			}
		}
		if n := strings.Count(lines.String(), "dashboard: read"); n != len(want) {
			t.Errorf("%d lines, want %d", n, len(want))
		}
		ask(d, "GET", "/", cookie(value)) // again
	}
	now.add(readEvery)
	body(t, d, "GET", "/metrics", "prom's")
	if strings.Count(lines.String(), "what=metrics") != 2 {
		t.Error("an hour later it is no line")
	}
	for _, secret := range []string{goodToken, "one's", "prom's", value, people.Hash("one's"), "one is not"} {
		if strings.Contains(lines.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}
