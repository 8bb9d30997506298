package analyst

import (
	"bytes"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/proposal"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/port"
)

// FuzzOffer: from whatever a coordinator offers either no proposal is made, or one that holds the
// sites and readers that the study names, and that keys were pinned for.
func FuzzOffer(f *testing.F) {
	seed := &covey.OfferResponse{Coordinator: port.Public(port.Seeded(200)), UnixSeconds: time.Now().Unix()}
	for i, name := range []string{"north", "south", "west"} {
		seed.Sites = append(seed.Sites, &covey.OfferedSite{Name: name, Identity: port.Public(port.Seeded(byte(i))), Units: 3000})
	}
	seed.Readers = []*covey.Reader{{Name: "grace", Identity: port.Public(port.Seeded(9))}}
	raw, err := proto.Marshal(seed)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	self := proposal.Party{Name: "ada", Identity: port.Public(port.Seeded(100))}
	s, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\nreaders = [\"grace\"]\nstandardize = \"private\"\ncolumns = [\"a\", \"b\"]\n"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m covey.OfferResponse
		if proto.Unmarshal(raw, &m) != nil {
			return
		}
		o := wire.OfferOf(&m)
		if check(o, s) != nil {
			return
		}
		pinned, fresh, err := pins{}.with(o, nil)
		if err != nil {
			return // one name with two keys
		}
		body, err := written(self, s, o, [32]byte{1})
		if err != nil {
			return
		}
		p, err := proposal.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Readers) != 1 || p.Readers[0].Name != "grace" || len(p.Roster) != len(m.GetSites()) || !p.Proposer.Same(self) || len(fresh) != 2+len(p.Roster) {
			t.Errorf("%v, %v, shown first %q", p.Readers, p.Roster, fresh)
		}
		for _, r := range p.Roster {
			if !bytes.Equal(pinned.Parties[r.Name], r.Identity) {
				t.Errorf("%s is not pinned", r.Name)
			}
		}
	})
}
