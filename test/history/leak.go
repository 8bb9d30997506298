package history

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"covey/internal/packed"
	"covey/internal/secagg"
)

// What a search looks for.
type class uint8

const (
	exact      class = 1 << iota // sums that no noise hides
	hidden                       // masked uploads
	everything = exact | hidden
)

const (
	// follow takes a vector's largest values, of at least this magnitude.
	bigValue = 1 << 20
	// and so many of them.
	bigValues = 8
	// Where only one is so large, the next largest stands beside it if it has this magnitude.
	nextValue = 1 << 16
	// A value that is found alone has this one: smaller ones are sizes, offsets and counters of
	// anything.
	loneValue = 1 << 40
	// A packed vector is known by so many of its first bytes, or all if it has fewer,
	// but not with fewer than the second number.
	prefixBytes, leastPrefix = 24, 12
	// A value counts in decimal form from so many digits; the shortest of nextValue.
	minDigits = 5
)

// leaks finds vectors in bytes. An exact vector is found by two of its largest values in
// one text or message, in decimal (signed, or as an element of Z_2^b) or in 8 bytes of
// either order, also inside base64 and hexadecimal; or by the first 24 bytes of its
// packed form; a masked upload by its first 24 bytes.
//
// By chance: a released value equals the true one where its draw is 0, which at σ >= 2^16 has
// probability below 2^-17, two of eight values in one release below 28·2^-34 < 2^-29. Any other
// pair of numbers of seven digits or more hits two of a vector's eight values with probability
// below (8/2^20)² (where only one is so large, below 2^-36), and random bytes a prefix with 2^-96
// or less.
type leaks struct {
	vectors  []vector
	decimals map[decimal][]lane
	words    map[uint64][]lane // 8 bytes, little-endian
	prefixes map[uint64][]prefix
	filter   [1 << 14]uint64 // of the keys of words and prefixes
}

type vector struct {
	what string
	need int // lanes in one text
}

type decimal struct {
	magnitude uint64
	negative  bool
}

type lane struct {
	vector int
	bit    uint8
}

type prefix struct {
	what  string
	class class
	bytes string
}

func newLeaks() *leaks {
	return &leaks{decimals: map[decimal][]lane{}, words: map[uint64][]lane{}, prefixes: map[uint64][]prefix{}}
}

func (l *leaks) slot(word uint64) (int, uint64) {
	h := word * 0x9e3779b97f4a7c15 >> 44
	return int(h >> 6), 1 << (h & 63)
}

func (l *leaks) mark(word uint64) {
	i, bit := l.slot(word)
	l.filter[i] |= bit
}

// follow looks for an exact vector from now on.
func (l *leaks) follow(what string, v []int64, ring uint) {
	magnitude := func(x int64) uint64 {
		if x < 0 {
			return -uint64(x)
		}
		return uint64(x)
	}
	var order []int
	for i, x := range v {
		if magnitude(x) >= nextValue {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(magnitude(v[b]), magnitude(v[a])) })
	big := 0
	for big < min(len(order), bigValues) && magnitude(v[order[big]]) >= bigValue {
		big++
	}
	if big == 1 {
		big = min(len(order), 2)
	}
	order = order[:big]
	if len(order) == 0 || len(v) == 1 || len(order) == 1 && magnitude(v[order[0]]) < loneValue {
		return // counts, or one number alone: nothing to tell them by
	}
	id := len(l.vectors)
	l.vectors = append(l.vectors, vector{what, min(2, len(order))})
	mask := ^uint64(0) >> (64 - ring)
	for bit, i := range order {
		at, word := lane{id, 1 << bit}, uint64(v[i])
		number := func(d decimal) { l.decimals[d] = append(l.decimals[d], at) }
		if len(order) > 1 { // one number alone proves nothing
			number(decimal{magnitude(v[i]), v[i] < 0})
			if v[i] < 0 {
				number(decimal{word & mask, false})
			}
		}
		for _, w := range []uint64{word, bits.ReverseBytes64(word), word & mask, bits.ReverseBytes64(word & mask)} {
			if !slices.Contains(l.words[w], at) {
				l.words[w] = append(l.words[w], at)
				l.mark(w)
			}
		}
	}
	packed := make([]uint64, len(v))
	for i, x := range v {
		packed[i] = uint64(x)
	}
	if slices.Contains(order, 0) && slices.Contains(order, 1) { // else it may begin with zeros
		l.begin(prefix{what: what, class: exact}, secagg.Pack(packed, ring))
	}
}

// masked looks for an upload from now on.
func (l *leaks) masked(what string, upload []byte) {
	l.begin(prefix{what: what, class: hidden}, upload)
}

