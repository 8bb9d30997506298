package coordinator

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// Operator is operator.Handler, which only the tests outside this package can import.
var Operator func(c *Coordinator, addresses func() []string) *http.ServeMux

// TestBadRequests: what an operator's request gets wrong is said with 400, as JSON, and nothing is
// committed.
func TestBadRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		f.pump(nil)
		handler := Operator(f.c, func() []string { return []string{"hub.example:7443"} })
		digest := f.plan.Digest.String()
		good := "name = \"n\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\n[[columns]]\nname = \"a\"\nscale = 1\n[[columns]]\nname = \"b\"\nscale = 1\n"
		requests := []struct {
			method, path, body, says string
			status                   int
		}{
			{"POST", "/v1/sites/invite", "", "not JSON", 400},
			{"POST", "/v1/sites/invite", "{", "not JSON", 400},
			{"POST", "/v1/sites/invite", `[1]`, "not JSON", 400},
			{"POST", "/v1/sites/invite", `{"name":1}`, "not JSON", 400},
			{"POST", "/v1/sites/invite", `{"name":"a","valid":"3 days"}`, "not JSON", 400},
			{"POST", "/v1/sites/invite", `{"name":"","valid":"1h"}`, "", 400},
			{"POST", "/v1/sites/invite", `{"name":"North","valid":"1h"}`, "a-z", 400},
			{"POST", "/v1/sites/invite", `{"name":"../x","valid":"1h"}`, "../x", 400},
			{"POST", "/v1/sites/invite", `{"name":"a\u0000b","valid":"1h"}`, "", 400},
			{"POST", "/v1/sites/invite", `{"name":"` + strings.Repeat("a", 5000) + `","valid":"1h"}`, "", 400},
			{"POST", "/v1/sites/invite", `{"name":"new"}`, "", 400},
			{"POST", "/v1/sites/invite", `{"name":"new","valid":"-1h"}`, "", 400},
			{"POST", "/v1/sites/invite", `{"name":"new","valid":"9000h"}`, "", 400},
			{"POST", "/v1/sites/invite", `{"name":"site-0","valid":"1h"}`, "site-0", 400},
			{"POST", "/v1/sites/invite", `{"name":"new","valid":"1h","again":true}`, "", 400},
			{"POST", "/v1/analysts/invite", `{"name":"site-0","valid":"1h"}`, "site-0", 400},
			{"POST", "/v1/analysts/invite", `{"name":"Ada","valid":"1h"}`, "a-z", 400},
			{"POST", "/v1/analysts/site-0/revoke", "", "no analyst", 400},
			{"POST", "/v1/sites/nobody/revoke", "", "nobody", 400},
			{"POST", "/v1/sites/No%20body/revoke", "", "", 400},
			{"POST", "/v1/studies", "", "epsilon", 400},
			{"POST", "/v1/studies", "{}", "toml", 400},
			{"POST", "/v1/studies", strings.Replace(good, "epsilon = 1.0", "epsilon = -1.0", 1), "epsilon", 400},
			{"POST", "/v1/studies", strings.Replace(good, "epsilon", "epsilom", 1), "epsilom", 400},
			{"POST", "/v1/studies", strings.Replace(good, "rows", "other", 1), "other", 400},
			{"POST", "/v1/studies", "sites = [\"site-0\", \"nobody\"]\n" + good, "nobody", 400},
			{"POST", "/v1/studies", "sites = [\"site-0\"]\n" + good, "at least 2 sites", 400},
			{"POST", "/v1/studies", "min_survivors = 9\n" + good, "min_survivors", 400},
			{"POST", "/v1/studies", "epsilon = 1e-12\n" + strings.Replace(good, "epsilon = 1.0\n", "", 1) + "[deadlines]\nround = \"-1s\"\n", "", 400},
			{"POST", "/v1/plan", strings.Replace(good, "delta = 1e-6", "delta = 1.0", 1), "delta", 400},
			{"POST", "/v1/plan", "components = 3\n" + good, "components", 400},
			{"GET", "/v1/studies/nothing", "", "nothing", 400},
			{"GET", "/v1/studies/" + digest[:2], "", "", 400},
			{"GET", "/v1/studies/" + strings.Repeat("0", 64), "", "", 400},
			{"GET", "/v1/studies/" + strings.Repeat("a", 5000), "", "", 400},
			{"GET", "/v1/studies/nothing/result", "", "nothing", 400},
			{"GET", "/v1/studies/nothing/decisions", "", "nothing", 400},
			{"GET", "/v1/studies/nothing/proposal", "", "nothing", 400},
			{"GET", "/v1/studies/nothing/watch", "", "nothing", 400},
			{"POST", "/v1/studies/nothing/abort", "", "nothing", 400},
			{"GET", "/v1/nothing", "", "", 404},
			{"DELETE", "/v1/studies/" + digest, "", "", 405},
			{"PUT", "/v1/sites", "", "", 405},
		}
		for _, r := range requests {
			before := len(f.log.all())
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(r.method, r.path, strings.NewReader(r.body)))
			synctest.Wait()
			if w.Code != r.status || !strings.Contains(w.Body.String(), r.says) {
				t.Errorf("%s %.40s %.60s: %d %s, want %d %q", r.method, r.path, r.body, w.Code, w.Body, r.status, r.says)
			}
			var said struct {
				Error string
				Bad   bool `json:"bad_input"`
			}
			if r.status == 400 && (json.Unmarshal(w.Body.Bytes(), &said) != nil || !said.Bad || said.Error == "" || len(said.Error) > 500) {
				t.Errorf("%s %.40s %.60s: %s", r.method, r.path, r.body, w.Body)
			}
			if n := len(f.log.all()); n != before {
				t.Errorf("%s %.40s %.60s: %d entries were committed", r.method, r.path, r.body, n-before)
			}
		}
		t.Logf("figure: %d bad inputs: requests on a coordinator's socket", len(requests))
	})
}

