package ledger

// fits returns the cap that binds a study that is to come, and reports whether rho of it stays
// within: what Approve decides by.
func (p Population) fits(zcdp, gdp, rho float64, bridge bool) (limit float64, ok bool) {
	limit = p.Cap(zcdp, gdp, bridge)
	return limit, p.SpentRho+p.ReservedRho+rho <= limit*(1+tolerance)
}

// Room returns how many studies of rho each, with the bridge or without, Approve would take one
// after the other, at most most: it tries them on a copy. zcdp and gdp are the population's caps as
// of [Population.Cap].
func (p Population) Room(zcdp, gdp, rho float64, bridge bool, most int) int {
	for n := range most {
		if _, ok := p.fits(zcdp, gdp, rho, bridge); !ok {
			return n
		}
		p.add(StudyEntry{Population: p.Name, ReservedRho: rho, GDP: bridge})
	}
	return most
}
