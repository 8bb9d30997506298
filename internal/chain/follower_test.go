package chain

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// kept is a record in memory.
type kept map[uint64]Entry

func (k kept) Last() (last Head, whole bool, err error) {
	for n, e := range k {
		if n > last.Number {
			last = e.Head
		}
	}
	_, first := k[1]
	return last, first || len(k) == 0, nil
}

func (k kept) At(n uint64) (Entry, bool, error) { e, ok := k[n]; return e, ok, nil }

func (k kept) Has(s Step) (bool, error) {
	for _, e := range k {
		if e.Step == s {
			return true, nil
		}
	}
	return false, nil
}

// keep is what a site does before it answers.
func (k kept) keep(f *Follower) {
	all, err := f.Fresh()
	if err != nil {
		panic(err) // this record has no errors
	}
	for _, e := range all {
		k[e.Number] = e
	}
}

func logOf(steps ...byte) (l Log) {
	for _, s := range steps {
		l.Append(Step{s})
	}
	return l
}

// shown is a log from a number on, in pieces.
func shown(l *Log, base uint64, sizes ...int) (out []Shown) {
	rest := l.Since(base)
	for _, n := range append(sizes, len(rest)) {
		n = min(n, len(rest))
		out = append(out, Shown{Base: l.At(base), Steps: rest[:n]})
		base, rest = base+uint64(n), rest[n:]
	}
	return out
}

func follow(t testing.TB, k kept) (*Follower, Head) {
	t.Helper()
	f, told, err := Follow(k)
	if err != nil {
		t.Fatal(err)
	}
	return f, told
}

func take(t testing.TB, f *Follower, all ...Shown) error {
	t.Helper()
	for _, s := range all {
		if err := f.Take(s); err != nil {
			t.Fatal(err)
		}
	}
	return f.Check()
}

// TestFollow: what each kind of chain is to a site that kept three entries.
func TestFollow(t *testing.T) {
	mine := logOf(1, 2, 3)
	longer, other, shorter, early := logOf(1, 2, 3, 4, 5), logOf(1, 2, 9, 4), logOf(1, 2), logOf(9, 2, 3, 4)
	site := func() kept {
		k := kept{}
		f, _ := follow(t, k)
		if err := take(t, f, shown(&mine, 0)...); err != nil {
			t.Fatal(err)
		}
		k.keep(f)
		return k
	}
	isFork := func(number uint64) func(error) bool {
		return func(err error) bool { e, ok := errors.AsType[*ForkError](err); return ok && e.Number == number }
	}
	isGap := func(err error) bool { _, ok := errors.AsType[*GapError](err); return ok }
	isBehind := func(err error) bool {
		e, ok := errors.AsType[*BehindError](err)
		return ok && e.Kept == mine.Head() && e.Shown == shorter.Head()
	}
	is := func(want error) func(error) bool { return func(err error) bool { return err == want } }
	for name, c := range map[string]struct {
		show []Shown
		want func(error) bool
	}{
		"nothing":                        {nil, is(ErrUnshown)},
		"the same":                       {shown(&mine, 3), is(nil)},
		"a longer one":                   {shown(&longer, 3, 1), is(nil)},
		"all of a longer one":            {shown(&longer, 0), is(nil)},
		"another, from what was kept":    {shown(&other, 3), isFork(3)},
		"another, from where they part":  {shown(&other, 2), isFork(3)},
		"another, from the start":        {shown(&other, 0), isFork(3)},
		"another from its first entry":   {shown(&early, 0, 1, 1), isFork(1)},
		"a shorter one":                  {shown(&shorter, 2), isBehind},
		"a shorter one, from the start":  {shown(&shorter, 0), isBehind},
		"from beyond what was kept":      {shown(&longer, 4), isGap},
		"with a piece missing":           {append(shown(&mine, 3), shown(&longer, 4)...), isGap},
		"with a piece twice":             {append(shown(&longer, 3), shown(&longer, 4)...), isGap},
		"a gap, and then the right one":  {append(shown(&longer, 4), shown(&longer, 3)...), isGap},
		"a fork, and then the right one": {append(shown(&other, 2, 1), shown(&longer, 3)...), isFork(3)},
	} {
		f, told := follow(t, site())
		if told != mine.Head() {
			t.Errorf("%s: the site says that it kept %v", name, told)
		}
		if err := take(t, f, c.show...); !c.want(err) {
			t.Errorf("%s: %v", name, err)
		} else if all, _ := f.Fresh(); err != nil && len(all) > 0 {
			t.Errorf("%s: %d entries of it are to be kept", name, len(all))
		}
	}
}

