package study

// Seat is a site's place in a roster, counted from 1, where it may be nobody's.
type Seat int

// Nobody is no site's seat.
const Nobody Seat = 0

// SeatOf returns the seat of a site, given by its roster index.
func SeatOf(site int) Seat { return Seat(site + 1) }

// Site returns the roster index of the seat's site; -1 for nobody.
func (s Seat) Site() int { return int(s) - 1 }
