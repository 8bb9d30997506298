package node

import (
	"time"

	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
)

// PersonRequest asks for a login at the coordinators' pages.
type PersonRequest struct {
	Name string      `json:"name"`
	Role people.Role `json:"role"`
	// Studies are references as coordinator.Find takes them, to all that a viewer sees; empty: to
	// every study.
	Studies     []string          `json:"studies,omitempty"`
	Valid       proposal.Duration `json:"valid"`
	Certificate bool              `json:"certificate,omitempty"`
}

// PersonReply is a new login.
type PersonReply struct {
	ListedPerson
	// Replaced reports whether the name had a login before, which is void.
	Replaced bool `json:"replaced,omitempty"`
}

// PersonSecret is the answer to the operator: the token is in it, and nowhere else.
type PersonSecret struct {
	PersonReply
	Token string `json:"token,omitempty"`
}

// ListedPerson is a person as listed, with its studies' names.
type ListedPerson struct {
	Name        string        `json:"name"`
	Role        people.Role   `json:"role"`
	Studies     []ListedStudy `json:"studies,omitempty"` // all, where there are none
	Certificate bool          `json:"certificate,omitempty"`
	Expires     time.Time     `json:"expires"`
}

// ListedStudy is a study that a viewer is limited to.
type ListedStudy struct {
	Digest proposal.Digest `json:"digest"`
	Name   string          `json:"name"`
}

// PeopleReply lists who may log in, by name.
type PeopleReply struct {
	People []ListedPerson `json:"people"`
}

// InvitePerson records a person who may log in at the pages of all coordinators, replacing whoever
// had the name, and returns the person's token, or the zero one where the person has a certificate;
// the leader alone can.
func (n *Node) InvitePerson(q PersonRequest) (reply PersonReply, token pki.Token, err error) {
	valid := time.Duration(q.Valid)
	if valid <= 0 || valid > people.MaxValid {
		return reply, token, &people.Error{Reason: "a login is good for more than 0 and at most " + people.MaxValid.String() + ", not " + valid.String()}
	}
	e := people.Entry{Person: people.Person{Name: q.Name, Role: q.Role, Certificate: q.Certificate, Expires: n.now().Add(valid).UTC().Truncate(time.Second)}}
	for _, ref := range q.Studies {
		d, err := n.Coordinator.Find(ref)
		if err != nil {
			return reply, token, err
		}
		e.Studies = append(e.Studies, d)
	}
	if !q.Certificate {
		if token, err = pki.NewToken(); err != nil {
			return reply, token, err
		}
		e.Hash = people.Hash(people.Text(token))
	}
	before := n.Coordinator.People()
	// Before anything is written, as the log would answer.
	if _, err := before.Put(e); err != nil {
		return reply, pki.Token{}, err
	}
	if err := n.Coordinator.PutPerson(e); err != nil {
		return reply, pki.Token{}, err
	}
	_, reply.Replaced = before.Named(e.Name)
	reply.ListedPerson = n.listed(e.Person)
	n.log.Info("a person may log in at the page", "person", e.Name, "role", e.Role, "studies", len(e.Studies), "until", e.Expires)
	return reply, token, nil
}

func (n *Node) listPeople() PeopleReply {
	out := PeopleReply{People: []ListedPerson{}}
	for _, e := range n.Coordinator.People() {
		out.People = append(out.People, n.listed(e.Person))
	}
	return out
}

func (n *Node) listed(p people.Person) ListedPerson {
	out := ListedPerson{Name: p.Name, Role: p.Role, Certificate: p.Certificate, Expires: p.Expires}
	for _, d := range p.Studies {
		out.Studies = append(out.Studies, ListedStudy{d, n.Coordinator.Name(d)})
	}
	return out
}
