//go:build linux

package canary

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/result"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/test/history"
)

const (
	columns = 4
	people  = 300 // at each site; every third has a second row
	offset  = 50.0
	scale   = 10.0
)

// site is what the test knows of one.
type site struct {
	values []float64
	units  []int
}

// plantRows writes a site's file, every value of which is a canary, and looks for each.
func (f *fleet) plantRows(h *haystack, p *proc, rng *rand.Rand) *site {
	s := &site{}
	var text strings.Builder
	text.WriteString("patient,c0,c1,c2,c3,ward,weight\n")
	mine := func(k kind, what string) secret {
		return secret{kind: k, owners: []string{p.Name}, what: p.Name + "'s " + what, files: []string{p.Name + ".csv"}}
	}
	cached := func(s secret) secret {
		// mode 0600, in the clear: docs/threat-model.md
		s.files = append(s.files, p.Name+"/cache/*")
		return s
	}
	for i := range people {
		id := fmt.Sprintf("unit-%s-%08x%08x", p.Name, rng.Uint32(), rng.Uint32())
		ward := fmt.Sprintf("ward-%s-%08x%08x", p.Name, rng.Uint32(), rng.Uint32())
		h.text(mine(unit, "unit "+strconv.Itoa(i)), id)
		h.text(mine(unused, "ward "+strconv.Itoa(i)), ward)
		for range 1 + (i%3)/2 {
			strong := rng.NormFloat64()
			text.WriteString(id)
			for j := range columns {
				t := strconv.FormatFloat(offset+scale*(strong*float64(j+1)/4+rng.NormFloat64()/3), 'f', 12, 64)
				v, err := strconv.ParseFloat(t, 64)
				if err != nil {
					f.T.Fatal(err)
				}
				scaled := (v - offset) / scale
				h.number(cached(mine(row, fmt.Sprintf("row of unit %d, column %d", i, j))), t, v, scaled)
				s.values = append(s.values, scaled)
				text.WriteString("," + t)
			}
			s.units = append(s.units, i)
			weight := strconv.FormatFloat(rng.Float64()*1000, 'f', 12, 64)
			v, _ := strconv.ParseFloat(weight, 64)
			h.number(mine(unused, "weight of unit "+strconv.Itoa(i)), weight, v)
			text.WriteString("," + ward + "," + weight + "\n")
		}
	}
	if err := os.WriteFile(p.Dir+".csv", []byte(text.String()), 0o600); err != nil {
		f.T.Fatal(err)
	}
	return s
}

// names returns the names of processes.
func names(procs ...*proc) (out []string) {
	for _, p := range procs {
		out = append(out, p.Name)
	}
	return out
}

// plantKeys looks for every private key and token that the commands made.
func (f *fleet) plantKeys(h *haystack) {
	key := func(p *proc, file string, owners, files []string) {
		text, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			f.T.Fatal(err)
		}
		block, _ := pem.Decode(text)
		if block == nil || len(block.Bytes) < 32 {
			f.T.Fatalf("%s of %s is no PEM", file, p.Name)
		}
		h.bytes(secret{kind: private, owners: owners, what: p.Name + "'s " + file, files: files}, block.Bytes[len(block.Bytes)-32:])
	}
	join := func(p *proc) {
		text, err := os.ReadFile(p.Dir + ".join")
		if err != nil {
			f.T.Fatal(err)
		}
		found := regexp.MustCompile(`token = ['"]([A-Za-z0-9_-]{43})['"]`).FindSubmatch(text)
		if found == nil {
			f.T.Fatalf("%s.join has no token", p.Name)
		}
		raw, err := base64.RawURLEncoding.DecodeString(string(found[1]))
		if err != nil {
			f.T.Fatal(err)
		}
		s := secret{kind: token, owners: names(f.Nodes...), what: "the token of " + p.Name + ".join", files: []string{p.Name + ".join"}}
		h.bytes(s, raw)
		h.text(s, string(found[1]))
	}
	for i, p := range f.Nodes {
		key(p, "server.key", names(p), []string{p.Name + "/server.key"})
		if i > 0 {
			join(p)
		}
	}
	text, err := os.ReadFile(f.token())
	if err != nil {
		f.T.Fatal(err)
	}
	h.text(secret{kind: page, owners: names(f.Nodes...), what: "ana.token", files: []string{"ana.token"}}, strings.TrimSpace(string(text)))
	for _, file := range []string{"ca.key", "signing.key"} {
		key(f.Nodes[0], file, names(f.Nodes...), []string{"coordinator-*/" + file})
	}
	for _, p := range f.Sites {
		key(p, "identity.key", names(p), []string{p.Name + "/identity.key"})
		key(p, "tls.key", names(p), []string{p.Name + "/tls.key"})
		join(p)
	}
}

