package ledger

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// step is one request to a journal and the answer it must get. Contexts and
// survivor sets are short names.
type step struct {
	do     string // upload, sign, both, shares, shared, final, charge
	q, s   int
	ctx, u string
	want   string // an outcome below; "new" for a value computed now
}

func context(name string) (c [32]byte) {
	copy(c[:], name)
	return c
}

// outcome describes an answer in one word or two.
func outcome(v []byte, err error) string {
	if h, ok := errors.AsType[*HeldError](err); ok {
		return fmt.Sprintf("held %d/%d %s %s", h.Query, h.Slot, h.Survivors, h.Signature)
	}
	if r, ok := errors.AsType[*RuleError](err); ok {
		return map[Rule]string{QueryFinal: "query final", QueryOrder: "query order", SlotOrder: "slot order", NoShares: "no shares"}[r.Rule]
	}
	if c, ok := errors.AsType[*ConflictError](err); ok {
		return "conflict " + c.What
	}
	switch {
	case errors.Is(err, ErrErased):
		return "erased"
	case err != nil:
		return "error " + err.Error()
	}
	return string(v)
}

// ask makes the request; compute stands for the site's arithmetic.
func ask(l *Ledger, id [32]byte, st step, compute func() ([]byte, error)) ([]byte, error) {
	j := l.Journal(id)
	switch st.do {
	case "upload":
		j.PutSlot(st.s, []byte("slot")) // which a setup has stored; too late for it is the journal's to say
		return j.Upload(st.q, st.s, context(st.ctx), 0.01, compute)
	case "sign":
		return j.Sign(st.q, st.s, context(st.ctx), []byte(st.u), compute)
	case "both":
		j.PutSlot(st.s, []byte("slot"))
		return j.Upload(st.q, st.s, context(st.ctx), 0.01, compute, Opening{[]byte(st.u), func() ([]byte, error) { return []byte("signed"), nil }, func() ([]byte, error) { return []byte("shared"), nil }})
	case "shares":
		j.PutSlot(st.s, []byte("slot"))
		return j.OpenShares(st.q, st.s, context(st.ctx), []byte(st.u), compute)
	case "shared":
		return []byte("ok"), j.Shared(st.q, st.s, context(st.ctx), []byte(st.u))
	case "final":
		return []byte("ok"), j.Final(st.q, st.s, []byte(st.u))
	case "charge":
		return []byte("ok"), l.Charge(id, st.q, 0.01)
	}
	panic(st.do)
}

// made is the value the n-th step computes: different for every step, so that
// an answer computed twice shows.
func made(n int, st step) string { return fmt.Sprintf("%s%d", st.do, n) }

