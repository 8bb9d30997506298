package dashboard_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"covey/internal/coordinator"
	"covey/internal/node"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/test/fed"
	"covey/test/lines"
)

// get fetches a path of a node's dashboard with its token.
func (f *federation) get(n *fed.Part, path string) (int, string) {
	f.T.Helper()
	r, err := http.NewRequestWithContext(f.T.Context(), "GET", url(n)+path, nil)
	f.Must(err)
	r.Header.Set("Authorization", "Bearer "+f.token())
	answer, err := http.DefaultClient.Do(r)
	f.Must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	f.Must(err)
	return answer.StatusCode, string(text)
}

// TestPageOfAStudy: a real study over two coordinators, as the leader's page, a follower's
// and the metrics show it, from before it begins until its result is downloaded.
func TestPageOfAStudy(t *testing.T) {
	t.Parallel() // most of it waits
	f := newFederation(t, 2)
	leader, follower := f.Leading(), f.follower()
	if code, text := f.get(leader, "/"); code != http.StatusOK || !strings.Contains(text, "No study yet") {
		t.Errorf("before a study: %d", code)
	}
	seen, stop := f.stream(leader)
	seen.Wait(t, "No study yet")
	digest := f.Propose(spec("vitals", 50*time.Millisecond))
	refused := f.Propose(func() proposal.Spec { s := spec("too-much", time.Second); s.Epsilon = 5; return s }())
	f.Await("a refusal", func() bool { return len(leader.Node().Coordinator.View(refused).Waiting) == len(siteNames) })
	seen.Wait(t, "too-much")
	f.Must(leader.Node().Coordinator.Abort(refused))
	if v := f.Finish(digest); v.Status != round.StatusCompleted {
		t.Fatalf("%+v", v)
	}
	f.Await("the other coordinator is tried", func() bool {
		_, text := f.get(leader, "/")
		return strings.Contains(text, "no more may fail")
	})
	path := "/studies/" + digest.String()
	code, text := f.get(leader, path)
	if code != http.StatusOK {
		t.Fatal(code)
	}
	var list string
	f.Await("the list to be as new", func() bool {
		_, list = f.get(leader, "/")
		return strings.Contains(list, "17 of 17 queries") && strings.Contains(list, "completed") // not while it waits for signatures
	})
	key := regexp.MustCompile(`<code>coordinator verify result-` + digest.String()[:12] + `.json --key ((?:[a-z0-9]{4}-){5}[a-z0-9]{4})<`).FindStringSubmatch(text)
	if key == nil || key[1] != leader.Node().Coordinator.Overview(0).Key {
		t.Error("the page does not say how to verify the result")
	}
	for _, want := range append([]string{
		digest.String(), "completed", "17 of 17 queries released", "5 of 5 sites approved", "signed by its key", "ε = 2", "charged of 2, δ = 1e-6",
		"Convergence", "Noise to signal", "Explained variance", "Download the result", "age", "pressure", "power step 8 of 8", "the study is complete", "proposed <time", "ended <time",
	}, siteNames...) {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "aborted") {
		t.Error("the page of a study tells of another")
	}
	for _, want := range append([]string{path, "17 of 17 queries", "completed", "covey-agent/", "no more may fail", "aborted", "An operator of the coordinator ended the study.", "proposed <time", "ended <time"}, siteNames...) {
		if !strings.Contains(list, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	if code, page := f.get(leader, path+"/report"); code != http.StatusOK || !strings.Contains(page, "5 of 5 sites approved exactly this digest") || !strings.Contains(page, digest.String()) || !strings.Contains(page, `href="/report.css"`) || strings.Contains(page, "<style") {
		t.Errorf("the report: %d", code)
	}
	if code, text = f.get(leader, "/studies/"+refused.String()); code != http.StatusOK || !strings.Contains(text, "An operator of the coordinator ended the study.") || !strings.Contains(text, "What to do:") {
		t.Error("the page of a study that was ended does not say why")
	}
	if code, _ = f.get(leader, "/studies/"+strings.Repeat("ab", 32)); code != http.StatusNotFound {
		t.Errorf("an unknown study: %d", code)
	}
	if code, _ = f.get(leader, "/studies/"+refused.String()+"/result.json"); code != http.StatusConflict {
		t.Errorf("the result of a study without one: %d", code)
	}

	// What is downloaded verifies, on its own, with the key that the page names; from the
	// follower it is the same file.
	_, file := f.get(leader, path+"/result.json")
	report, err := result.Verify([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if report.Digest != digest || len(report.Coordinator) != ed25519.PublicKeySize {
		t.Errorf("%+v", report)
	}
	f.Await("the follower to have it all", func() bool { return follower.Node().Coordinator.View(digest).Status == round.StatusCompleted })
	if _, other := f.get(follower, path+"/result.json"); other != file {
		t.Error("the follower gives another result file")
	}
	_, text = f.get(follower, path)
	_, other := f.get(follower, "/")
	text += other
	for _, want := range []string{"Coordinator " + leader.Node().Config.Name + " leads; this is coordinator " + follower.Node().Config.Name, "17 of 17 queries released", "follows " + leader.Node().Config.Name} {
		if !strings.Contains(text, want) {
			t.Errorf("the follower's page lacks %q", want)
		}
	}
	_, metrics := f.get(leader, "/metrics")
	for _, want := range []string{
		"covey_coordinator_leading 1", `covey_site_connected{site="bay"} 1`, `covey_studies{status="completed"} 1`, `covey_studies{status="ended"} 1`,
		fmt.Sprintf(`covey_study_queries_released{name="vitals",study=%q} 17`, digest), fmt.Sprintf(`covey_study_epsilon{name="vitals",study=%q,what="planned"} 2`, digest),
		fmt.Sprintf(`covey_study_queries_left{name="vitals",study=%q} 0`, digest), "covey_coordinators 2", "go_goroutines", "covey_build_info",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if _, text := f.get(follower, "/metrics"); !strings.Contains(text, "covey_coordinator_leading 0") || !strings.Contains(text, "covey_coordinator_knows_leader 1") || strings.Contains(text, "covey_site_connected{") {
		t.Error("the follower's metrics")
	}

	// No page, stream, metric or log line holds a value of any site's rows, a token or a path.
	seen.Wait(t, "17 of 17 queries") // a stream looks later than a page that is asked for
	seen.Wait(t, "An operator of the coordinator ended the study.")
	stop()
	if n := seen.Count("event: page"); n < 3 {
		t.Errorf("the stream had %d pages", n)
	}
	shown := list + text + metrics + seen.String()
	for _, secret := range []string{canary, f.token(), "PRIVATE KEY"} {
		if strings.Contains(shown+f.logs.String(), secret) {
			t.Errorf("what is shown or logged holds %q", secret[:7])
		}
	}
	if strings.Contains(shown, f.Dir) {
		t.Error("a path of the machine is shown")
	}
}

// TestPageOfNoise: a real study whose budget is too small for anything but noise is shown as such.
func TestPageOfNoise(t *testing.T) {
	t.Parallel()
	f := newFederation(t, 1)
	s := covariance("faint")
	s.Picture, s.PicturePairs, s.PictureShare = false, nil, 0
	// Anything else is shown with a probability below 1e-9. In deviations of the noise, the
	// covariance of the clipped rows has a trace below 2. The five largest eigenvalues of noise
	// have a sum of 9.5 in the mean, which is √5-Lipschitz; to stand out it must be above 26.8.
	s.Epsilon, s.Components = 0.0005, 5
	digest := f.Propose(s)
	if v := f.Finish(digest); v.Status != round.StatusCompleted {
		t.Fatalf("%+v", v)
	}
	var text string
	f.Await("the verdict", func() bool {
		_, text = f.get(f.Leading(), "/studies/"+digest.String())
		return !strings.Contains(text, "Not known yet")
	})
	if !strings.Contains(text, "Nothing stands out from the noise") || !strings.Contains(text, "verdict unknown") || strings.Contains(text, "verdict sound") || strings.Count(text, "component hollow") != 5 {
		at := strings.Index(text, `id="worth"`)
		t.Errorf("a study of noise looks like an answer: %s", text[max(0, at):min(len(text), max(0, at)+1500)])
	}
	if _, report := f.get(f.Leading(), "/studies/"+digest.String()+"/report"); !strings.Contains(report, `class="verdict unknown"`) || !strings.Contains(report, "Nothing stands out from the noise") {
		t.Error("so does its report")
	}
}

// stream opens a coordinator's events. stop ends them, and returns when all is in what was read.
func (f *federation) stream(n *fed.Part) (read *lines.Log, stop func()) {
	f.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", url(n)+"/events", nil)
	f.Must(err)
	r.Header.Set("Authorization", "Bearer "+f.token())
	answer, err := http.DefaultClient.Do(r)
	f.Must(err)
	read, ended := &lines.Log{}, make(chan struct{})
	go func() {
		defer close(ended)
		defer answer.Body.Close()
		io.Copy(read, answer.Body)
	}()
	return read, func() { cancel(); <-ended }
}

// TestPeopleAtEveryPage: a token that the leader made logs in at every coordinator's page, each by
// what its person may see, and once it is revoked at none.
func TestPeopleAtEveryPage(t *testing.T) {
	t.Parallel() // most of it waits
	f := newFederation(t, 2)
	leader, follower := f.Leading(), f.follower()
	seen, other := f.Propose(spec("vitals", time.Second)), f.Propose(spec("another", time.Second))
	if _, _, err := leader.Node().InvitePerson(node.PersonRequest{Name: "vi", Role: people.Viewer, Studies: []string{"no-such"}, Valid: proposal.Duration(time.Hour)}); err == nil {
		t.Error("a limit to a study that there is not")
	}
	if _, _, err := follower.Node().InvitePerson(node.PersonRequest{Name: "vi", Role: people.Viewer, Valid: proposal.Duration(time.Hour)}); !errors.Is(err, coordinator.ErrNotLeader) {
		t.Errorf("at a follower: %v", err)
	}
	token := f.invite(node.PersonRequest{Name: "vi", Role: people.Viewer, Studies: []string{"vitals"}})
	ask := func(n *fed.Part, path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", url(n)+path, nil)
		f.Must(err)
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		f.Must(err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		f.Must(err)
		return answer.StatusCode, string(text)
	}
	for _, n := range []*fed.Part{leader, follower} {
		f.Await("the studies are everywhere", func() bool { _, ok := n.Node().Coordinator.Story(other); return ok })
		code, list := ask(n, "/")
		if code != http.StatusOK || !strings.Contains(list, "vitals") || strings.Contains(list, "another") || strings.Contains(list, "Last seen") {
			t.Errorf("%s's list: %d", n.Name, code)
		}
		if code, _ := ask(n, "/studies/"+seen.String()); code != http.StatusOK {
			t.Errorf("%s's page of a study: %d", n.Name, code)
		}
		if code, _ := ask(n, "/studies/"+other.String()); code != http.StatusNotFound {
			t.Errorf("%s's page of another study: %d", n.Name, code)
		}
		if code, _ := ask(n, "/metrics"); code != http.StatusNotFound {
			t.Errorf("%s's metrics: %d", n.Name, code)
		}
	}
	f.revoke("vi")
	if code, _ := ask(leader, "/"); code != http.StatusUnauthorized {
		t.Errorf("after the revocation: %d", code)
	}
	f.Await("the follower to hear of it", func() bool { code, _ := ask(follower, "/"); return code == http.StatusUnauthorized })
	if strings.Contains(f.logs.String(), token) {
		t.Error("the log has the token")
	}
	for _, n := range f.Nodes { // nor has any file
		f.Must(filepath.WalkDir(n.Dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(string(text), token) {
				t.Errorf("%s has the token", path)
			}
			return err
		}))
	}
	f.Must(leader.Node().Coordinator.Abort(seen))
	f.Must(leader.Node().Coordinator.Abort(other))
}