// TestTooLong: a chain ends where a site could not follow it from its start any more.
func TestTooLong(t *testing.T) {
	last := Head{maxEntries, Link{1}}
	k := kept{maxEntries: Entry{Head: last}}
	f, _ := follow(t, k)
	if err := take(t, f, Shown{Base: last}); err != nil {
		t.Error(err)
	}
	f, _ = follow(t, k)
	if _, gap := errors.AsType[*GapError](take(t, f, Shown{Base: last, Steps: []Step{{}}})); !gap {
		t.Error("one entry more is taken")
	}
}

// TestKeptIsNotHeld: once all that was shown is kept, a link holds none of it in memory, however
// long it lasts.
func TestKeptIsNotHeld(t *testing.T) {
	const steps, size = MaxSteps, 72
	mine, k := Log{}, kept{}
	for i := range steps {
		mine.Append(Step{byte(i), byte(i >> 8)})
	}
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	f, _ := follow(t, k)
	if err := take(t, f, shown(&mine, 0, steps/2)...); err != nil {
		t.Fatal(err)
	}
	k.keep(f)
	before := held()
	if left, err := f.Fresh(); err != nil || len(left) > 0 {
		t.Fatalf("%d entries left, %v", len(left), err)
	}
	if freed := int64(before) - int64(held()); freed < steps*size {
		t.Errorf("%d bytes are free of what %d entries take", freed, steps)
	}
	runtime.KeepAlive(f)
}

// TestPinned: a site whose operator accepted a head is shown all that led to it, and takes no chain
// that leads elsewhere.
func TestPinned(t *testing.T) {
	accepted, other := logOf(1, 2, 3, 4), logOf(1, 2, 9, 4)
	for _, l := range []*Log{&accepted, &other} {
		k := kept{3: Entry{Head: accepted.At(3)}}
		f, told := follow(t, k)
		if told != (Head{}) {
			t.Errorf("a site that kept one link says that it kept %v", told)
		}
		err := take(t, f, shown(l, 0, 2)...)
		if _, fork := errors.AsType[*ForkError](err); fork != (l == &other) {
			t.Errorf("%v", err)
		}
		if err != nil {
			continue
		}
		k.keep(f)
		if _, told := follow(t, k); told != accepted.Head() || len(k) != 4 {
			t.Errorf("it kept %d links, up to %v", len(k), told)
		}
		if ok, err := f.Has(Step{3}); !ok || err != nil {
			t.Errorf("the step of the accepted head is not there: %v", err)
		}
		if ok, err := f.Holds(accepted.At(2), Step{2}); !ok || err != nil {
			t.Errorf("an entry before the accepted one is not held: %v", err)
		}
	}
}

// TestHolds: a chain has a head only at that head's number, and a broken chain has none.
func TestHolds(t *testing.T) {
	mine, shorter := logOf(1, 2, 3, 4), logOf(1, 2)
	k := kept{}
	f, _ := follow(t, k)
	take(t, f, shown(&mine, 0)...)
	if ok, _ := f.Has(Step{3}); !ok {
		t.Error("a step that was shown is not there")
	}
	k.keep(f)
	for n := range byte(4) {
		if ok, err := f.Holds(mine.At(uint64(n)+1), Step{n + 1}); !ok || err != nil {
			t.Errorf("head %d is not held: %v", n+1, err)
		}
		if ok, _ := f.Holds(mine.At(uint64(n)+1), Step{n + 2}); ok {
			t.Errorf("head %d is another step's", n+1)
		}
	}
	for _, h := range []Head{{2, mine.At(3).Link}, {3, mine.At(2).Link}, {5, mine.At(4).Link}, {0, mine.At(1).Link}, {0, start()}} {
		for n := range byte(6) {
			if ok, _ := f.Holds(h, Step{n}); ok {
				t.Errorf("%v is held", h)
			}
		}
	}
	if ok, _ := f.Has(Step{5}); ok {
		t.Error("a step that was not shown is there")
	}
	f, _ = follow(t, k)
	take(t, f, shown(&shorter, 2)...)
	if ok, err := f.Holds(mine.At(1), Step{1}); ok || err == nil {
		t.Error("a head is held by a chain that is behind")
	}
}

