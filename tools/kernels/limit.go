//go:build ignore

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// limits are the kernels of coefficients, four rows at a time, the same for both instruction sets:
// rows have few.
func limits() {
	numbers := GLOBL("numbers", RODATA|NOPTR)
	for i, v := range []uint64{
		1<<63 - 1,                   // all but the sign
		0x7ff << 52,                 // the exponent
		2046 << 52,                  // what the bits of 2^e and of 2^-e add up to
		math.Float64bits(0x1p-1000), // negligible
		math.Float64bits(math.MaxFloat64),
	} {
		DATA(8*i, U64(v))
	}
	number := func(i int) reg.VecVirtual { return broadcast(numbers.Offset(8 * i)) }

	TEXT("clampAVX2", NOSPLIT, "func(s, norms *float64, n int, scale, bound float64)")
	Pragma("noescape")
	Doc("clampAVX2 is clampPortable for n rows, a multiple of 4.")
	s, norms, n := Load(Param("s"), GP64()), Load(Param("norms"), GP64()), Load(Param("n"), GP64())
	scale, bound, zero, magnitude := broadcast(argument("scale")), broadcast(argument("bound")), YMM(), number(0)
	VXORPD(zero, zero, zero)
	SHRQ(Imm(2), n)
	JZ(LabelRef("done"))
	Label("loop")
	c, size, norm, b, some := YMM(), YMM(), YMM(), YMM(), YMM()
	VMULPD(Mem{Base: s}, scale, c)
	VMOVUPD(Mem{Base: norms}, norm)
	VDIVPD(norm, bound, b)
	VCMPPD(Imm(0x11), norm, zero, some) // 0 < norm
	VANDPD(some, b, b)
	VANDPD(magnitude, c, size)
	VANDNPD(c, magnitude, c) // the sign
	VMINPD(b, size, size)    // b where size is NaN
	VORPD(size, c, c)
	VMOVUPD(c, Mem{Base: s})
	ADDQ(Imm(32), s)
	ADDQ(Imm(32), norms)
	DECQ(n)
	JNZ(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()

	TEXT("clampBlockAVX2", NOSPLIT, "func(s, norms *float64, n, k, h int, scale, bound float64)")
	Pragma("noescape")
	Doc("clampBlockAVX2 is clampBlockPortable for n rows, a multiple of 4, and at most 1024 directions, whose products are h apart.")
	s, norms, n = Load(Param("s"), GP64()), Load(Param("norms"), GP64()), Load(Param("n"), GP64())
	h, at, left := Load(Param("h"), GP64()), GP64(), GP64()
	SHLQ(Imm(3), h)
	scale, bound, zero, magnitude = broadcast(argument("scale")), broadcast(argument("bound")), YMM(), number(0)
	exponent, both, negligible, largest := number(1), number(2), number(3), number(4)
	VXORPD(zero, zero, zero)
	directions := func(label string, body func()) {
		MOVQ(s, at)
		Load(Param("k"), left)
		Label(label)
		body()
		ADDQ(h, at)
		DECQ(left)
		JNZ(LabelRef(label))
	}
	SHRQ(Imm(2), n)
	JZ(LabelRef("none"))
	Label("rows")
	peak, sum, v := YMM(), YMM(), YMM()
	VXORPD(peak, peak, peak)
	directions("peak", func() {
		VANDPD(Mem{Base: at}, magnitude, v)
		VMAXPD(v, peak, peak)
	})
	up, down := YMM(), YMM()
	VANDPD(exponent, peak, up)
	VPSUBQ(up, both, down)
	VMULPD(scale, up, up)
	VXORPD(sum, sum, sum)
	directions("sum", func() {
		VMULPD(Mem{Base: at}, down, v)
		VMULPD(v, v, v)
		VADDPD(v, sum, sum)
	})
	norm, f, some, other := YMM(), YMM(), YMM(), YMM()
	VMOVUPD(Mem{Base: norms}, norm)
	VCMPPD(Imm(0x11), norm, zero, some)        // 0 < norm
	VCMPPD(Imm(0x12), peak, negligible, other) // negligible ≤ peak
	VANDPD(other, some, some)
	VCMPPD(Imm(0x12), largest, peak, other) // and peak is finite
	VANDPD(other, some, some)
	VCMPPD(Imm(0x12), largest, sum, other) // no product is NaN
	VANDPD(other, some, some)
	VDIVPD(norm, bound, f)
	VSQRTPD(sum, sum)
	VDIVPD(sum, f, f)
	VMINPD(f, up, f)
	directions("scale", func() {
		VMULPD(Mem{Base: at}, down, v)
		VMULPD(v, f, v)
		VANDPD(some, v, v)
		VMOVUPD(v, Mem{Base: at})
	})
	ADDQ(Imm(32), s)
	ADDQ(Imm(32), norms)
	DECQ(n)
	JNZ(LabelRef("rows"))
	Label("none")
	VZEROUPPER()
	RET()
}

func broadcast(m Mem) reg.VecVirtual {
	y := YMM()
	VBROADCASTSD(m, y)
	return y
}
