package coordinator

import "covey/internal/people"

// People returns who may log in at the coordinators' pages, as far as the log is applied here.
func (c registry) People() people.Register {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.people
}

// PutPerson records a person, replacing whoever had the name before, whose logins end.
func (c registry) PutPerson(e people.Entry) error { return c.apply(entry{Person: &e}) }

// RevokePerson ends a person's logins. A name that nobody has writes nothing to the log.
func (c registry) RevokePerson(name string) error {
	if _, err := c.People().Remove(name); err != nil {
		return err
	}
	if err := c.apply(entry{Dismiss: &name}); err != nil {
		return err
	}
	c.log.Info("a person may no longer log in at the page", "person", name)
	return nil
}
