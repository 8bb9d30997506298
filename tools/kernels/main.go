//go:build ignore

// This program writes kernel_amd64.s and kernel_asm_amd64.go (go generate). Each kernel is written
// once, for octets of eight float64: one zmm register with AVX-512F, two ymm registers with AVX2
// and FMA. What is left of a row below eight is loaded under a mask, so that nothing outside a
// slice is read or written; lanes outside the mask hold +0.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64")
	// from word 8-t on, t ones: the masks of an octet's two halves
	masks := GLOBL("masks", RODATA|NOPTR)
	for i := range 16 {
		v := uint64(0)
		if i < 8 {
			v = math.MaxUint64
		}
		DATA(8*i, U64(v))
	}
	round := GLOBL("rounding", RODATA|NOPTR) // 1.5·2^52
	DATA(0, U64(1075<<52|1<<51))
	sign := GLOBL("sign", RODATA|NOPTR)
	DATA(0, U64(1<<63))

	for _, s := range []set{
		{name: "AVX2", parts: 2, masks: masks, round: round, vector: YMM, groups: []int{4, 2, 1}, adds: []int{8, 4, 2, 1}, height: 2, widths: []int{2}},
		// one direction gains nothing
		{name: "AVX512", parts: 1, masks: masks, round: round, vector: ZMM, height: 4, widths: []int{4, 2}},
	} {
		for _, s.bytes = range []int{8, 4} {
			if !s.wide() {
				s.dots()
				s.accumulate()
				s.shifts(sign)
			}
			for _, width := range s.widths {
				s.dotsTile(s.height, width)
				s.accumulateTile(4, width)
			}
		}
		s.read()
		s.bytes = 8
		s.moments()
		if !s.wide() {
			s.blends()
			s.takesOff()
		}
	}
	limits()
	Generate()
}

// set is an instruction set: how many registers make an octet, and how many rows are taken at a
// time, from most to one.
type set struct {
	name         string
	parts        int
	masks, round Mem
	vector       func() reg.VecVirtual
	groups, adds []int           // of one direction: rows at a time, from most to one
	height       int             // of a tile of dots, in rows
	widths       []int           // of tiles, in directions
	bytes        int             // of a stored value: 8, or 4 that are widened as they are loaded
	mask         [2]reg.Register // set by tail
}

// suffix and element name a kernel and the type of the rows it takes.
func (s *set) suffix() string  { return map[int]string{8: "", 4: "32"}[s.bytes] }
func (s *set) element() string { return fmt.Sprint("float", 8*s.bytes) }

// at is octet number o of a row.
func (s *set) at(r reg.Register, o int) Mem { return Mem{Base: r, Disp: 8 * s.bytes * o} }

// octet is eight float64 at the same place of a row, in one or two registers.
type octet [2]reg.VecVirtual

func (s *set) wide() bool { return s.parts == 1 }

// each calls f for every register of an octet, with its place in memory.
func (s *set) each(f func(p, disp int)) {
	for p := range s.parts {
		f(p, 64/s.parts*p)
	}
}

func (s *set) octet() (o octet) {
	s.each(func(p, _ int) { o[p] = s.vector() })
	return o
}

func (s *set) zero() octet {
	o := s.octet()
	s.each(func(p, _ int) {
		if s.wide() {
			VPXORQ(o[p], o[p], o[p])
		} else {
			VXORPD(o[p], o[p], o[p])
		}
	})
	return o
}

// load reads an octet at m, or only the lanes of the mask.
func (s *set) load(o octet, m Mem, masked bool) {
	s.each(func(p, _ int) { s.loadPart(p, o[p], m, masked) })
}

// loadPart is load for one register of an octet at m.
func (s *set) loadPart(p int, v reg.VecVirtual, m Mem, masked bool) {
	m = m.Offset(64 / s.parts * p)
	switch {
	case !masked:
		VMOVUPD(m, v)
	case s.wide():
		VMOVUPD_Z(m, s.mask[0], v)
	default:
		VMASKMOVPD(m, s.mask[p], v)
	}
}

// widen reads an octet of a row at m, as float64, or only the lanes of the mask.
func (s *set) widen(o octet, m Mem, masked bool) {
	s.each(func(p, _ int) { s.widenPart(p, o[p], m, masked) })
}

