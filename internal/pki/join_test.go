package pki

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"covey/test/must"
)

func newJoin(t testing.TB) Join {
	t.Helper()
	token, err := NewToken()
	if err != nil {
		t.Fatal(err)
	}
	return Join{
		Coordinator: []string{"covey.example.org:7443", "[2001:db8::1]:7443"},
		Fingerprint: strings.Repeat("0123-", 15) + "cdef",
		Token:       token,
		Site:        "north",
		Expires:     start.Add(3 * days),
	}
}

// same compares all of two joins, tokens by content.
func same(a, b Join) bool {
	return slices.Equal(a.Coordinator, b.Coordinator) && a.Fingerprint == b.Fingerprint && a.Site == b.Site &&
		a.Expires.Equal(b.Expires) && bytes.Equal(a.Token.Bytes(), b.Token.Bytes())
}

func TestJoinRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token, err := TokenFrom(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "token"))
		if err != nil {
			t.Fatal(err)
		}
		j := Join{
			Coordinator: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return fmt.Sprintf("%s:%d", rapid.SampledFrom([]string{"a.example", "10.0.0.1", "[::1]", "x"}).Draw(t, "host"), rapid.IntRange(1, 65535).Draw(t, "port"))
			}), 1, maxAddresses).Draw(t, "addresses"),
			Fingerprint: groups(hex.EncodeToString(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "fingerprint"))),
			Token:       token,
			Site:        rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`).Draw(t, "site"),
			Expires:     time.Unix(rapid.Int64Range(1e9, 1e11).Draw(t, "expires"), 0).In(time.FixedZone("", 3600)),
		}
		text, err := j.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseJoin(text)
		if err != nil || !same(got, j) {
			t.Fatalf("%v, %v\n%s", got, err, text)
		}
	})
}

func TestJoinFile(t *testing.T) {
	text := must.Get(newJoin(t).Marshal())(t)
	if !strings.HasPrefix(string(text), "# Covey join file of site \"north\". It holds a secret") {
		t.Fatalf("%s", text)
	}
}

func TestJoinExpires(t *testing.T) {
	j := newJoin(t)
	if err := j.Check(j.Expires.Add(-1)); err != nil {
		t.Fatal(err)
	}
	if e := must.As[*ExpiredError](t, j.Check(j.Expires)); e.Error() != "join file: expired at 2026-03-04T12:00:00Z; ask for a new one" {
		t.Fatal(e)
	}
}

// Every key must be there, once, in its one form; and no error repeats the token.
func TestParseJoinIsStrict(t *testing.T) {
	j := newJoin(t)
	text, err := j.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	secret := j.Token.reveal()
	line := func(key string) string {
		for l := range strings.Lines(good) {
			if strings.HasPrefix(l, key+" =") {
				return l
			}
		}
		t.Fatalf("no %s in\n%s", key, good)
		return ""
	}
	swap := func(key, value string) string { return strings.Replace(good, line(key), key+" = "+value+"\n", 1) }
	for name, c := range map[string]struct{ text, want string }{
		"empty":                {"", "join file: coordinator: must be 1 to 16 addresses"},
		"not TOML":             {"<html>", "join file: line 1: not TOML, or a value of the wrong type"},
		"huge":                 {good + strings.Repeat("#", maxJoin), "join file: is over 64 KiB"},
		"unknown key":          {good + "colour = 'red'\n", `unknown key "colour"`},
		"unknown table":        {good + "[more]\nx = 1\n", `join file: line`},
		"unknown, long":        {good + strings.Repeat("k", 40) + " = 1\n", `an unknown key`},
		"secret as a key":      {good + secret + " = 1\n", `an unknown key`},
		"capital":              {strings.Replace(good, "site =", "Site =", 1), "join file: the keys are coordinator, fingerprint, token, site, analyst, node, expires, in small letters"},
		"capital, twice":       {good + "SITE = 'south'\n", "in small letters"},
		"long s":               {strings.Replace(good, "site =", "ſite =", 1), "join file: "},
		"twice":                {good + line("site"), "not TOML, or a value of the wrong type"},
		"no addresses":         {swap("coordinator", "[]"), "coordinator: must be 1 to 16"},
		"too many":             {swap("coordinator", "["+strings.Repeat("'a:1',", 17)+"]"), "coordinator: must be 1 to 16"},
		"address, no port":     {swap("coordinator", "['a:1', 'b']"), "coordinator: address 2: must be host:port"},
		"address, port 0":      {swap("coordinator", "['a:0']"), "coordinator: address 1"},
		"address, port name":   {swap("coordinator", "['a:https']"), "coordinator: address 1"},
		"address, no host":     {swap("coordinator", "[':1']"), "coordinator: address 1"},
		"address, scheme":      {swap("coordinator", "['https://a:1']"), "coordinator: address 1"},
		"address as a string":  {swap("coordinator", "'a:1'"), "not TOML, or a value of the wrong type"},
		"no fingerprint":       {strings.Replace(good, line("fingerprint"), "", 1), "fingerprint: must be sixteen groups"},
		"short fingerprint":    {swap("fingerprint", "'0123-4567'"), "fingerprint: must be sixteen groups"},
		"fingerprint, capital": {strings.Replace(good, "cdef", "CDEF", 1), "fingerprint: must be sixteen groups"},
		"no token":             {strings.Replace(good, line("token"), "", 1), "token: is missing"},
		"short token":          {swap("token", "'"+secret[1:]+"'"), "token: must be 43 characters"},
		"long token":           {swap("token", "'"+secret+"A'"), "token: must be 43 characters"},
		"token over lines":     {swap("token", "\"\"\"\n"+secret[:20]+"\n"+secret[20:]+"\"\"\""), "token: must be 43 characters"},
		"token, padded":        {swap("token", "'"+secret+"='"), "token: must be 43 characters"},
		"token, loose bits":    {swap("token", "'"+strings.Repeat("A", 42)+"B'"), "token: must be 43 characters"},
		"token not closed":     {swap("token", "'"+secret), "not TOML"},
		"token not quoted":     {swap("token", secret), "not TOML"},
		"no site":              {strings.Replace(good, line("site"), "", 1), "site: a join file names one"},
		"site with a path":     {swap("site", "'../north'"), "site: is not a valid name"},
		"no expiry":            {strings.Replace(good, line("expires"), "", 1), "expires: is missing"},
		"local expiry":         {swap("expires", "2026-03-04T12:00:00"), "expires: must be a date and time with an offset"},
		"date":                 {swap("expires", "2026-03-04"), "expires: must be a date and time with an offset"},
		"expiry as a string":   {swap("expires", "'2026-03-04T12:00:00Z'"), "expires: must be a date and time with an offset"},
		"expiry as a number":   {swap("expires", "1"), "expires: must be a date and time with an offset"},
		"long ago":             {swap("expires", "0001-01-01T00:00:00Z"), "expires: is missing or out of range"},
	} {
		if c.text == good {
			t.Fatalf("%s: nothing is changed", name)
		}
		got, err := ParseJoin([]byte(c.text))
		e, ok := errors.AsType[*JoinError](err)
		if !ok || !strings.Contains(e.Error(), c.want) || !reflect.DeepEqual(got, Join{}) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
			continue
		}
		for i := range len(secret) - 8 {
			if strings.Contains(err.Error(), secret[i:i+8]) {
				t.Errorf("%s: the error shows part of the token: %v", name, err)
			}
		}
	}
}

func TestMarshalRefuses(t *testing.T) {
	for field, bend := range map[string]func(j *Join){
		"coordinator": func(j *Join) { j.Coordinator = nil },
		"fingerprint": func(j *Join) { j.Fingerprint = "" },
		"token":       func(j *Join) { j.Token = Token{} },
		"site":        func(j *Join) { j.Site = "x\n# y" },
		"expires":     func(j *Join) { j.Expires = time.Time{} },
	} {
		j := newJoin(t)
		bend(&j)
		_, err := j.Marshal()
		if e := must.As[*JoinError](t, err); e.Field != field {
			t.Error(e)
		}
	}
}

func TestToken(t *testing.T) {
	a, err := NewToken()
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewToken()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(a.Bytes(), b.Bytes()) || len(a.Bytes()) != 32 {
		t.Fatal("tokens are not fresh")
	}
	if a.Hash() == b.Hash() {
		t.Fatal("two tokens have one hash")
	}
	again, err := TokenFrom(a.Bytes())
	if err != nil || again.Hash() != a.Hash() {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, {}, a.Bytes()[:31], append(a.Bytes(), 0)} {
		if _, err := TokenFrom(bad); err != ErrToken {
			t.Fatal(err)
		}
	}
	// What a caller does to the bytes it got does not change the token.
	clear(a.Bytes())
	if a.Hash() != again.Hash() {
		t.Fatal("Bytes is not a copy")
	}
}

// Secrets show in no printed, logged or encoded form.
func TestRedaction(t *testing.T) {
	j := newJoin(t)
	a := newAuthority(t)
	s := member(t, a, "north")
	hidden := struct {
		token Token
		join  Join
		site  *Holder
		a     *Authority
	}{j.Token, j, s, a}
	values := map[string]any{"token": j.Token, "*token": &j.Token, "join": j, "*join": &j, "site": s, "authority": a, "unexported": hidden,
		"slice": []Token{j.Token}, "map": map[string]Token{"x": j.Token}}

	var forms []string
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
			forms = append(forms, name+" "+verb+": "+fmt.Sprintf(verb, v))
		}
		for _, h := range []func(b *bytes.Buffer) slog.Handler{
			func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(h(&b)).Info("said", "value", v)
			forms = append(forms, name+": "+b.String())
		}
		if text, err := json.Marshal(v); err == nil {
			forms = append(forms, name+": "+string(text))
		}
		if text, err := toml.Marshal(v); err == nil {
			forms = append(forms, name+": "+string(text))
		}
	}
	secrets := [][]byte{j.Token.Bytes(), s.identity().Seed(), s.key().Seed(), a.caKey().Seed(), a.serverKey().Seed(), a.signing().Seed()}
	for _, form := range forms {
		for _, secret := range secrets {
			part := secret[:8]
			for _, shown := range []string{string(part), fmt.Sprintf("%x", part), fmt.Sprintf("%X", part), strings.Trim(fmt.Sprint(part), "[]"),
				strings.ReplaceAll(strings.Trim(fmt.Sprint(part), "[]"), " ", ","), strings.Trim(fmt.Sprintf("%#v", part), "[]byte{}"), j.Token.reveal()[:8]} {
				if strings.Contains(form, shown) {
					t.Errorf("a secret is in %.40q", form)
				}
			}
		}
	}
	if text, err := json.Marshal(j); err != nil || !strings.Contains(string(text), `"Token":"[redacted]"`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, want := range []string{fmt.Sprint(j.Token), fmt.Sprintf("%#v", j.Token), fmt.Sprintf("%d", j.Token), j.Token.String()} {
		if want != "[redacted]" {
			t.Error(want)
		}
	}
	if got := fmt.Sprintf("%+v", j); !strings.Contains(got, "Token:[redacted]") {
		t.Error(got)
	}
	if got := fmt.Sprint(a); got != "covey CA "+a.Fingerprint() {
		t.Error(got)
	}
	if got := fmt.Sprintf("%#v", s); !strings.HasPrefix(got, "covey site ") || len(got) > 60 {
		t.Error(got)
	}
}

// Whatever the bytes: no panic; either a typed error, or a join that marshals and
// parses to itself.
func FuzzParseJoin(f *testing.F) {
	text, err := newJoin(f).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(""))
	f.Add([]byte("coordinator = ['a:1']\nfingerprint = 'x'\ntoken = ''\nsite = \"n\"\nexpires = 2026-03-04T12:00:00.5+01:00\n"))
	f.Add([]byte("expires = 9999-12-31T23:59:59-23:59\n[site]\n"))
	f.Add([]byte("coordinator = [['a']]\n'' = 1\na.b.c = {d = 1}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := ParseJoin(text)
		if err != nil {
			must.As[*JoinError](t, err)
			return
		}
		again, err := j.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseJoin(again)
		j.Expires = j.Expires.Truncate(time.Second)
		if err != nil || !same(got, j) {
			t.Fatalf("%v, %v\n%s", got, err, again)
		}
	})
}