// The once-only rules, one case each. "new" answers become "<do><n>" with n
// the step's number; a later step expecting that value got it from disk.
var rules = map[string][]step{
	"an upload is computed once": {
		{do: "charge", q: 0, want: "ok"},
		{"upload", 0, 0, "c", "", "new"},
		{"upload", 0, 0, "c", "", "upload1"},
	},
	"more about an opening after its shares": {
		{"shared", 0, 0, "c", "U", "no shares"},
		{"sign", 0, 0, "c", "U", "new"},
		{"shared", 0, 0, "c", "U", "no shares"}, // a signature opens nothing
		{"shares", 0, 0, "c", "U", "new"},
		{"shared", 0, 0, "c", "U", "ok"},
		{"shared", 0, 0, "c", "V", "held 0/0 U sign1"},
		{"shared", 0, 0, "d", "U", "held 0/0 U sign1"},
		{"shared", 0, 1, "c", "U", "held 0/0 U sign1"},
		{"shared", 1, 0, "c", "U", "no shares"},
		{"shared", 0, 0, "c", "U", "ok"},
	},
	"nothing more after a later signature": { // L9
		{"shares", 0, 0, "c", "U", "new"},
		{"sign", 1, 1, "c", "U", "new"},
		{"shared", 0, 0, "c", "U", "slot order"},
	},
	"nothing more about a final query": { // L12
		{"shares", 0, 0, "c", "U", "new"},
		{"final", 0, 0, "", "z", "ok"},
		{"shared", 0, 0, "c", "U", "query final"},
	},
	"nothing more once a later slot is erased": {
		{"shares", 0, 0, "c", "U", "new"},
		{"final", 1, 1, "", "z", "ok"},
		{"shared", 0, 0, "c", "U", "erased"},
	},
	"another context in an uploaded slot": {
		{do: "charge", q: 0, want: "ok"},
		{"upload", 0, 0, "c", "", "new"},
		{"upload", 0, 0, "d", "", "conflict upload"},
		{"sign", 0, 0, "d", "U", "conflict upload"},
		{"shares", 0, 0, "d", "U", "conflict upload"},
		{"sign", 0, 0, "c", "U", "new"},
	},
	"another query in an uploaded slot": {
		{do: "charge", q: 0, want: "ok"},
		{do: "charge", q: 1, want: "ok"},
		{"upload", 0, 0, "c", "", "new"},
		{"upload", 1, 0, "c", "", "conflict upload"},
		{"sign", 1, 0, "c", "U", "conflict upload"},
		{"shares", 1, 0, "c", "U", "conflict upload"},
	},
	"slots of uploads increase": {
		{do: "charge", q: 0, want: "ok"},
		{"upload", 0, 5, "c", "", "new"},
		{"upload", 0, 4, "d", "", "slot order"},
		{"upload", 0, 6, "d", "", "new"},
		{"upload", 0, 5, "c", "", "upload1"},
	},
	"no upload into a slot that was signed or opened": {
		{do: "charge", q: 0, want: "ok"},
		{do: "charge", q: 1, want: "ok"},
		{"sign", 0, 3, "c", "U", "new"},
		{"upload", 0, 3, "c", "", "slot order"},
		{"upload", 0, 2, "c", "", "slot order"},
		{"shares", 1, 5, "c", "U", "new"},
		{"upload", 1, 5, "c", "", "held 1/5 U "},
	},
	"queries never go back": {
		{do: "charge", q: 0, want: "ok"},
		{do: "charge", q: 1, want: "ok"},
		{"upload", 1, 3, "c", "", "new"},
		{"upload", 0, 4, "d", "", "query order"},
		{"sign", 0, 4, "d", "U", "query order"},
		{"shares", 0, 4, "d", "U", "query order"},
		{"upload", 1, 4, "d", "", "new"},
	},
	"a later query needs a later slot": {
		{"sign", 0, 3, "c", "U", "new"},
		{"shares", 1, 2, "d", "U", "slot order"},
		{"sign", 1, 2, "d", "U", "slot order"},
		{"sign", 1, 4, "d", "U", "new"},
	},
	"a slot of an earlier query is past for the later one": {
		{do: "charge", q: 0, want: "ok"},
		{do: "charge", q: 1, want: "ok"},
		{"upload", 0, 4, "c", "", "new"},
		{"upload", 1, 6, "d", "", "new"},
		{"shares", 1, 3, "d", "U", "slot order"},
		{"sign", 1, 2, "d", "U", "slot order"},
		{"sign", 1, 5, "d", "U", "new"},
	},
	"one survivor set per slot": {
		{"sign", 0, 0, "c", "U", "new"},
		{"sign", 0, 0, "c", "U", "sign0"},
		{"sign", 0, 0, "c", "V", "held 0/0 U sign0"},
		{"sign", 0, 0, "d", "U", "held 0/0 U sign0"},
		{"sign", 1, 0, "c", "U", "held 0/0 U sign0"},
		{"sign", 0, 1, "c", "V", "new"},
	},
	"no old signature for a slot before the latest signed": {
		{"sign", 0, 0, "c", "U", "new"},
		{"sign", 0, 1, "d", "U", "new"},
		{"sign", 0, 0, "c", "U", "slot order"},
	},
	"no signature for an earlier slot": {
		{"sign", 0, 5, "c", "U", "new"},
		{"sign", 0, 4, "d", "U", "slot order"},
		{"sign", 0, 6, "d", "U", "new"},
		{"sign", 0, 5, "e", "U", "held 0/5 U sign0"},
	},
	"a signature with the upload": {
		{"both", 0, 0, "c", "U", "new"},
		{"sign", 0, 0, "c", "U", "signed"},
		{"sign", 0, 0, "c", "V", "held 0/0 U signed"},
		{"both", 0, 0, "c", "V", "both0"},
		{"sign", 0, 0, "c", "U", "signed"},
		{"sign", 0, 0, "d", "U", "held 0/0 U signed"},
		{"upload", 1, 1, "d", "", "new"},
		{"both", 1, 1, "d", "U", "upload6"}, // what is on record gets no signature
		{"sign", 1, 1, "d", "V", "new"},
		{"both", 2, 2, "e", "U", "new"},
		{"shares", 1, 1, "d", "V", "query order"},
	},
	"one slot and set per query gives shares": {
		{"shares", 0, 2, "c", "U", "new"},
		{"shares", 0, 2, "c", "U", "shares0"},
		{"shares", 0, 2, "c", "V", "held 0/2 U "},
		{"shares", 0, 2, "d", "U", "held 0/2 U "},
		{"shares", 0, 3, "c", "U", "held 0/2 U "},
		{"shares", 1, 3, "c", "U", "new"},
	},
	"what shares went out for binds signatures and uploads": {
		{do: "charge", q: 0, want: "ok"},
		{"sign", 0, 2, "c", "U", "new"},
		{"shares", 0, 2, "c", "U", "new"},
		{"sign", 0, 3, "d", "U", "held 0/2 U sign1"},
		{"upload", 0, 3, "d", "", "held 0/2 U sign1"},
		{"shares", 0, 3, "d", "U", "held 0/2 U sign1"},
		{"sign", 0, 2, "c", "U", "sign1"},
		{"sign", 1, 3, "d", "V", "new"},
	},
	"shares sent before signing bind the signature": {
		{"shares", 0, 2, "c", "U", "new"},
		{"sign", 0, 2, "c", "V", "held 0/2 U "},
		{"sign", 0, 2, "c", "U", "new"},
	},
	"a set that did not win helps to open the one that did": {
		{"sign", 0, 2, "c", "U", "new"},
		{"shares", 0, 2, "c", "V", "new"},
		{"shares", 0, 2, "c", "U", "held 0/2 V "},
	},
	"shares need the context that was signed": {
		{"sign", 0, 2, "c", "U", "new"},
		{"shares", 0, 2, "d", "U", "held 0/2 U sign0"},
		{"shares", 1, 2, "c", "U", "held 0/2 U sign0"},
		{"shares", 0, 2, "c", "U", "new"},
	},
	"no shares for a slot before the latest signed": {
		{"sign", 0, 2, "c", "U", "new"},
		{"sign", 0, 3, "d", "U", "new"},
		{"shares", 0, 2, "c", "U", "slot order"},
		{"shares", 0, 3, "d", "U", "new"},
	},
	"nor shares that were sent before": {
		{"shares", 0, 2, "c", "U", "new"},
		{"sign", 1, 3, "d", "U", "new"},
		{"shares", 0, 2, "c", "U", "slot order"},
	},
	"a final query is closed": {
		{do: "charge", q: 0, want: "ok"},
		{"upload", 0, 0, "c", "", "new"},
		{"sign", 0, 0, "c", "U", "new"},
		{"shares", 0, 0, "c", "U", "new"},
		{"final", 0, 0, "", "z", "ok"},
		{"upload", 0, 0, "c", "", "query final"},
		{"upload", 0, 1, "d", "", "query final"},
		{"sign", 0, 0, "c", "U", "query final"},
		{"sign", 0, 1, "d", "U", "query final"},
		{"shares", 0, 0, "c", "U", "query final"},
		{"final", 0, 0, "", "z", "ok"},
		{"final", 0, 0, "", "y", "conflict final result"},
	},
	"a final result closes what it passed": {
		{do: "charge", q: 0, want: "ok"},
		{do: "charge", q: 1, want: "ok"},
		{do: "charge", q: 2, want: "ok"},
		{"upload", 0, 0, "c", "", "new"},
		{"final", 1, 3, "", "z", "ok"},
		{"upload", 0, 0, "c", "", "erased"},
		{"upload", 0, 4, "d", "", "query order"},
		{"sign", 0, 0, "c", "U", "query order"},
		{"shares", 2, 3, "d", "U", "slot order"},
		{"sign", 2, 2, "d", "U", "slot order"},
		{"upload", 2, 3, "d", "", "slot order"},
		{"upload", 2, 4, "d", "", "new"},
	},
	"a slot of an earlier query, or one before it, is of no later one": {
		{do: "charge", q: 0, want: "ok"},
		{"upload", 0, 3, "c", "", "new"},
		{"sign", 1, 2, "d", "U", "slot order"},
		{"shares", 1, 2, "d", "U", "slot order"},
		{"sign", 1, 4, "d", "U", "new"},
	},
	"an old result learnt late closes its slots": {
		{"sign", 3, 5, "c", "U", "new"},
		{"final", 1, 7, "", "z", "ok"},
		{"shares", 3, 6, "d", "U", "slot order"},
		{"sign", 3, 7, "d", "U", "slot order"},
		{"sign", 3, 8, "d", "U", "new"},
	},
	"a query after a final one, before the latest begun": {
		{"final", 4, 5, "", "z", "ok"},
		{"sign", 3, 8, "d", "U", "query order"},
		{"sign", 5, 8, "d", "U", "new"},
	},
}

