package dashboard

import (
	"regexp"
	"strings"
	"testing"

	"covey/internal/pki"
)

// TestKeyExchangesAreShown: an operator reads of each link whether a later quantum computer could
// open it, and is told of one that could; a viewer reads of none. Of a site that is away nothing is
// said.
func TestKeyExchangesAreShown(t *testing.T) {
	safe, weak := pki.KeyExchange{Group: "X25519MLKEM768", QuantumSafe: true}, pki.KeyExchange{Group: "CurveP256"}
	const warned = " is not quantum-safe: its key exchange is "
	metric := regexp.MustCompile(`(?m)^covey_site_quantum_safe.*$`)
	for _, c := range []struct {
		south   bool // connected
		notices []string
		metrics []string
	}{
		{false, []string{"The link with coordinator hub-two"}, []string{`covey_site_quantum_safe{site="north"} 1`}},
		{true, []string{"The link of south", "The link with coordinator hub-two"}, []string{`covey_site_quantum_safe{site="north"} 1`, `covey_site_quantum_safe{site="south"} 0`}},
	} {
		d, s, _ := newSeveral(t)
		s.overview.Sites[0].KeyExchange, s.overview.Sites[1].KeyExchange = safe, weak // of when it was there
		s.overview.Sites[1].Connected, s.overview.Refused = c.south, 3
		plain := d.cluster
		d.cluster = func() Cluster {
			c := plain()
			c.Peers[1].KeyExchange = weak
			return c
		}
		_, page := body(t, d, "GET", "/", goodToken)
		if strings.Count(page, warned) != len(c.notices) {
			t.Errorf("south %v: %d warnings", c.south, strings.Count(page, warned))
		}
		for _, link := range c.notices {
			if !strings.Contains(page, link+warned+"CurveP256. Take tlsmlkem=0 out of GODEBUG") {
				t.Errorf("south %v: nothing is said of %s", c.south, link)
			}
		}
		if strings.Count(page, `<td class="loose warn">not quantum-safe (CurveP256)</td>`) != len(c.notices) || strings.Count(page, `<td class="loose">quantum-safe (X25519MLKEM768)</td>`) != 1 {
			t.Errorf("south %v: %s", c.south, page)
		}
		for _, token := range []string{"vi's", "one's"} {
			if _, page := body(t, d, "GET", "/", token); strings.Contains(page, "quantum") {
				t.Errorf("%s: %s", token, page)
			}
		}
		_, text := body(t, d, "GET", "/metrics", goodToken)
		if got := metric.FindAllString(text, -1); strings.Join(got, " ") != strings.Join(c.metrics, " ") {
			t.Errorf("south %v: %q", c.south, got)
		}
		if !strings.Contains(text, "covey_links_not_quantum_safe_refused_total 3\n") {
			t.Error("the refused are not counted")
		}
	}
}

// TestBrokenChainOnThePage: a site that answers no query because of the chain does not look
// connected alone, and its series is one for the alert.
func TestBrokenChainOnThePage(t *testing.T) {
	for _, broken := range []bool{false, true} {
		d, s, _ := newSeveral(t)
		s.overview.Sites[0].BrokenChain = broken
		_, page := body(t, d, "GET", "/", goodToken)
		if strings.Contains(page, "north kept another chain") != broken || strings.Contains(page, "broken chain") != broken {
			t.Errorf("%v: %s", broken, page)
		}
		want := `covey_site_chain_broken{site="north"} 0`
		if broken {
			want = `covey_site_chain_broken{site="north"} 1`
		}
		if _, text := body(t, d, "GET", "/metrics", goodToken); !strings.Contains(text, want+"\n") || strings.Contains(text, `covey_site_chain_broken{site="south"}`) {
			t.Errorf("no %s", want)
		}
	}
}

// TestRefusedOnThePage: a site whose program is refused does not look away alone.
func TestRefusedOnThePage(t *testing.T) {
	d, s, _ := newSeveral(t)
	s.overview.Sites[0].Refused = "an agent <of> yesterday: upgrade the agent"
	_, page := body(t, d, "GET", "/", goodToken)
	for _, want := range []string{"</span> refused</span>", "north is refused: an agent &lt;of&gt; yesterday: upgrade the agent."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on\n%s", want, page)
		}
	}
}
