//go:build ignore

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// shifts are the kernels of derived rows, the same for both instruction sets: they wait for memory,
// or for a division.
func (s *set) shifts(sign Mem) {
	s.shiftRows("subtract", "center *float64, n, d int, top float64", func() (func(o int, masked bool, y octet), func(int), func()) {
		center, most, least := GP64(), broadcast(argument("top")), YMM()
		VXORPD(broadcast(sign), most, least)
		return func(o int, masked bool, y octet) {
			c := s.octet()
			s.load(c, Mem{Base: center, Disp: 64 * o}, masked)
			s.each(func(p, _ int) {
				VSUBPD(c[p], y[p], y[p])
				VMAXPD(least, y[p], y[p])
				VMINPD(most, y[p], y[p])
			})
		}, func(octets int) { forward(64*octets, center) }, func() { Load(Param("center"), center) }
	})
	s.shiftRows("standard", "center, scale, limit *float64, n, d int", func() (func(o int, masked bool, y octet), func(int), func()) {
		center, scale, limit, minus, zero := GP64(), GP64(), GP64(), broadcast(sign), YMM()
		VXORPD(zero, zero, zero)
		return func(o int, masked bool, y octet) {
				c, of, most := s.octet(), s.octet(), s.octet()
				s.load(c, Mem{Base: center, Disp: 64 * o}, masked)
				s.load(of, Mem{Base: scale, Disp: 64 * o}, masked)
				s.load(most, Mem{Base: limit, Disp: 64 * o}, masked)
				s.each(func(p, _ int) {
					VSUBPD(c[p], y[p], y[p])
					VDIVPD(of[p], y[p], y[p])
					VXORPD(minus, most[p], c[p])
					VMAXPD(c[p], y[p], y[p])
					VMINPD(most[p], y[p], y[p])
					VCMPPD(Imm(0x11), of[p], zero, c[p]) // 0 < scale
					VANDPD(c[p], y[p], y[p])             // even of 0/0
				})
			}, func(octets int) { forward(64*octets, center, scale, limit) }, func() {
				Load(Param("center"), center)
				Load(Param("scale"), scale)
				Load(Param("limit"), limit)
			}
	})
}

// shiftRows is a kernel that goes over n rows of d and stores what body makes of each octet.
func (s *set) shiftRows(name, params string, start func() (body func(o int, masked bool, y octet), next func(octets int), row func())) {
	TEXT(name+s.suffix()+s.name, NOSPLIT, fmt.Sprintf("func(out *float64, rows *%s, %s)", s.element(), params))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s%s%s is %sPortable for n rows of length d ≥ 1.", name, s.suffix(), s.name, name))
	s.tail()
	out, at, n := Load(Param("out"), GP64()), Load(Param("rows"), GP64()), Load(Param("n"), GP64())
	body, next, row := start()
	Label("rows")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	row()
	columns("row", func(o int, masked bool) {
		y := s.octet()
		s.widen(y, s.at(at, o), masked)
		body(o, masked, y)
		s.store(y, Mem{Base: out, Disp: 64 * o}, masked)
	}, func(octets int) {
		forward(64*octets, out.(reg.GPVirtual))
		s.forward(octets, at.(reg.GPVirtual))
		next(octets)
	})
	s.next(at, at)
	tail := Load(Param("d"), GP64())
	ANDQ(Imm(7), tail)
	LEAQ(Mem{Base: out, Index: tail, Scale: 8}, out)
	DECQ(n)
	JMP(LabelRef("rows"))
	Label("end")
	VZEROUPPER()
	RET()
}

