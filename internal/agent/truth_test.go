package agent

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// TestSecondSetIsShownTheFirst: AG-6. Shown another set of announcements than the one on record, by
// another leader say, a site refuses with the announcement on record of the first other site that
// differs, byte for byte: with the two the coordinator convicts that site.
func TestSecondSetIsShownTheFirst(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s, id := c.sites[0], c.plan.Digest
	announced := make([][]byte, 3)
	for i, site := range c.sites {
		announced[i] = want[wire.Announcement](site, wire.Announce{Header: wire.Header{Study: id}}).Signed
	}
	want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Announcements: announced})
	cfg := c.plan.Setup()
	secrets, err := secagg.NewSecrets(cfg)
	if err != nil {
		t.Fatal(err)
	}
	second := slices.Clone(announced)
	if second[2], err = secagg.Announce(cfg, 2, secrets, c.sites[2].agent.identity); err != nil {
		t.Fatal(err)
	}
	no := refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: second}, study.CodeBadAnnouncement)
	if no.Culprit != 3 || !bytes.Equal(no.Announcement, announced[2]) {
		t.Fatalf("culprit %d, with %d bytes", no.Culprit, len(no.Announcement))
	}
	if cfg.CheckAnnounced(2, no.Announcement) != nil || cfg.CheckAnnounced(2, second[2]) != nil || cfg.CheckAnnounced(1, no.Announcement) == nil {
		t.Error("the two do not convict their site")
	}
	raw, err := wire.Encode(no)
	if err != nil {
		t.Fatal(err)
	}
	var m covey.SiteMessage
	if err := proto.Unmarshal(raw, &m); err != nil || !bytes.Equal(m.GetRefusal().GetAnnouncement(), announced[2]) {
		t.Errorf("the announcement does not leave: %v", err)
	}
	// What is not of a length with the record, or differs in this site's own, is nobody's.
	for _, set := range [][][]byte{announced[:2], {announced[1], announced[1], announced[2]}} {
		if no := refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: set}, study.CodeBadAnnouncement); no.Culprit != 0 || no.Announcement != nil {
			t.Errorf("culprit %d", no.Culprit)
		}
	}
}

// TestConfirmingErases: AG-8. With its confirmation on record a site holds the setup's transport
// key and slot secrets no longer.
func TestConfirmingErases(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	c.prepare()
	for _, s := range c.sites {
		if _, _, err := s.session(c).secrets(); err == nil {
			t.Error("the secrets of a confirmed setup are there")
		}
	}
}
