package secagg

import "filippo.io/edwards25519"

// Which of a slot's two secrets: b masks the site's own upload, e keys the masks of the pairs that
// the site owns. In a setup that is whole only b is shared.
const (
	ofB = iota
	ofE
)

var secretLabels = [2]string{"b", "e"}

// polynomial has T coefficients; its constant term is the secret. It never leaves the site.
type polynomial []*edwards25519.Scalar

// polynomial returns the one of a site's secret of a slot.
func (s *SlotSecret) polynomial(which, slot, site, threshold int) polynomial {
	p, from := make(polynomial, threshold), extract(s[:], nil)
	defer clear(from)
	for k := range p {
		p[k] = from.coefficient(which, slot, site, k)
	}
	return p
}

// secret returns the polynomial's constant term.
func (s *SlotSecret) secret(which, slot, site int) *edwards25519.Scalar {
	from := extract(s[:], nil)
	defer clear(from)
	return from.coefficient(which, slot, site, 0)
}

// coefficient is of a slot's secret.
func (e extracted) coefficient(which, slot, site, k int) *edwards25519.Scalar {
	return e.scalar(secretLabels[which], u32(slot), u16(site), u16(k))
}

// at evaluates the polynomial.
func (p polynomial) at(x *edwards25519.Scalar) *edwards25519.Scalar {
	v := edwards25519.NewScalar()
	for k := len(p) - 1; k >= 0; k-- {
		v.MultiplyAdd(v, x, p[k])
	}
	return v
}

func (p polynomial) erase() {
	for _, c := range p {
		c.Set(zero)
	}
}