// TestBadMessages: whatever a site's answer has wrong, the site is named with a code: as a fault,
// or, of its keys, without which there is no study, in the study's end.
func TestBadMessages(t *testing.T) {
	flip := func(b []byte, at int) []byte {
		b = slices.Clone(b)
		b[(at+len(b))%len(b)] ^= 1
		return b
	}
	faults := map[string]struct {
		code   study.Code
		change func(*covey.SiteMessage)
	}{
		"announcement none": {study.CodeBadAnnouncement, func(m *covey.SiteMessage) {
			change(m.GetAnnouncement(), func(a *covey.Announcement) { a.Signed = nil })
		}},
		"announcement cut off": {study.CodeBadAnnouncement, func(m *covey.SiteMessage) {
			change(m.GetAnnouncement(), func(a *covey.Announcement) { a.Signed = a.Signed[1:] })
		}},
		"announcement's key": {study.CodeBadAnnouncement, func(m *covey.SiteMessage) {
			change(m.GetAnnouncement(), func(a *covey.Announcement) { a.Signed = flip(a.Signed, 60) })
		}},
		"announcement's sign": {study.CodeBadAnnouncement, func(m *covey.SiteMessage) {
			change(m.GetAnnouncement(), func(a *covey.Announcement) { a.Signed = flip(a.Signed, -1) })
		}},
		"boxes none":    {study.CodeBadBox, func(m *covey.SiteMessage) { change(m.GetBoxes(), func(a *covey.Boxes) { a.Boxes = nil }) }},
		"boxes too few": {study.CodeBadBox, func(m *covey.SiteMessage) { change(m.GetBoxes(), func(a *covey.Boxes) { a.Boxes = a.Boxes[1:] }) }},
		"boxes too many": {study.CodeBadBox, func(m *covey.SiteMessage) {
			change(m.GetBoxes(), func(a *covey.Boxes) { a.Boxes = append(a.Boxes, a.Boxes[0]) })
		}},
		"boxes, one cut off": {study.CodeBadBox, func(m *covey.SiteMessage) {
			change(m.GetBoxes(), func(a *covey.Boxes) { a.Boxes[2] = a.Boxes[2][1:] })
		}},
		"boxes, one altered": {study.CodeBadBox, func(m *covey.SiteMessage) {
			change(m.GetBoxes(), func(a *covey.Boxes) { a.Boxes[3] = flip(a.Boxes[3], 1200) })
		}},
		"boxes, one unsigned": {study.CodeBadBox, func(m *covey.SiteMessage) {
			change(m.GetBoxes(), func(a *covey.Boxes) { a.Boxes[0] = flip(a.Boxes[0], -1) })
		}},
		"boxes exchanged": {study.CodeBadBox, func(m *covey.SiteMessage) {
			change(m.GetBoxes(), func(a *covey.Boxes) { a.Boxes[1], a.Boxes[2] = a.Boxes[2], a.Boxes[1] })
		}},
		"confirmation none": {study.CodeBadConfirmation, func(m *covey.SiteMessage) {
			change(m.GetConfirmation(), func(a *covey.Confirmation) { a.Signature = nil })
		}},
		"confirmation altered": {study.CodeBadConfirmation, func(m *covey.SiteMessage) {
			change(m.GetConfirmation(), func(a *covey.Confirmation) { a.Signature = flip(a.Signature, 3) })
		}},
		"upload none":  {study.CodePlanMismatch, func(m *covey.SiteMessage) { change(m.GetUpload(), func(a *covey.Upload) { a.Masked = nil }) }},
		"upload short": {study.CodePlanMismatch, func(m *covey.SiteMessage) { change(m.GetUpload(), func(a *covey.Upload) { a.Masked = a.Masked[1:] }) }},
		"upload long": {study.CodePlanMismatch, func(m *covey.SiteMessage) {
			change(m.GetUpload(), func(a *covey.Upload) { a.Masked = append(a.Masked, 0) })
		}},
		"signature none": {study.CodeBadCertificate, func(m *covey.SiteMessage) {
			change(m.GetReleaseSignature(), func(a *covey.ReleaseSignature) { a.Signature = nil })
		}},
		"signature altered": {study.CodeBadCertificate, func(m *covey.SiteMessage) {
			change(m.GetReleaseSignature(), func(a *covey.ReleaseSignature) { a.Signature = flip(a.Signature, 5) })
		}},
		"shares none":    {study.CodeBadShare, func(m *covey.SiteMessage) { change(m.GetShares(), func(a *covey.Shares) { a.Shares = nil }) }},
		"shares cut off": {study.CodeBadShare, func(m *covey.SiteMessage) { change(m.GetShares(), func(a *covey.Shares) { a.Shares = a.Shares[1:] }) }},
		"shares altered": {study.CodeBadShare, func(m *covey.SiteMessage) {
			change(m.GetShares(), func(a *covey.Shares) { a.Shares = flip(a.Shares, -40) })
		}},
		"shares' scalar too big": {study.CodeBadShare, func(m *covey.SiteMessage) {
			change(m.GetShares(), func(a *covey.Shares) { a.Shares = flip(a.Shares, -1); a.Shares[len(a.Shares)-1] |= 0xf0 })
		}},
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		c := faults[name]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 5, nil)
				defer f.c.Close()
				const bad = 3
				// Of the first such message alone: a setup needs everyone's.
				done := false
				f.sites[bad].corrupt = func(m *covey.SiteMessage) {
					if done {
						return
					}
					before := proto.Clone(m)
					c.change(m)
					done = !proto.Equal(before, m)
				}
				// Without the last site's shares the bad one's are needed, whoever's come first.
				f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetShares() != nil }
				f.pump(func() bool { return done })
				for range 40 { // the second time it answers as it should
					f.pump(nil)
					if v := f.view(); len(v.Faults) > 0 || v.Status == round.StatusCompleted || v.Status == round.StatusEnded {
						break
					}
					time.Sleep(100 * time.Millisecond) // of the bubble's clock
				}
				v := f.view()
				if v.Status == round.StatusEnded && v.Code == c.code && v.Culprit == "site-3" {
					return
				}
				if !done || len(v.Faults) == 0 || v.Faults[0].Site != "site-3" || v.Faults[0].Code != c.code {
					t.Errorf("done %v, faults %+v, want %s of site-3", done, v.Faults, c.code)
				}
			})
		})
	}
	t.Logf("figure: %d bad inputs: answers of a site", len(faults))
}

// change applies f to a message if it is there.
func change[M any](m *M, f func(*M)) {
	if m != nil {
		f(m)
	}
}