// TestAnyChain: over random courses of links, restarts, restored sites and restored coordinators, a
// chain passes exactly if the site's kept one is its beginning, whatever pieces it is shown in.
func TestAnyChain(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 4))
	passed, refused := 0, 0
	for range 3000 {
		steps := make([]byte, 1+r.IntN(12))
		for i := range steps {
			steps[i] = byte(r.IntN(2))
		}
		coordinator, k := logOf(steps...), kept{}
		for range 1 + r.IntN(5) {
			switch r.IntN(4) {
			case 0: // the coordinator is put back, and goes on
				coordinator = logOf(steps[:r.IntN(len(steps)+1)]...)
				steps = slices.Clone(steps[:len(coordinator.steps)])
			case 1: // the site is put back
				last, _, _ := k.Last()
				for n := last.Number; n > 0 && r.IntN(3) > 0; n-- {
					delete(k, n)
				}
			}
			for range r.IntN(4) {
				s := byte(r.IntN(2))
				steps = append(steps, s)
				coordinator.Append(Step{s})
			}
			if len(steps) == 0 {
				steps = []byte{1}
				coordinator.Append(Step{1})
			}
			f, told := follow(t, k)
			last, _, _ := k.Last()
			now := coordinator.Head()
			extends := last.Number <= now.Number && (last.Number == 0 || coordinator.At(last.Number) == last)
			base := min(told.Number, now.Number)
			err := take(t, f, shown(&coordinator, base, r.IntN(3), r.IntN(3))...)
			if (err == nil) != extends {
				t.Fatalf("kept %v, shown %v: %v", last, now, err)
			}
			if err != nil {
				refused++
				continue
			}
			passed++
			k.keep(f)
			if last, whole, _ := k.Last(); last != now || !whole {
				t.Fatalf("kept %v of %v", last, now)
			}
		}
	}
	if passed < 1000 || refused < 1000 {
		t.Errorf("%d passed and %d were refused", passed, refused)
	}
}

// TestKeptMeanwhile: what was kept since a chain was shown, of it or of another, is found when the
// chain is checked: of this one nothing is to be kept again, and another one is a fork.
func TestKeptMeanwhile(t *testing.T) {
	mine, longer, other := logOf(1), logOf(1, 2, 3), logOf(1, 9, 3, 4)
	k := kept{}
	f, _ := follow(t, k)
	if err := take(t, f, shown(&mine, 0)...); err != nil {
		t.Fatal(err)
	}
	k.keep(f)
	first, _ := follow(t, k)
	if err := take(t, first, shown(&longer, 1)...); err != nil {
		t.Fatal(err)
	}
	second, _ := follow(t, k)
	if err := take(t, second, shown(&other, 1)...); err != nil {
		t.Fatal(err)
	}
	k.keep(first)
	if again, err := first.Fresh(); err != nil || len(again) > 0 || first.Check() != nil {
		t.Errorf("%d entries are kept again (%v, %v)", len(again), err, first.Check())
	}
	if fork, ok := errors.AsType[*ForkError](second.Check()); !ok || fork.Number != 3 {
		t.Errorf("another chain than the kept one: %v", second.Check())
	}
	if all, err := second.Fresh(); err != nil || len(all) > 0 {
		t.Errorf("%d entries of another chain are to be kept (%v)", len(all), err)
	}
}

// FuzzFollow: whatever a coordinator shows, in pieces that need not fit, nothing panics, what
// passes extends what was kept link by link, and nothing of another chain is kept.
func FuzzFollow(f *testing.F) {
	mine := logOf(1, 2, 3)
	for _, base := range []uint64{0, 2, 3, 4, 1 << 40} {
		at := Head{Number: base}
		if base <= 3 {
			at = mine.At(base)
		}
		seed := append(binary.BigEndian.AppendUint64(nil, base), at.Link[:]...)
		f.Add(append(append(seed, 2), make([]byte, 64)...))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		k := kept{}
		first, _ := follow(t, k)
		take(t, first, shown(&mine, 0)...)
		k.keep(first)
		follower, _ := follow(t, k)
		for len(raw) >= 41 {
			s := Shown{Base: Head{binary.BigEndian.Uint64(raw), Link(raw[8:40])}}
			n := int(raw[40]) % 8 * 32
			raw = raw[41:]
			n = min(n, len(raw)/32*32)
			s.Steps, _ = Split(raw[:n])
			raw = raw[n:]
			if err := follower.Take(s); err != nil {
				t.Fatal(err)
			}
		}
		if follower.Check() != nil {
			return
		}
		k.keep(follower)
		last, whole, _ := k.Last()
		link := start()
		for n := uint64(1); n <= last.Number; n++ {
			link = link.next(k[n].Step)
			if k[n].Link != link || n <= 3 && link != mine.At(n).Link {
				t.Fatalf("entry %d does not follow", n)
			}
		}
		if !whole || last.Number < 3 {
			t.Fatalf("kept %v", last)
		}
	})
}
