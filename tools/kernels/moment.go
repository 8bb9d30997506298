//go:build ignore

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moments is the kernel of addLines: for each line an octet of the unit's sum stays in a register
// while all its rows pass, in groups of four, added in pairs, and what is left one by one; then it
// is rounded.
func (s *set) moments() {
	TEXT("addLines"+s.name, NOSPLIT, "func(sums *uint64, rows *float64, lines, n, d, stride int, c float64)")
	Pragma("noescape")
	Doc("addLines" + s.name + " is addLinesPortable for n rows of length d ≥ 1, one every stride values.")
	s.tail()
	at, y := Load(Param("sums"), GP64()).(reg.GPVirtual), Load(Param("rows"), GP64())
	lines, stride, thrice := Load(Param("lines"), GP64()), Load(Param("stride"), GP64()), GP64()
	SHLQ(Imm(3), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, thrice)
	constant, c := s.vector(), s.vector()
	VBROADCASTSD(s.round, constant)
	VBROADCASTSD(argument("c"), c)
	Label("lines")
	TESTQ(lines, lines)
	JZ(LabelRef("end"))
	first, bodies := Load(Param("rows"), GP64()).(reg.GPVirtual), 0
	columns("line", func(o int, masked bool) {
		label := fmt.Sprint("body", bodies)
		bodies++
		sum, row, factor, n := s.zero(), GP64(), GP64(), Load(Param("n"), GP64())
		LEAQ(s.at(first, o), row)
		MOVQ(y, factor)
		for _, g := range []int{4, 1} {
			Label(fmt.Sprint(label, "_rows", g))
			CMPQ(n, Imm(uint64(g)))
			JLT(LabelRef(fmt.Sprint(label, "_end", g)))
			products := make([]octet, g)
			for i := range products {
				at := nth(row, stride, thrice, i)
				coefficient := s.vector()
				VBROADCASTSD(nth(factor, stride, thrice, i), coefficient)
				products[i] = s.octet()
				if masked {
					s.load(products[i], at, true)
				}
				s.each(func(p, half int) {
					if masked {
						VMULPD(coefficient, products[i][p], products[i][p])
					} else {
						VMULPD(at.Offset(half), coefficient, products[i][p])
					}
				})
			}
			s.each(func(p, _ int) {
				if g == 4 {
					VADDPD(products[1][p], products[0][p], products[0][p])
					VADDPD(products[3][p], products[2][p], products[2][p])
					VADDPD(products[2][p], products[0][p], products[0][p])
				}
				VADDPD(products[0][p], sum[p], sum[p])
			})
			LEAQ(Mem{Base: row, Index: stride, Scale: uint8(g)}, row)
			LEAQ(Mem{Base: factor, Index: stride, Scale: uint8(g)}, factor)
			SUBQ(Imm(uint64(g)), n)
			JMP(LabelRef(fmt.Sprint(label, "_rows", g)))
			Label(fmt.Sprint(label, "_end", g))
		}
		acc := s.octet()
		s.load(acc, Mem{Base: at, Disp: 64 * o}, masked)
		s.each(func(p, _ int) {
			VFMADD213PD(constant, c, sum[p])
			VPADDQ(sum[p], acc[p], acc[p])
		})
		s.store(acc, Mem{Base: at, Disp: 64 * o}, masked)
	}, func(octets int) { forward(64*octets, at, first) })
	s.next(at, at)
	ADDQ(Imm(8), y)
	DECQ(lines)
	JMP(LabelRef("lines"))
	Label("end")
	VZEROUPPER()
	RET()
}
