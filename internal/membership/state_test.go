package membership

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"covey/internal/proposal"
)

// TestCheck: a state that no entries lead to is refused, and what a file leaves out can be written
// to.
func TestCheck(t *testing.T) {
	key := proposal.Key(bytes.Repeat([]byte{1}, ed25519.PublicKeySize))
	north := Holder{Name: "north", Identity: key}
	for name, bad := range map[string]State{
		"a site without a key":     {Sites: map[string]Holder{"north": {Name: "north"}}},
		"an analyst without a key": {Analysts: map[string]Holder{"ada": {Name: "ada", Identity: key[:31]}}},
		"a site of another name":   {Sites: map[string]Holder{"south": north}},
		"a name of two roles":      {Sites: map[string]Holder{"north": north}, Analysts: map[string]Holder{"north": north}},
	} {
		if bad.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	var empty State
	if err := empty.Check(); err != nil {
		t.Fatal(err)
	}
	if err := empty.Invite(InviteEntry{Token: "t", Invite: Invite{Analyst: "ada"}}); err != nil {
		t.Fatal(err)
	}
	if err := empty.Join(JoinEntry{Token: "t", Name: "ada", Key: key}); err != nil || len(empty.Analysts) != 1 {
		t.Errorf("%v, %+v", err, empty)
	}
	if roles := empty.RoleOf("ada"); roles != "analyst" {
		t.Error(roles)
	}
}