// opened is what one site's ledger held when it was copied.
type opened struct {
	slots      map[int]secagg.SlotSecret
	transcript [32]byte
}

// plantLedger opens a copy of a site's ledger, made while the agent stood still, and looks for all
// that is sealed in it.
func (f *fleet) plantLedger(h *haystack, self int, copied string, p *study.Plan) opened {
	who := f.Sites[self]
	fail := func(err error) {
		f.T.Helper()
		if err != nil {
			f.T.Fatalf("%s's ledger: %v", who.Name, err)
		}
	}
	keys, err := os.ReadFile(filepath.Join(copied, "keys"))
	fail(err)
	for at := 32; at+32 <= len(keys); at += 32 {
		if k := keys[at : at+32]; !bytes.Equal(k, make([]byte, 32)) {
			h.bytes(secret{kind: wrap, owners: names(who), what: fmt.Sprintf("%s's wrap key %d", who.Name, at/32), files: []string{who.Name + "/ledger/keys"}}, k)
		}
	}
	if len(h.find(keys)) == 0 {
		f.T.Errorf("%s's ledger had no wrap keys in the middle of the study", who.Name)
	}
	l, err := ledger.Open(copied)
	fail(err)
	defer l.Close()
	j, out := l.Journal(p.Digest), opened{slots: map[int]secagg.SlotSecret{}}
	raw, ok, err := j.Setup("announcements")
	if fail(err); !ok {
		f.T.Fatalf("%s's ledger has no announcements", who.Name)
	}
	setup, err := secagg.Verify(p.Setup(), list(raw))
	fail(err)
	out.transcript = setup.Transcript()
	for i := range p.Slots {
		raw, err := j.Slot(i)
		if errors.Is(err, ledger.ErrErased) {
			continue
		}
		fail(err)
		out.slots[i] = secagg.SlotSecret(raw)
		h.bytes(secret{kind: seed, owners: names(who), what: fmt.Sprintf("%s's secret of slot %d", who.Name, i)}, raw[:32])
		count := func(k int) int { return int(binary.BigEndian.Uint16(raw[32+2*k:])) }
		rest := raw[32+6:]
		take := func() (value []byte) {
			value, rest = rest[:32], rest[32:]
			return value
		}
		for d := range count(0) { // sent to the leader for a survivor
			h.bytes(secret{kind: held, owners: append(names(who, f.Sites[d]), names(f.Nodes...)...), what: fmt.Sprintf("%s's share of %s's b in slot %d", who.Name, f.Sites[d].Name, i)}, take())
		}
		for d := range count(1) { // its holder's and its dealer's, while the dealer survives
			h.bytes(secret{kind: held, owners: names(who, f.Sites[d]), what: fmt.Sprintf("%s's share of %s's e in slot %d", who.Name, f.Sites[d].Name, i)}, take())
		}
		for _, o := range setup.Graph().Owners(self)[:count(2)] { // its two ends', while both survive
			h.bytes(secret{kind: held, owners: names(who, f.Sites[o]), what: fmt.Sprintf("%s's key of its pair with %s in slot %d", who.Name, f.Sites[o].Name, i)}, take())
		}
		if len(rest) > 0 {
			f.T.Fatalf("slot %d of %s holds %d bytes more", i, who.Name, len(rest))
		}
	}
	if _, _, err := j.Setup(ledger.SetupSecrets); !errors.Is(err, ledger.ErrErased) {
		f.T.Errorf("%s's ledger has the seeds of a setup that is confirmed: %v", who.Name, err)
	}
	return out
}

// list reads what an agent stores byte strings as: a count, then each behind its length.
func list(b []byte) (out [][]byte) {
	for b = b[4:]; len(b) >= 4; {
		n := int(binary.BigEndian.Uint32(b))
		out, b = append(out, b[4:4+n]), b[4+n:]
	}
	return out
}

