//go:build ignore

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// signature is that of the kernels for a tile: so many directions at a time, of which the first is
// given. Those of out (s or c) are h values apart, others d.
func (s *set) signature(name string, height, width int, params, doc string) {
	name = fmt.Sprintf("%s%sBy%d%s", name, s.suffix(), width, s.name)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(%s, n, d, h, ahead int)", fmt.Sprintf(params, s.element())))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s %s, for n rows, a multiple of %d, of length d ≥ 1.", name, fmt.Sprintf(doc, width), height))
}

// pointers are n of them, stride apart.
func pointers(first Mem, stride reg.Register, n int) []reg.GPVirtual {
	p := GP64()
	MOVQ(first, p)
	return rows(p, stride, n)
}

// words is a parameter times 8.
func words(name string) reg.Register {
	v := Load(Param(name), GP64())
	SHLQ(Imm(3), v)
	return v
}

// dotsTile is dots for several directions: values of rows are loaded, and widened, once for all of
// them. Lanes are added as dots adds them.
func (s *set) dotsTile(height, width int) {
	s.signature("dots", height, width, "s *float64, rows *%s, x *float64", "is dotsPortable for %d directions")
	s.tail()
	Label("rows")
	CMPQ(argument("n"), Imm(0))
	JLE(LabelRef("end"))
	stride := Load(Param("d"), GP64())
	s.shift(stride)
	r := pointers(argument("rows"), stride, height)
	x := pointers(argument("x"), words("d"), width)
	ahead := Load(Param("ahead"), GP64())
	acc := make([][]octet, width)
	for l := range acc {
		acc[l] = make([]octet, height)
		for i := range r {
			acc[l][i] = s.zero()
		}
	}
	columns("rows", func(o int, masked bool) {
		// one register of the octet at a time: there are not enough for more
		s.each(func(p, disp int) {
			v := make([]reg.VecVirtual, width)
			for l := range x {
				v[l] = s.vector()
				s.loadPart(p, v[l], Mem{Base: x[l], Disp: 64 * o}, masked)
			}
			for i := range r {
				y := s.vector()
				s.widenPart(p, y, s.at(r[i], o), masked)
				if p == 0 && i%2 == 0 && !masked && (s.bytes == 8 || o == 0) {
					PREFETCHT1(s.at(r[i], o).Idx(ahead, 1))
				}
				for l := range x {
					product := s.vector()
					VMULPD(v[l], y, product)
					VADDPD(product, acc[l][i][p], acc[l][i][p])
				}
			}
		})
	}, func(octets int) {
		s.forward(octets, r...)
		forward(64*octets, x...)
	})
	out, h := Load(Param("s"), GP64()), words("h")
	if s.wide() {
		for l := range acc {
			VMOVUPD(s.reduce4(acc[l]), Mem{Base: out})
			if l+1 < width {
				ADDQ(h, out)
			}
		}
	} else { // two rows, two directions
		all := s.reduce4([]octet{acc[0][0], acc[0][1], acc[1][0], acc[1][1]})
		VMOVUPD(all.AsX(), Mem{Base: out})
		VEXTRACTF128(Imm(1), all.AsY(), Mem{Base: out, Index: h, Scale: 1})
	}
	s.advance(r[height-1], "s", height)
	Label("end")
	VZEROUPPER()
	RET()
}

// advance goes on to the next rows, of which the last one's pointer is at its tail, and their
// values of s or c.
func (s *set) advance(last reg.Register, values string, height int) {
	next := GP64()
	s.next(next, last)
	MOVQ(next, argument("rows"))
	ADDQ(Imm(uint64(8*height)), argument(values))
	SUBQ(Imm(uint64(height)), argument("n"))
	JMP(LabelRef("rows"))
}

// accumulateTile is accumulate for several directions, with sums of their own. All coefficients of
// a tile are in registers.
func (s *set) accumulateTile(height, width int) {
	s.signature("accumulate", height, width, "acc *uint64, rows *%s, c *float64", "is accumulatePortable for %d directions")
	s.tail()
	constant := s.vector()
	VBROADCASTSD(s.round, constant)
	Label("rows")
	CMPQ(argument("n"), Imm(0))
	JLE(LabelRef("end"))
	stride := Load(Param("d"), GP64())
	s.shift(stride)
	r := pointers(argument("rows"), stride, height)
	at := pointers(argument("acc"), words("d"), width)
	ahead := Load(Param("ahead"), GP64())
	c, h := Load(Param("c"), GP64()), words("h")
	coefficient := make([][]reg.VecVirtual, width)
	for l := range coefficient {
		coefficient[l] = make([]reg.VecVirtual, height)
		for i := range r {
			coefficient[l][i] = s.vector()
			VBROADCASTSD(Mem{Base: c, Disp: 8 * i}, coefficient[l][i])
		}
		if l+1 < width {
			ADDQ(h, c)
		}
	}
	columns("rows", func(o int, masked bool) {
		s.each(func(p, disp int) {
			sum := make([]reg.VecVirtual, width)
			for l := range at {
				sum[l] = s.vector()
				s.loadPart(p, sum[l], Mem{Base: at[l], Disp: 64 * o}, masked)
			}
			for i := range r {
				y := s.vector()
				s.widenPart(p, y, s.at(r[i], o), masked)
				if p == 0 && i%2 == 1 && !masked && (s.bytes == 8 || o == 0) {
					PREFETCHT1(s.at(r[i], o).Idx(ahead, 1))
				}
				for l := range at {
					t := s.vector()
					VMOVAPD(constant, t)
					VFMADD231PD(coefficient[l][i], y, t)
					VPADDQ(t, sum[l], sum[l])
				}
			}
			for l := range at {
				s.storePart(p, sum[l], Mem{Base: at[l], Disp: 64 * o}, masked)
			}
		})
	}, func(octets int) {
		s.forward(octets, r...)
		forward(64*octets, at...)
	})
	s.advance(r[height-1], "c", height)
	Label("end")
	VZEROUPPER()
	RET()
}