// Each rule, with each request in three forms: answered; carried out and the
// reply lost in a crash, then asked again; cut by a crash before it was stored,
// then asked again.
func TestOnceOnlyRules(t *testing.T) {
	base := mustOpen(t, filepath.Join(t.TempDir(), "l"))
	must(t, base.Approve(approval(1, 5)))
	id := study(1)
	for name, steps := range rules {
		t.Run(name, func(t *testing.T) {
			for _, fault := range []string{"none", "reply lost", "not stored"} {
				dir := crash(t, base.dir)
				l := mustOpen(t, dir)
				for n, st := range steps {
					want := st.want
					if want == "new" {
						want = made(n, st)
					}
					compute := never(t)
					if st.want == "new" {
						compute = value(made(n, st))
					}
					switch fault {
					case "reply lost":
						ask(l, id, st, compute)
						must(t, l.Close())
						dir = crash(t, dir)
						l = mustOpen(t, dir)
						compute = never(t) // it is on disk
					case "not stored":
						if st.want != "new" {
							break
						}
						cut := ""
						ask(l, id, st, func() ([]byte, error) {
							cut = crash(t, dir)
							return []byte("lost with the power"), nil
						})
						must(t, l.Close())
						dir = cut
						l = mustOpen(t, dir)
					}
					if got := outcome(ask(l, id, st, compute)); got != want {
						t.Errorf("fault %q: step %d %+v: got %q, want %q", fault, n, st, got, want)
					}
				}
				must(t, l.Close())
			}
		})
	}
}

