package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
)

// TestInvitePerson: what is refused writes nothing to the log and makes no token; what is not is in
// the register with the token's hash, and the token is in the answer alone.
func TestInvitePerson(t *testing.T) {
	pair(t, func(t *testing.T, one, _ *Node) {
		good := PersonRequest{Name: "ana", Role: people.Operator, Valid: proposal.Duration(time.Hour)}
		before := logged(t, one)
		count := 0
		for what, change := range map[string]func(*PersonRequest){
			"no time":            func(q *PersonRequest) { q.Valid = 0 },
			"a time past":        func(q *PersonRequest) { q.Valid = -1 },
			"too long":           func(q *PersonRequest) { q.Valid = proposal.Duration(people.MaxValid + 1) },
			"no name":            func(q *PersonRequest) { q.Name = "" },
			"a path":             func(q *PersonRequest) { q.Name = "../ana" },
			"no role":            func(q *PersonRequest) { q.Role = "" },
			"another role":       func(q *PersonRequest) { q.Role = "root" },
			"no such study":      func(q *PersonRequest) { q.Role, q.Studies = people.Viewer, []string{"none"} },
			"too many studies":   func(q *PersonRequest) { q.Role, q.Studies = people.Viewer, make([]string, people.MaxStudies+1) },
			"a limited operator": func(q *PersonRequest) { q.Studies = []string{"none"} },
		} {
			count++
			q := good
			change(&q)
			_, token, err := one.InvitePerson(q)
			_, person := errors.AsType[*people.Error](err)
			_, unknown := errors.AsType[*proposal.UnknownError](err)
			_, name := errors.AsType[*pki.NameError](err)
			if !person && !unknown && !name || token.Bytes() != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if after := logged(t, one); after != before || len(one.Coordinator.People()) != 0 {
			t.Errorf("what was refused wrote %d entries", after-before)
		}
		t.Logf("figure: %d bad inputs: invitations to the page", count)

		reply, token, err := one.InvitePerson(good)
		if err != nil || reply.Replaced || !reply.Expires.Equal(time.Now().Add(time.Hour).Truncate(time.Second)) {
			t.Fatalf("%+v, %v", reply, err)
		}
		if e, known := one.Coordinator.People().Holder(people.Text(token)); !known || e.Name != "ana" || e.Role != people.Operator {
			t.Error("the token is nobody's")
		}
		again, other, err := one.InvitePerson(good)
		if _, known := one.Coordinator.People().Holder(people.Text(token)); err != nil || !again.Replaced || known || people.Text(other) == people.Text(token) {
			t.Error("the older token is good still")
		}
		cy, none, err := one.InvitePerson(PersonRequest{Name: "cy", Role: people.Viewer, Certificate: true, Valid: proposal.Duration(people.MaxValid)})
		if err != nil || !cy.Certificate || none.Bytes() != nil {
			t.Errorf("%+v, %v", cy, err)
		}
		for _, printed := range []string{fmt.Sprintf("%v %+v %#v %s", other, other, other, other), fmt.Sprintf("%+v", again)} {
			if strings.Contains(printed, people.Text(other)) {
				t.Error("the token is printed")
			}
		}
		// The list, as the socket has it, holds neither token nor hash.
		w := httptest.NewRecorder()
		one.leaderHandler().ServeHTTP(w, httptest.NewRequest("GET", "/v1/page/people", nil))
		var listed PeopleReply
		if err := json.Unmarshal(w.Body.Bytes(), &listed); err != nil || len(listed.People) != 2 || strings.Contains(w.Body.String(), people.Hash(people.Text(other))) {
			t.Errorf("%s, %v", w.Body, err)
		}
	})
}
