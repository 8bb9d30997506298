package history

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/failpoint"
	"covey/internal/packed"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// total is the exact sum of a query's survivors.
func (st *story) total(q int) []int64 {
	out := make([]int64, dims)
	for _, i := range survivorsOf[q] {
		for k, v := range vectorOf(i, st.asks[q]) {
			out[k] += v
		}
	}
	return out
}

func bytesOf(order binary.AppendByteOrder, v []int64) []byte {
	var out []byte
	for _, x := range v {
		out = order.AppendUint64(out, uint64(x))
	}
	return out
}

func encodeJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// leakHistories are those of un-noised.
func leakHistories() []broken {
	entry := func(name string, what func(st *story) any) broken {
		return broken{rule: UnNoised, name: "log entry: " + name, tell: func(st *story) {
			st.raw(`{"spend":` + encodeJSON(map[string]any{"token": what(st)}) + `}`)
		}}
	}
	own := func(st *story) []int64 { return vectorOf(2, st.asks[1]) }
	masked := func(st *story) []byte {
		var m covey.SiteMessage
		st.must(proto.Unmarshal(st.moments[st.at("send/upload/0/0/s1")].e.Data, &m))
		return m.GetUpload().GetMasked()
	}
	return []broken{
		entry("the exact sum", func(st *story) any { return st.total(0) }),
		entry("a site's sum", func(st *story) any { return own(st) }),
		entry("two values of one, in the ring", func(st *story) any { return st.ring(own(st))[1:3] }),
		entry("text", func(st *story) any { return fmt.Sprint(own(st)) }),
		entry("little-endian in base64", func(st *story) any { return bytesOf(binary.LittleEndian, own(st)) }),
		entry("big-endian in hexadecimal", func(st *story) any { return hex.EncodeToString(bytesOf(binary.BigEndian, own(st))) }),
		entry("packed", func(st *story) any { return secagg.Pack(st.ring(own(st)), st.plan.Bits) }),
		entry("JSON in base64", func(st *story) any { return []byte(encodeJSON(own(st))) }),
		entry("a masked upload", func(st *story) any { return masked(st) }),
		entry("a piece of a masked upload behind other bytes", func(st *story) any { return append([]byte{1, 2, 3}, masked(st)[:24]...) }),
		{rule: UnNoised, name: "snapshot", tell: func(st *story) {
			data := `{"studies":[],"cache":` + encodeJSON(st.total(1)) + `}`
			st.add("snapshot", failpoint.Event{Point: failpoint.Snapshot, Phase: failpoint.Before, Owner: "/c1", Data: []byte(data)})
		}},
		{rule: UnNoised, name: "piece of a snapshot", tell: func(st *story) {
			data := encodeJSON(map[string]any{"studies": []round.Durable{{Announcements: [][]byte{masked(st)}}}})
			at := strings.Index(data, "announcements") + 10
			st.add("snapshot", failpoint.Event{Point: failpoint.Snapshot, Phase: failpoint.Before, Owner: "/c1", Data: []byte(data[at : len(data)-9])})
		}},
		{rule: UnNoised, name: "a message to a site", tell: func(st *story) {
			e := st.released[0]
			signed := st.released[0].Released.Signature
			st.receive(st.members[0], "x", 0, 0, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirmed{Confirmed: &covey.Confirmed{
				Study: st.id(), Signatures: [][]byte{signed, bytesOf(binary.LittleEndian, st.total(e.Query))}}}})
		}},
		{rule: UnNoised, name: "a message of a site", tell: func(st *story) {
			st.send(st.members[0], "x", 0, 0, &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{
				Study: st.id(), Code: covey.Code_CODE_DATA, Context: bytesOf(binary.BigEndian, own(st))}}})
		}},
		{rule: UnNoised, name: "an upload in the clear", vary: variation{bare: true, queries: 1}, tell: func(st *story) {
			st.drop("log/released")
			st.drop("receive/final")
		}},
		{rule: UnNoised, name: "a release without noise", vary: variation{queries: 1, entry: func(e *round.Entry) {
			if e.Kind == round.EntryReleased {
				r, err := study.ParseRelease(e.Released.Encoded)
				if err != nil {
					panic(err)
				}
				for k := range r.Noised {
					r.Noised[k] = 0
					for _, i := range r.Survivors {
						r.Noised[k] += vectorOf(i, study.Ask{Query: r.Query})[k]
					}
				}
				e.Released.Encoded, _ = r.Encode()
			}
		}}, tell: func(st *story) { st.drop("receive/final") }, also: []Rule{NextStep, OneRelease, RightSum}},
	}
}