// An error while computing leaves no trace.
func TestComputeError(t *testing.T) {
	l, _ := openShadow(t)
	bad := errors.New("data file changed")
	for _, st := range []step{{do: "upload"}, {do: "sign"}, {do: "shares"}} {
		if _, err := ask(l, study(1), st, func() ([]byte, error) { return nil, bad }); err != bad {
			t.Errorf("%s: %v", st.do, err)
		}
		if s := l.Studies()[0]; st.do == "upload" && s.Queries > 0 {
			t.Errorf("%d queries are charged without an upload", s.Queries)
		}
		if v, err := ask(l, study(1), st, value("good")); string(v) != "good" || err != nil {
			t.Errorf("%s afterwards: %q, %v", st.do, v, err)
		}
	}
}

// Finish while a value is being computed: the value is not stored, nor sent.
func TestFinishDuringCompute(t *testing.T) {
	l, _ := openShadow(t)
	for _, st := range []step{{do: "upload"}, {do: "sign"}, {do: "shares"}} {
		v, err := ask(l, study(1), st, func() ([]byte, error) { return []byte("late"), l.Finish(study(1), "aborted") })
		if _, ok := errors.AsType[*StateError](err); !ok || v != nil {
			t.Errorf("%s: %q, %v", st.do, v, err)
		}
	}
}

func TestAccessors(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	if p, err := j.progress(); err != nil || p.Signed >= 0 {
		t.Errorf("signed before any: %+v, %v", p, err)
	}
	if _, ok := j.LatestFinal(); ok {
		t.Error("final before any")
	}
	if _, ok := j.FinalResult(0); ok {
		t.Error("a result before any")
	}
	for n, u := range []string{"U", "V"} {
		_, err := j.Sign(n, n, context("c"), []byte(u), value("sig"+u))
		must(t, err)
	}
	p, err := j.progress()
	if err != nil || p.Signed != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	s, ok := j.Signed(1)
	if !ok || s.Slot != 1 || s.Query != 1 || string(s.Survivors) != "V" || string(s.Signature) != "sigV" || s.Context != context("c") {
		t.Errorf("signed %+v", s)
	}
}
