// Package run is what the experiments share: data with seeds, a whole study in one
// process through the real query path (plan, local sums, exact noise, course), the
// variance that its components capture, repetition, tables and figures. Masks are left
// out: they cancel to the bit.
package run