// widenPart is widen for one register of an octet at m.
func (s *set) widenPart(p int, v reg.VecVirtual, m Mem, masked bool) {
	if s.bytes == 8 {
		s.loadPart(p, v, m, masked)
		return
	}
	m = m.Offset(32 / s.parts * p)
	switch {
	case !masked:
		VCVTPS2PD(m, v)
	case s.wide():
		VCVTPS2PD_Z(m, s.mask[0], v)
	default: // the halves of the mask's words
		x, mask := v.AsX(), s.mask[p].(reg.Vec)
		VEXTRACTF128(Imm(1), mask.AsY(), x)
		VSHUFPS(Imm(0x88), x, mask.AsX(), x)
		VMASKMOVPS(m, x, x)
		VCVTPS2PD(x, v)
	}
}

func (s *set) store(o octet, m Mem, masked bool) {
	s.each(func(p, _ int) { s.storePart(p, o[p], m, masked) })
}

// storePart is store for one register of an octet at m.
func (s *set) storePart(p int, v reg.VecVirtual, m Mem, masked bool) {
	m = m.Offset(64 / s.parts * p)
	switch {
	case !masked && s.wide():
		VMOVDQU64(v, m)
	case !masked:
		VMOVDQU(v, m)
	case s.wide():
		VMOVDQU64(v, s.mask[0], m)
	default:
		VPMASKMOVQ(v, s.mask[p], m)
	}
}

// tail makes the mask of d mod 8 lanes.
func (s *set) tail() {
	t := Load(Param("d"), GP64())
	ANDQ(Imm(7), t)
	if s.wide() {
		bits, k := GP64(), K()
		MOVQ(t, reg.RCX)
		MOVQ(I32(-1), bits)
		SHLQ(reg.CL, bits)
		NOTQ(bits)
		KMOVW(bits.As32(), k)
		s.mask[0] = k
		return
	}
	at := GP64()
	LEAQ(s.masks.Offset(64), at)
	NEGQ(t)
	for p := range 2 {
		y := YMM()
		VMOVDQU(Mem{Base: at, Index: t, Scale: 8, Disp: 32 * p}, y)
		s.mask[p] = y
	}
}

// shift makes bytes of a row's length.
func (s *set) shift(stride reg.Register) { SHLQ(Imm(map[int]uint64{8: 3, 4: 2}[s.bytes]), stride) }

// rows are pointers to so many rows, one after another, from the first.
func rows(first, stride reg.Register, n int) []reg.GPVirtual {
	r := make([]reg.GPVirtual, n)
	for i := range r {
		r[i] = GP64()
		if i == 0 {
			MOVQ(first, r[0])
		} else {
			LEAQ(Mem{Base: r[i-1], Index: stride, Scale: 1}, r[i])
		}
	}
	return r
}

// columns runs body over d columns: two octets at a time, one, and the tail under the mask. Body is
// given the octet's number from where the pointers are; forward moves them by so many octets.
func columns(label string, body func(o int, masked bool), forward func(octets int)) {
	n, d := Load(Param("d"), GP64()), argument("d")
	SHRQ(Imm(4), n)
	JZ(LabelRef(label + "_one"))
	Label(label + "_two")
	body(0, false)
	body(1, false)
	forward(2)
	DECQ(n)
	JNZ(LabelRef(label + "_two"))
	Label(label + "_one")
	TESTQ(U32(8), d)
	JZ(LabelRef(label + "_tail"))
	body(0, false)
	forward(1)
	Label(label + "_tail")
	TESTQ(U32(7), d)
	JZ(LabelRef(label + "_done"))
	body(0, true)
	Label(label + "_done")
}

// forward moves pointers by so many bytes.
func forward(bytes int, at ...reg.GPVirtual) {
	for i := range at {
		ADDQ(U32(uint32(bytes)), at[i])
	}
}

// forward moves pointers to rows by so many octets.
func (s *set) forward(octets int, r ...reg.GPVirtual) { forward(8*s.bytes*octets, r...) }