func (l *leaks) begin(p prefix, data []byte) {
	if len(data) < leastPrefix {
		return
	}
	p.bytes = string(data[:min(len(data), prefixBytes)])
	word := binary.LittleEndian.Uint64(data)
	if slices.Contains(l.prefixes[word], p) {
		return
	}
	l.prefixes[word] = append(l.prefixes[word], p)
	l.mark(word)
}

// search is one text's.
type search struct {
	l     *leaks
	class class
	lanes map[int]uint8 // by vector, seen so far
	found string
}

// find says what is in data, or "".
func (l *leaks) find(data []byte, c class) string {
	s := &search{l: l, class: c}
	s.walk(data, 0)
	return s.found
}

func (c *Checker) search(where string, data []byte, what class) {
	if found := c.leaks.find(data, what); found != "" {
		c.fail(UnNoised, nil, -1, -1, "%s holds %s", where, found)
	}
}

// maxNesting is how deep base64 within base64 is followed: an entry holds a signed
// release, which holds numbers.
const maxNesting = 4

func (s *search) walk(data []byte, depth int) {
	if !text(data) {
		s.binary(data)
	}
	for i := 0; i < len(data); {
		if !alphabet[data[i]] {
			i++
			continue
		}
		j := i
		digits := true
		for j < len(data) && alphabet[data[j]] {
			digits = digits && data[j] >= '0' && data[j] <= '9'
			j++
		}
		s.run(data, i, j, digits, depth)
		i = j
	}
}

// alphabet is base64's, of which decimal and hexadecimal digits are a part.
var alphabet = func() (a [256]bool) {
	for _, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		a[b] = true
	}
	return a
}()

// run takes a longest run of the alphabet.
func (s *search) run(data []byte, i, j int, digits bool, depth int) {
	word := data[i:j]
	if digits && len(word) >= minDigits && len(word) <= 20 {
		negative := i > 0 && data[i-1] == '-'
		fraction := i > 0 && data[i-1] == '.' || j+1 < len(data) && data[j] == '.' && data[j+1] >= '0' && data[j+1] <= '9'
		if !fraction {
			s.decimal(word, negative)
		}
	}
	s.packed(data, i)
	if len(word) < 16 || depth >= maxNesting {
		return
	}
	if len(word)%4 == 1 {
		word = word[:len(word)-1] // a piece that was cut off
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(word)))
	if n, err := base64.RawStdEncoding.Decode(out, word); err == nil {
		s.walk(out[:n], depth+1)
	}
	raw := make([]byte, len(word)/2)
	if _, err := hex.Decode(raw, word[:2*len(raw)]); err == nil {
		s.walk(raw, depth+1)
	}
}

// packed takes a JSON string of packed numbers that begins at i, if one does.
func (s *search) packed(data []byte, i int) {
	if i == 0 || data[i-1] != '"' || data[i] != 'i' {
		return
	}
	text, _, _ := bytes.Cut(data[i:], []byte(`"`))
	var numbers packed.Ints
	if numbers.UnmarshalText(text) != nil {
		return
	}
	for _, x := range numbers {
		magnitude := uint64(x)
		if x < 0 {
			magnitude = -magnitude
		}
		s.hit(s.l.decimals[decimal{magnitude, x < 0}])
	}
}

func (s *search) decimal(word []byte, negative bool) {
	var v uint64
	for _, b := range word {
		hi, lo := bits.Mul64(v, 10)
		var carry uint64
		if v, carry = bits.Add64(lo, uint64(b-'0'), 0); hi != 0 || carry != 0 {
			return
		}
	}
	s.hit(s.l.decimals[decimal{v, negative}])
	if negative { // a range or a date, perhaps
		s.hit(s.l.decimals[decimal{v, false}])
	}
}

func (s *search) hit(lanes []lane) {
	if s.class&exact == 0 {
		return
	}
	for _, at := range lanes {
		if s.lanes == nil {
			s.lanes = map[int]uint8{}
		}
		s.lanes[at.vector] |= at.bit
		if v := s.l.vectors[at.vector]; bits.OnesCount8(s.lanes[at.vector]) >= v.need {
			s.found = v.what
		}
	}
}

// binary looks at every window of 8 bytes.
func (s *search) binary(data []byte) {
	for i := 0; i+8 <= len(data); i++ {
		word := binary.LittleEndian.Uint64(data[i:])
		if k, bit := s.l.slot(word); s.l.filter[k]&bit == 0 {
			continue
		}
		s.hit(s.l.words[word])
		for _, p := range s.l.prefixes[word] {
			if p.class&s.class != 0 && strings.HasPrefix(string(data[i:min(len(data), i+prefixBytes)]), p.bytes) {
				s.found = p.what
			}
		}
	}
}

// text reports whether data reads as text, in which no binary form can stand.
func text(data []byte) bool {
	return utf8.Valid(data) && !slices.ContainsFunc(data, func(b byte) bool { return b < ' ' && b != '\n' && b != '\t' && b != '\r' })
}