// blends is the kernel of blendApart: rows in groups of four, added in pairs, and what is left one
// by one.
func (s *set) blends() {
	TEXT("blend"+s.name, NOSPLIT, "func(v, rows, c *float64, n, d, stride, step int)")
	Pragma("noescape")
	Doc("blend" + s.name + " is blendPortable for n rows of length d ≥ 1.")
	s.tail()
	first, c, n, stride := Load(Param("rows"), GP64()), Load(Param("c"), GP64()), Load(Param("n"), GP64()), Load(Param("stride"), GP64())
	s.shift(stride)
	step, thrice := Load(Param("step"), GP64()), GP64()
	s.shift(step)
	LEAQ(Mem{Base: step, Index: step, Scale: 2}, thrice)
	for _, g := range []int{4, 1} {
		label := fmt.Sprint("rows", g)
		Label(label)
		CMPQ(n, Imm(uint64(g)))
		JLT(LabelRef(label + "_end"))
		r, at := rows(first, stride, g), GP64()
		Load(Param("v"), at)
		coefficient := make([]reg.VecVirtual, g)
		for i := range coefficient {
			coefficient[i] = broadcast(nth(c, step, thrice, i))
		}
		columns(label, func(o int, masked bool) {
			sum, y := s.octet(), make([]octet, g)
			s.load(sum, Mem{Base: at, Disp: 64 * o}, masked)
			for i := range y {
				y[i] = s.octet()
				s.load(y[i], s.at(r[i], o), masked)
			}
			s.each(func(p, _ int) {
				for i := range y {
					VMULPD(coefficient[i], y[i][p], y[i][p])
				}
				if g == 4 {
					VADDPD(y[1][p], y[0][p], y[0][p])
					VADDPD(y[3][p], y[2][p], y[2][p])
					VADDPD(y[2][p], y[0][p], y[0][p])
				}
				VADDPD(y[0][p], sum[p], sum[p])
			})
			s.store(sum, Mem{Base: at, Disp: 64 * o}, masked)
		}, func(octets int) { s.forward(octets, append(r, at)...) })
		LEAQ(Mem{Base: first, Index: stride, Scale: uint8(g)}, first)
		LEAQ(Mem{Base: c, Index: step, Scale: uint8(g)}, c)
		SUBQ(Imm(uint64(g)), n)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	VZEROUPPER()
	RET()
}

// nth is what lies i strides after base, for i up to 3. thrice is three strides.
func nth(base, stride, thrice reg.Register, i int) Mem {
	switch i {
	case 0:
		return Mem{Base: base}
	case 3:
		return Mem{Base: base, Index: thrice, Scale: 1}
	}
	return Mem{Base: base, Index: stride, Scale: uint8(i)}
}

// takesOff is the kernel of takeOff: four octets of the sum stay in registers while all rows pass,
// then one.
func (s *set) takesOff() {
	TEXT("takeOff"+s.name, NOSPLIT, "func(v, rows *float64, at *int, n, d int)")
	Pragma("noescape")
	Doc("takeOff" + s.name + " is takeOffPortable for n ≥ 1 rows of length d, a multiple of 8.")
	v, rows, at, n := Load(Param("v"), GP64()), Load(Param("rows"), GP64()), Load(Param("at"), GP64()), Load(Param("n"), GP64())
	left, stride := Load(Param("d"), GP64()), Load(Param("d"), GP64())
	SHLQ(Imm(3), stride)
	for _, octets := range []int{4, 1} {
		label := fmt.Sprint("octets", octets)
		Label(label)
		CMPQ(left, Imm(uint64(8*octets)))
		JLT(LabelRef(label + "_end"))
		sum, i, row := make([]octet, octets), GP64(), GP64()
		for o := range sum {
			sum[o] = s.octet()
			s.load(sum[o], Mem{Base: v, Disp: 64 * o}, false)
		}
		XORQ(i, i)
		Label(label + "_row")
		MOVQ(Mem{Base: at, Index: i, Scale: 8}, row)
		IMULQ(stride, row)
		ADDQ(rows, row)
		for o := range sum {
			s.each(func(p, half int) { VSUBPD(Mem{Base: row, Disp: 64*o + half}, sum[o][p], sum[o][p]) })
		}
		INCQ(i)
		CMPQ(i, n)
		JLT(LabelRef(label + "_row"))
		for o := range sum {
			s.store(sum[o], Mem{Base: v, Disp: 64 * o}, false)
		}
		forward(64*octets, v.(reg.GPVirtual), rows.(reg.GPVirtual))
		SUBQ(Imm(uint64(8*octets)), left)
		JMP(LabelRef(label))
		Label(label + "_end")
	}
	VZEROUPPER()
	RET()
}
