package ledger

import (
	"crypto/subtle"
	"fmt"
	"io"
	"maps"
	"slices"
)

// The kinds of what is stored about a study's one setup. The ledger keeps their order: an
// announcement comes with the secrets from which it was made, a confirmation with all that it
// depends on, and a setup is confirmed or closed, never both. After either, its secrets must be
// gone: the caller that stores it erases them, or after a crash between the two, Open does.
const (
	SetupSecrets      = "secrets"      // of PutAnnouncement
	SetupAnnouncement = "announcement" // of PutAnnouncement
	SetupPublic       = "public"       // of PutConfirmation, and so are the next three
	SetupDeposits     = "deposits"
	SetupStatement    = "statement"
	SetupConfirmation = "confirmation"
	SetupClosed       = "closed" // of Close
)

// PutSetup stores what comes to be in the setup under kind, unless something is there already: the
// first write wins. It returns the value on record, which the caller compares or goes
// on with. ErrErased if it was erased.
func (j *Journal) PutSetup(kind string, value []byte) ([]byte, error) {
	if !printable(kind, 1) {
		return nil, &FieldError{Field: "setup kind", Reason: "must be 1 to 200 characters of text"}
	}
	return j.putSetup(kind, map[string][]byte{kind: value}, func(*record) error { return nil })
}

// putSetup stores all values in one transaction with also, unless there is one of the first kind.
// It returns the value of the first kind on record. What comes after the announcement is sealed
// under its key: both stay until the study is finished, and no key has to be fsynced before.
func (j *Journal) putSetup(first string, values map[string][]byte, also func(*record) error) ([]byte, error) {
	var on []byte
	err := j.write(of("setup."+first, j.study), func(r *record) (err error) {
		if on, err = r.secret(setupBucket, []byte(first)); err != ErrAbsent {
			return err
		}
		if err := also(r); err != nil {
			return err
		}
		var keys, all [][]byte
		for _, kind := range slices.Sorted(maps.Keys(values)) {
			key := []byte(kind)
			if r.get(setupBucket, key) != nil { // an erased one stays erased
				return &ConflictError{Study: j.study, What: "setup's " + kind, Query: -1, Slot: -1}
			}
			keys, all = append(keys, key), append(all, values[kind])
		}
		on = slices.Clone(values[first])
		announced := spot{setupBucket, []byte(SetupAnnouncement)}
		if r.get(announced.bucket, announced.key) == nil {
			return r.keep(setupBucket, keys, all)
		}
		for i, key := range keys {
			if err := r.keepWith(announced, setupBucket, key, all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return on, nil
}

// PutAnnouncement stores the setup's secrets and the announcement that was made of them: both or
// neither, and the first wins. It returns the announcement on record. What the announcement was
// made of besides, and what another call was given, nobody needs again.
func (j *Journal) PutAnnouncement(secrets, announcement []byte) ([]byte, error) {
	return j.putSetup(SetupAnnouncement, map[string][]byte{SetupSecrets: secrets, SetupAnnouncement: announcement},
		func(*record) error { return nil })
}

// Confirmed is what a site's confirmation of a setup rests on.
type Confirmed struct {
	Slots               map[int][]byte // by slot, its secret: each is sealed under a key of its own
	Public              []byte         // what later answers show of what was dealt
	Deposits, Statement []byte         // what leaves with the confirmation
	Confirmation        []byte
}

// Format prints [redacted] for every verb.
func (Confirmed) Format(f fmt.State, _ rune) { io.WriteString(f, "[redacted]") }

// MarshalText keeps the slots' secrets out of JSON and structured logs.
func (Confirmed) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// PutConfirmation stores a confirmation with all that it rests on, unless one is on record: all of
// it or nothing. From then on the setup's secrets are due to be erased, which the caller has
// done (Erase) before it says anything. A slot that holds another secret, and a setup that was
// closed, are a *ConflictError; a slot that was erased, or lies at or before a final one, is
// ErrErased.
func (j *Journal) PutConfirmation(c Confirmed) error {
	for slot := range c.Slots {
		if err := checkIndex("slot", slot); err != nil {
			return err
		}
	}
	_, err := j.putSetup(SetupConfirmation, map[string][]byte{
		SetupPublic: c.Public, SetupDeposits: c.Deposits, SetupStatement: c.Statement, SetupConfirmation: c.Confirmation,
	}, func(r *record) error {
		if r.get(setupBucket, []byte(SetupClosed)) != nil {
			return &ConflictError{Study: j.study, What: "end of the setup", Query: -1, Slot: -1}
		}
		return r.putSlots(c.Slots)
	})
	return err
}

// Close puts on record that the setup ends here and why, unless it did: it is never confirmed. It
// returns what is on record. One that is confirmed is a *ConflictError. From then on the setup's
// secrets are due to be erased, as after PutConfirmation.
func (j *Journal) Close(why []byte) ([]byte, error) {
	return j.putSetup(SetupClosed, map[string][]byte{SetupClosed: why}, func(r *record) error {
		if r.get(setupBucket, []byte(SetupConfirmation)) != nil {
			return &ConflictError{Study: j.study, What: "confirmation", Query: -1, Slot: -1}
		}
		return nil
	})
}

// Setup returns what is stored of the setup under kind; false if nothing was. ErrErased if it is
// gone.
func (j *Journal) Setup(kind string) ([]byte, bool, error) {
	var v []byte
	err := j.view(func(r *record) (err error) {
		v, err = r.secret(setupBucket, []byte(kind))
		return err
	})
	if err == ErrAbsent {
		return nil, false, nil
	}
	return v, err == nil, err
}

// putSlots stores the secrets of slots, before they are used. The same secret again is fine.
func (r *record) putSlots(secrets map[int][]byte) error {
	p, err := r.progress()
	if err != nil {
		return err
	}
	var keys, values [][]byte
	for slot, secret := range secrets {
		if slot <= p.FinalSlot {
			return ErrErased
		}
		on, err := r.secret(slotBucket, index(slot))
		switch {
		case err == ErrAbsent:
			keys, values = append(keys, index(slot)), append(values, secret)
		case err != nil:
			return err
		case subtle.ConstantTimeCompare(on, secret) != 1:
			return &ConflictError{Study: r.id, What: "slot secret", Query: -1, Slot: slot}
		}
	}
	if keys == nil {
		return nil
	}
	return r.keep(slotBucket, keys, values)
}

// ended reports whether the setup is confirmed or closed.
func (r *record) ended() bool {
	for _, kind := range []string{SetupConfirmation, SetupClosed} {
		if r.get(setupBucket, []byte(kind)) != nil {
			return true
		}
	}
	return false
}
