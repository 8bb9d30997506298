package pki

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

const (
	maxJoin      = 64 << 10
	maxAddresses = 16
)

// Join is the content of a join file: everything that a site or an analyst needs to reach one
// coordinator, be sure that it is that one, and be let in once; or that a new coordinator needs to
// join the others. Its token is a secret until it is spent or
// expired.
type Join struct {
	// Coordinator lists the addresses, host:port, to be tried in order; 1 to 16.
	Coordinator []string
	// Fingerprint of the CA ([Authority.Fingerprint]).
	Fingerprint string
	// Token lets one in, once.
	Token Token
	// Site is the name that the token is good for, or Analyst, or Node; with Node the addresses are
	// those of the coordinators' peer ports.
	Site, Analyst, Node string
	// Expires is the token's end, in whole seconds.
	Expires time.Time
}

// joinFile is the file's form. Expires is any so that a local date-time, which
// means another moment on another machine, can be told from one with an offset.
type joinFile struct {
	Coordinator []string `toml:"coordinator" comment:"Where the coordinator answers: host:port, tried in order."`
	Fingerprint string   `toml:"fingerprint" comment:"SHA-256 of the coordinator's CA certificate. Compare it with what its operator reads to you."`
	Token       string   `toml:"token" comment:"One-time secret: the first who shows it has this name."`
	Site        string   `toml:"site,omitempty"`
	Analyst     string   `toml:"analyst,omitempty"`
	Node        string   `toml:"node,omitempty" comment:"A new coordinator's, who gets the federation's keys with it."`
	Expires     any      `toml:"expires"`
}

var joinKeys = []string{"coordinator", "fingerprint", "token", "site", "analyst", "node", "expires"}

// Marshal returns the file's text, TOML under a comment, with the token in clear:
// write it with mode 0600. The error is a [*JoinError].
func (j Join) Marshal() ([]byte, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	text, err := toml.Marshal(joinFile{j.Coordinator, j.Fingerprint, j.Token.reveal(), j.Site, j.Analyst, j.Node, j.Expires.UTC().Truncate(time.Second)})
	if err != nil {
		return nil, &JoinError{Reason: "does not encode"}
	}
	what, used := fmt.Sprintf("site %q", j.Site), "agent join"
	switch {
	case j.Node != "":
		what, used = fmt.Sprintf("coordinator %q", j.Node), "coordinator init --join"
	case j.Analyst != "":
		what, used = fmt.Sprintf("analyst %q", j.Analyst), "analyst join"
	}
	header := fmt.Sprintf("# Covey join file of %s. It holds a secret: hand it over privately, and\n# delete it once `%s` has used it.\n\n", what, used)
	return append([]byte(header), text...), nil
}

// ParseJoin reads the text of a join file. It is strict: every key must be there,
// no other may be, and each value has one form. The error is a [*JoinError]. It does
// not look at the time ([Join.Check]).
func ParseJoin(text []byte) (Join, error) {
	if len(text) > maxJoin {
		return Join{}, &JoinError{Reason: "is over 64 KiB"}
	}
	var f joinFile
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Join{}, tomlError(err)
	}
	// The decoder takes SITE for site; here a key has one form.
	var keys map[string]any
	if err := toml.Unmarshal(text, &keys); err != nil {
		return Join{}, tomlError(err)
	}
	for key := range keys {
		if !slices.Contains(joinKeys, key) {
			return Join{}, &JoinError{Reason: "the keys are " + strings.Join(joinKeys, ", ") + ", in small letters"}
		}
	}
	j := Join{Coordinator: f.Coordinator, Fingerprint: f.Fingerprint, Site: f.Site, Analyst: f.Analyst, Node: f.Node}
	switch at := f.Expires.(type) {
	case time.Time:
		j.Expires = at.UTC()
	case nil:
	default:
		return Join{}, &JoinError{"expires", "must be a date and time with an offset"}
	}
	if f.Token != "" {
		var err error
		if j.Token, err = parseToken(f.Token); err != nil {
			return Join{}, &JoinError{"token", "must be 43 characters of URL-safe base64"}
		}
	}
	if err := j.check(); err != nil {
		return Join{}, err
	}
	return j, nil
}

// tomlError says where, and at most an unknown key: the decoder's own texts may
// repeat what stands in the file, and the token stands there.
func tomlError(err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		if key := strict.Errors[0].Key(); len(key) == 1 && len(key[0]) <= 32 {
			return &JoinError{Reason: fmt.Sprintf("line %d: unknown key %q", line, key[0])}
		}
		return &JoinError{Reason: fmt.Sprintf("line %d: an unknown key", line)}
	}
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := at.Position()
		return &JoinError{Reason: fmt.Sprintf("line %d: not TOML, or a value of the wrong type; use the file as the coordinator's operator made it", line)}
	}
	return &JoinError{Reason: "not TOML; use the file as the coordinator's operator made it"}
}

// check serves both directions.
func (j Join) check() error {
	if len(j.Coordinator) == 0 || len(j.Coordinator) > maxAddresses {
		return &JoinError{"coordinator", fmt.Sprintf("must be 1 to %d addresses", maxAddresses)}
	}
	for i, a := range j.Coordinator {
		host, port, err := net.SplitHostPort(a)
		number, bad := strconv.ParseUint(port, 10, 16)
		if err != nil || bad != nil || number == 0 || validHost(host) != nil {
			return &JoinError{"coordinator", fmt.Sprintf("address %d: must be host:port", i+1)}
		}
	}
	if !validFingerprint(j.Fingerprint) {
		return &JoinError{"fingerprint", "must be sixteen groups of four hexadecimal digits, with hyphens"}
	}
	if j.Token.secret == nil {
		return &JoinError{"token", "is missing"}
	}
	whose := 0
	for _, of := range []struct{ key, name string }{{"site", j.Site}, {"analyst", j.Analyst}, {"node", j.Node}} {
		if of.name == "" {
			continue
		}
		if whose++; ValidName(of.name) != nil {
			return &JoinError{of.key, "is not a valid name"}
		}
	}
	if whose != 1 {
		return &JoinError{"site", "a join file names one: a site, an analyst or a coordinator (node)"}
	}
	if year := j.Expires.Year(); j.Expires.IsZero() || year < 2000 || year > 9998 {
		return &JoinError{"expires", "is missing or out of range"}
	}
	return nil
}

// Client returns the role and name of the certificate that the file is for; none of a
// coordinator's.
func (j Join) Client() (Role, string) {
	switch {
	case j.Site != "":
		return RoleSite, j.Site
	case j.Analyst != "":
		return RoleAnalyst, j.Analyst
	}
	return "", ""
}

// Check returns an [*ExpiredError] once the file's time is over. It spares a
// call; the coordinator's own record is what counts.
func (j Join) Check(now time.Time) error {
	if !now.Before(j.Expires) {
		return &ExpiredError{j.Expires}
	}
	return nil
}