// argument is a parameter where the caller put it: there are not enough registers for all.
func argument(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// next sets first to the row after r, which columns left at r's tail.
func (s *set) next(first, r reg.Register) {
	tail := Load(Param("d"), GP64())
	ANDQ(Imm(7), tail)
	LEAQ(Mem{Base: r, Index: tail, Scale: uint8(s.bytes)}, first)
}

// dots is s[i] = rows[i]ᵀx for n rows of d. Lane l of a row's octet adds the products j = l mod 8
// in order of j; reduce adds the lanes.
func (s *set) dots() {
	TEXT("dots"+s.suffix()+s.name, NOSPLIT, fmt.Sprintf("func(s *float64, rows *%s, x *float64, n, d, ahead int)", s.element()))
	Pragma("noescape")
	Doc(fmt.Sprintf("dots%s%s is dotsPortable for n rows of length d ≥ 1.", s.suffix(), s.name))
	s.tail()
	out, first, n, stride := Load(Param("s"), GP64()), Load(Param("rows"), GP64()), Load(Param("n"), GP64()), Load(Param("d"), GP64())
	s.shift(stride)
	for _, g := range s.groups {
		label := fmt.Sprint("rows", g)
		Label(label)
		CMPQ(n, Imm(uint64(g)))
		JLT(LabelRef(label + "_end"))
		r, at, ahead := rows(first, stride, g), GP64(), Load(Param("ahead"), GP64())
		Load(Param("x"), at)
		acc := make([]octet, g)
		for i := range acc {
			acc[i] = s.zero()
		}
		columns(label, func(o int, masked bool) {
			xs := s.octet()
			s.load(xs, Mem{Base: at, Disp: 64 * o}, masked)
			for i := range r {
				m, product := s.at(r[i], o), s.octet()
				direct := !masked && s.bytes == 8
				if !direct {
					s.widen(product, m, masked)
				}
				if i%2 == 0 && !masked && (s.bytes == 8 || o == 0) { // once a line
					PREFETCHT1(m.Idx(ahead, 1))
				}
				s.each(func(p, half int) {
					if direct {
						VMULPD(m.Offset(half), xs[p], product[p])
					} else {
						VMULPD(xs[p], product[p], product[p])
					}
					VADDPD(product[p], acc[i][p], acc[i][p])
				})
			}
		}, func(octets int) {
			forward(64*octets, at)
			s.forward(octets, r...)
		})
		s.reduce(acc, out)
		s.next(first, r[g-1])
		ADDQ(Imm(uint64(8*g)), out)
		SUBQ(Imm(uint64(g)), n)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	VZEROUPPER()
	RET()
}

// reduce adds the lanes of each row, in one order whatever the number of rows: t_l = a_l + a_(l+4),
// u_l = t_l + t_(l+2), u_0 + u_1.
func (s *set) reduce(a []octet, out reg.Register) {
	if len(a) == 4 {
		VMOVUPD(s.reduce4(a), Mem{Base: out})
		return
	}
	for i := range a {
		t, u, v := YMM(), XMM(), XMM()
		VADDPD(a[i][0], a[i][1], t)
		VEXTRACTF128(Imm(1), t, u)
		VADDPD(t.AsX(), u, u)
		VUNPCKHPD(u, u, v)
		VADDSD(v, u, u)
		VMOVSD(u, Mem{Base: out, Disp: 8 * i})
	}
}

// reduce4 is reduce for four rows.
func (s *set) reduce4(a []octet) reg.VecVirtual {
	if s.wide() {
		u := s.quarter(a[0], a[2], a[1], a[3])
		upper, lo, hi := YMM(), YMM(), YMM() // of any number: VHADDPD takes the first sixteen only
		VEXTRACTF64X4(Imm(1), u, upper)
		VUNPCKLPD(upper, u.AsY(), lo)
		VUNPCKHPD(upper, u.AsY(), hi)
		VADDPD(hi, lo, lo)
		return lo
	}
	for i := range a {
		VADDPD(a[i][1], a[i][0], a[i][0])
	}
	pair := func(v, w reg.VecVirtual) reg.VecVirtual {
		lo, hi := YMM(), YMM()
		VPERM2F128(Imm(0x20), w, v, lo)
		VPERM2F128(Imm(0x31), w, v, hi)
		VADDPD(hi, lo, lo)
		return lo
	}
	even, odd := pair(a[0][0], a[2][0]), pair(a[1][0], a[3][0])
	VHADDPD(odd, even, even)
	return even
}

// quarter is u_0 and u_1 of four rows, pair by pair in the order b0, b2, b1, b3 of its operands'
// pairs (a, c), (b, d): a, b, c, d.
func (s *set) quarter(a, b, c, d octet) reg.VecVirtual {
	half := func(v, w octet) reg.VecVirtual { // t of both rows
		lo, hi := ZMM(), ZMM()
		VSHUFF64X2(Imm(0x44), w[0], v[0], lo)
		VSHUFF64X2(Imm(0xEE), w[0], v[0], hi)
		VADDPD(hi, lo, lo)
		return lo
	}
	ab, cd := half(a, b), half(c, d)
	lo, hi := ZMM(), ZMM()
	VSHUFF64X2(Imm(0x88), cd, ab, lo)
	VSHUFF64X2(Imm(0xDD), cd, ab, hi)
	VADDPD(hi, lo, lo)
	return lo
}

// accumulate adds the bits of FMA(c[i], rows[i][j], 1.5·2^52) to acc[j]. While it works on rows
// that are in cache, it asks for the lines ahead of them by so many bytes, in the second-level
// cache, so as not to push out of the first what is in use: prefetching reads nothing that a
// program can see, and never faults.
func (s *set) accumulate() {
	TEXT("accumulate"+s.suffix()+s.name, NOSPLIT, fmt.Sprintf("func(acc *uint64, rows *%s, c *float64, n, d, ahead int)", s.element()))
	Pragma("noescape")
	Doc(fmt.Sprintf("accumulate%s%s is accumulatePortable for n rows of length d ≥ 1. It prefetches what lies ahead bytes after each row.", s.suffix(), s.name))
	s.tail()
	first, c, n, stride := Load(Param("rows"), GP64()), Load(Param("c"), GP64()), Load(Param("n"), GP64()), Load(Param("d"), GP64())
	s.shift(stride)
	constant := s.vector()
	VBROADCASTSD(s.round, constant)
	for _, g := range s.adds {
		label := fmt.Sprint("rows", g)
		Label(label)
		CMPQ(n, Imm(uint64(g)))
		JLT(LabelRef(label + "_end"))
		r, at, ahead := rows(first, stride, g), GP64(), Load(Param("ahead"), GP64())
		Load(Param("acc"), at)
		coefficient := make([]reg.VecVirtual, g)
		for i := range coefficient {
			coefficient[i] = s.vector()
			VBROADCASTSD(Mem{Base: c, Disp: 8 * i}, coefficient[i])
		}
		columns(label, func(o int, masked bool) {
			sum := s.octet()
			s.load(sum, Mem{Base: at, Disp: 64 * o}, masked)
			for i := range r {
				y := s.octet()
				s.widen(y, s.at(r[i], o), masked)
				if (i%2 == 1 || g == 1) && !masked && (s.bytes == 8 || o == 0) { // once a line
					PREFETCHT1(s.at(r[i], o).Idx(ahead, 1))
				}
				s.each(func(p, _ int) {
					VFMADD213PD(constant, coefficient[i], y[p])
					VPADDQ(y[p], sum[p], sum[p])
				})
			}
			s.store(sum, Mem{Base: at, Disp: 64 * o}, masked)
		}, func(octets int) {
			forward(64*octets, at)
			s.forward(octets, r...)
		})
		s.next(first, r[g-1])
		ADDQ(Imm(uint64(8*g)), c)
		SUBQ(Imm(uint64(g)), n)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	VZEROUPPER()
	RET()
}

// read adds all words: as little work as reading can be, the limit to which benchmarks compare.
// Eight pages are read side by side, with the next eight ahead: that is faster than one after
// another.
func (s *set) read() {
	TEXT("read"+s.name, NOSPLIT, "func(values *float64, n int) uint64")
	Pragma("noescape")
	Doc(fmt.Sprintf("read%s is the sum of n words, a multiple of 4096, as fast as they can be read: the limit to which benchmarks compare.", s.name))
	at, n := Load(Param("values"), GP64()), Load(Param("n"), GP64())
	sums := make([]octet, 4)
	for i := range sums {
		sums[i] = s.zero()
	}
	SHRQ(Imm(12), n)
	JZ(LabelRef("done"))
	line := GP64()
	Label("pages")
	MOVQ(U32(64), line)
	Label("loop")
	for i := range 8 {
		PREFETCHT1(Mem{Base: at, Disp: 4096 * (8 + i)})
		s.each(func(p, disp int) { VPADDQ(Mem{Base: at, Disp: 4096*i + disp}, sums[i%4][p], sums[i%4][p]) })
	}
	ADDQ(Imm(64), at)
	DECQ(line)
	JNZ(LabelRef("loop"))
	ADDQ(U32(7*4096), at)
	DECQ(n)
	JNZ(LabelRef("pages"))
	Label("done")
	for _, o := range sums[1:] {
		s.each(func(p, _ int) { VPADDQ(o[p], sums[0][p], sums[0][p]) })
	}
	y, x, w := YMM(), XMM(), GP64()
	if s.wide() {
		VEXTRACTI64X4(Imm(1), sums[0][0], y)
		VPADDQ(sums[0][0].AsY(), y, y)
	} else {
		VPADDQ(sums[0][0], sums[0][1], y)
	}
	VEXTRACTI128(Imm(1), y, x)
	VPADDQ(y.AsX(), x, x)
	VPSHUFD(Imm(0x4e), x, y.AsX())
	VPADDQ(y.AsX(), x, x)
	MOVQ(x, w)
	Store(w, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
