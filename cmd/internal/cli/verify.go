package cli

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/worth"
)

// Verify checks a result file offline.
type Verify struct {
	File string `arg:"" help:"A result file."`
	Key  string `placeholder:"FINGERPRINT" help:"The coordinator key that must have signed it, as somebody you trust read it to you."`
}

// verdict is verify's --json: of a result that holds what it says, of another what
// does not hold.
type verdict struct {
	Holds bool `json:"verified"`
	*result.Verified
	Key         string `json:"key,omitempty"`  // fingerprint of the coordinator's
	KeyCompared bool   `json:"key_compared"`   // with --key
	Here        string `json:"here,omitempty"` // the study on this site's ledger, if one was read
	// Worth is computed from the file; nobody signed it.
	Worth *worth.Report `json:"worth,omitempty"`

	What   string `json:"what,omitempty"`
	Query  *int   `json:"query,omitempty"`
	Reason string `json:"reason,omitempty"`
}

var fingerprintForm = regexp.MustCompile(`^([a-z2-7]{4}-){5}[a-z2-7]{4}$`)

// IsFingerprint reports whether text, in lower case, has the form in which people compare keys.
func IsFingerprint(text string) bool { return fingerprintForm.MatchString(text) }

// Run is verify's where there is no ledger.
func (c *Verify) Run(t *Terminal) error { return c.Check(t, nil) }

// Ledger compares a result with what is on record here. It returns the study's state there, empty
// where there is no record, and where the key that signed the result is known from, such as "the
// proposal that this site approved"; empty if it is not.
type Ledger func(v *result.Verified) (here, known string, err error)

// Check prints a result that holds, or with --json what does not hold. l may be nil. An
// *[InputError] is for a file that is not a result.
func (c *Verify) Check(t *Terminal, l Ledger) error {
	want := strings.ToLower(c.Key)
	if want != "" && !IsFingerprint(want) {
		return Bad("--key must be a fingerprint, six groups of four letters and digits, got %q", c.Key)
	}
	r, v, err := c.read(t)
	if err != nil {
		return err
	}
	key := pki.Fingerprint(ed25519.PublicKey(v.Coordinator))
	if want != "" && want != key {
		return c.Refuse(t, &result.VerifyError{What: "coordinator", Query: -1, Reason: "the key in the file is " + key + ", not " + want})
	}
	here, known := "", ""
	if l != nil {
		if here, known, err = l(v); err != nil {
			return c.Refuse(t, err)
		}
	}
	of, err := t.Worth(r)
	if err != nil {
		return err
	}
	switch {
	case want != "":
		t.Say("%s verifies: it is signed by the key you named.", c.File)
	case known != "":
		t.Say("%s verifies: it is signed by the key in %s.", c.File, known)
	default:
		t.Say("%s verifies: it is signed by the key in it. Only you can tell whose key that is: compare its fingerprint,\n%s, with the coordinator's as somebody you trust reads it to you, or give --key.", c.File, key)
	}
	return t.Print(verdict{Holds: true, Verified: v, Key: key, KeyCompared: want != "", Here: here, Worth: of}, func(out io.Writer) {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		rows := append(v.Rows(), parties(v)...)
		rows = append(rows, [2]string{"key", key})
		if here != "" {
			rows = append(rows, [2]string{"here", here})
		}
		for _, row := range rows {
			fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
		}
		w.Flush()
		for _, sentence := range of.Sentences {
			fmt.Fprintln(out, sentence)
		}
	})
}

// parties are the analysts of a study that an analyst proposed, or may read. Their names are the
// coordinator's words; their fingerprints can be compared.
func parties(v *result.Verified) (rows [][2]string) {
	one := func(p proposal.Party) string {
		return fmt.Sprintf("%s (%s)", frame.Word(p.Name), pki.Fingerprint(ed25519.PublicKey(p.Identity)))
	}
	if v.Proposer != nil {
		rows = append(rows, [2]string{"proposed by", one(*v.Proposer) + ", who signed this digest"})
	}
	for _, p := range v.Readers {
		rows = append(rows, [2]string{"reader", one(p)})
	}
	return rows
}

// read reads the result if it verifies. Errors: those of Refuse, and *[InputError].
func (c *Verify) read(t *Terminal) (*result.Result, *result.Verified, error) {
	file, err := OpenTwice(c.File)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	r, v, err := result.Read(file)
	if err != nil {
		return nil, nil, c.Refuse(t, err)
	}
	return r, v, nil
}

// Refuse returns result.Verify's error with the file's name, and prints what does not hold where
// JSON is wanted; a file that is not JSON is an *[InputError].
func (c *Verify) Refuse(t *Terminal, err error) error {
	bad, ok := errors.AsType[*result.VerifyError](err)
	if !ok {
		return err
	}
	if bad.What == result.WhatJSON {
		return Bad("%s is not a result: %s", c.File, bad.Reason)
	}
	if t.JSON {
		out := verdict{What: bad.What, Reason: bad.Reason}
		if bad.Query >= 0 {
			out.Query = &bad.Query
		}
		if err := PrintJSON(t.Out, out); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s: %w", c.File, err)
}