// TestLine: log lines are searched as they come; what stands for nothing else is told.
func TestLine(t *testing.T) {
	st := newStory(t, variation{})
	c := New(st.truth)
	for _, m := range st.moments {
		c.Add(m.e)
	}
	total := st.total(1)
	for _, good := range []string{
		"time=2026-01-02T03:04:05.123456789Z level=INFO msg=released query=1",
		fmt.Sprintf("msg=one value=%d", total[0]), // one number alone may be chance
		fmt.Sprintf("msg=fractions a=0.%d b=0.%d", total[0], -total[1]),
		fmt.Sprintf("msg=others a=%d b=%d", total[0]+1, total[1]+1),
		fmt.Sprintf("id=x%dy %dz", total[0], -total[1]),
		"noised " + fmt.Sprint(st.released[0].Course.X),
	} {
		if v := c.Line("/c1", []byte(good)); len(v) > 0 {
			t.Errorf("%q: %v", good, v)
		}
	}
	for _, bad := range []string{
		fmt.Sprintf("msg=\"sum %v\"", total),
		fmt.Sprintf("sum=[%d,%d]", total[0], total[1]),
		fmt.Sprintf("%v", st.ring(total)),
		func() string { text, _ := packed.Ints(total).MarshalText(); return `{"noised":"` + string(text) + `"}` }(),
		"dump=" + base64.StdEncoding.EncodeToString(bytesOf(binary.LittleEndian, total)),
		"dump=" + hex.EncodeToString(bytesOf(binary.BigEndian, vectorOf(1, st.asks[0]))),
	} {
		v := c.Line("/c1", []byte(bad))
		if len(v) != 1 || v[0].Rule != UnNoised || v[0].Owner != "/c1" {
			t.Errorf("%q: %v", bad, v)
		}
		for _, x := range total {
			if len(v) > 0 && strings.Contains(v[0].Text, fmt.Sprint(x)) {
				t.Errorf("a violation repeats what leaked: %v", v)
			}
		}
	}
	if report, all := c.Close(); report.Lines != 12 || len(rulesOf(all)) != 1 {
		t.Errorf("%d lines, %q", report.Lines, rulesOf(all))
	}
}

// TestCountsAreNotFollowed: small numbers stand everywhere, so a vector of them cannot be
// told by its values.
func TestCountsAreNotFollowed(t *testing.T) {
	l := newLeaks()
	l.follow("counts", []int64{0, 3, bigValue - 1, 12}, 40)
	if found := l.find([]byte("[0,3,1048575,12]"), everything); found != "" {
		t.Errorf("found %s", found)
	}
	l.follow("one", []int64{1 << 40, 7}, 48)
	if found := l.find([]byte("[1099511627776,7]"), everything); found != "" {
		t.Errorf("found %s", found)
	}
	if found := l.find(wordsOf(1<<40), everything); found != "one" {
		t.Errorf("found %q", found)
	}
	// One number of 23 bits is the size of something in any process: its neighbor must stand
	// beside it.
	l = newLeaks()
	l.follow("variance", []int64{6723241, 374538}, 40)
	l.follow("alone", []int64{7564123, 12}, 40)
	for word, want := range map[string]string{
		"6723241 374538":                  "variance",
		string(wordsOf(6723241, 374538)):  "variance",
		string(wordsOf(6723241, 3745380)): "",
		string(wordsOf(7564123, 12)):      "",
	} {
		if found := l.find([]byte(word), everything); found != want {
			t.Errorf("%q: found %q, want %q", word, found, want)
		}
	}
}

func wordsOf(v ...int64) []byte { return append([]byte{0}, bytesOf(binary.LittleEndian, v)...) }

// FuzzFind: no bytes stop a search.
func FuzzFind(f *testing.F) {
	l := newLeaks()
	v := []int64{1 << 30, -(1 << 30) - 12345, 99999999, -77777777}
	l.follow("v", v, 40)
	f.Add([]byte("1073741824 -1073754169"))
	f.Add([]byte("99999999999999999999999999 AAAAAAAAAAAAAAAAAAAAAAAAA="))
	f.Add(bytesOf(binary.LittleEndian, v))
	f.Add([]byte(base64.StdEncoding.EncodeToString([]byte(encodeJSON(v)))))
	f.Fuzz(func(t *testing.T, data []byte) {
		l.find(data, everything)
		if with := append(slices.Clone(data), " 1073741824 -1073754169 "...); l.find(with, everything) == "" {
			t.Errorf("two values are not found behind %q", data)
		}
	})
}