// plantSums looks for what no release holds: every site's exact sum and the total of each query,
// and what keys the noise. sums finds the vectors; owners says who may have one in memory.
func (f *fleet) plantSums(h *haystack, sums *history.Finder, owners map[string][]string, r *result.Result, p *study.Plan, rows []*site, ledgers []opened, leader *proc) (followed int) {
	central := p.Honest == 0
	leads := names(leader)
	if !central {
		leads = nil
	}
	follow := func(k kind, what string, who []string, v []int64) {
		what = string(k) + ": " + what
		if sums.Follow(what, v, p.Bits) {
			owners[what] = who
			followed++
		} else if run := fullest(v); run != nil { // counts: known by ten in a row, as words and as text
			h.list(secret{kind: k, owners: who, what: what}, run)
			followed++
		}
	}
	for _, release := range r.Releases {
		ask := release.Ask()
		where := fmt.Sprintf("query %d (%s) of %s", release.Query, release.Kind, r.Name)
		exact := make([]int64, p.Queries[release.Query].Values)
		lanesSum := make([]uint64, secagg.NoiseLaneCount(p.Bits))
		ctx := p.Context(ledgers[0].transcript, ask)
		known := true
		for i, s := range rows {
			m, err := clip.NewUnits(columns, append([]float64(nil), s.values...), s.units)
			if err != nil {
				f.T.Fatal(err)
			}
			v, err := answer.New(m).Answer(p, i, ask, 1)
			if err != nil {
				f.T.Fatal(err)
			}
			follow(sum, f.Sites[i].Name+"'s "+where, names(f.Sites[i]), v)
			for k := range v {
				exact[k] += v[k]
			}
			secret32, ok := ledgers[i].slots[release.Slot]
			if !ok {
				known = false
				continue
			}
			if central {
				lane := secagg.NoiseLanes(secret32, ctx, p.Bits)
				secagg.SumInto(lanesSum, lane, p.Bits)
				h.bytes(secret{kind: lanes, owners: names(f.Sites[i]), what: f.Sites[i].Name + "'s lanes of " + where}, secagg.Pack(lane, p.Bits))
				h.bytes(secret{kind: lanes, owners: names(f.Sites[i]), what: f.Sites[i].Name + "'s lanes of " + where}, words(lane))
			} else {
				key := secagg.NoiseShareKey(secret32, ctx)
				h.bytes(secret{kind: noiseKey, owners: names(f.Sites[i]), what: f.Sites[i].Name + "'s key of its share in " + where}, key[:])
			}
		}
		// The test knows the truth only if the release is the truth and a little noise.
		for k := range exact {
			if d := float64(release.Noised[k] - exact[k]); d > 12*release.Sigma.Float() || -d > 12*release.Sigma.Float() {
				f.T.Errorf("%s: the release is %.1f σ from what the test takes for the exact sum", where, d/release.Sigma.Float())
				break
			}
		}
		// wiped with the release, in the leader too
		follow(total, where, nil, exact)
		// a bin without rows releases its noise alone
		if central && release.Kind != study.KindHistogram {
			draws := make([]int64, len(exact))
			for k := range exact {
				draws[k] = release.Noised[k] - exact[k]
			}
			follow(drawn, where, nil, draws)
		}
		if central && known {
			u := secagg.Survivors(release.Survivors)
			key := noise.Key(lanesSum, p.Bits, ctx, u.Hash())
			h.bytes(secret{kind: noiseKey, owners: leads, what: "the key of the noise of " + where}, key[:])
			h.bytes(secret{kind: lanes, owners: leads, what: "the opened lanes of " + where}, words(lanesSum))
		}
	}
	return followed
}

// fullest returns the ten neighbors of a vector of counts that say most, or nil if they could be
// anybody's.
func fullest(v []int64) []int64 {
	const width, distinct = 10, 5
	var best []int64
	most := distinct - 1
	for i := 0; i+width <= len(v); i++ {
		seen := map[int64]bool{}
		for _, x := range v[i : i+width] {
			if x > 1 {
				seen[x] = true
			}
		}
		if len(seen) > most {
			best, most = v[i:i+width], len(seen)
		}
	}
	return best
}

func words(v []uint64) (out []byte) {
	for _, x := range v {
		out = binary.LittleEndian.AppendUint64(out, x)
	}
	return out
}

// stranger is a key that is planted to see that it is found.
var stranger = ed25519.NewKeyFromSeed(bytes.Repeat([]byte("canary: "), 4))
