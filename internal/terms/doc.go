// Package terms puts a plan into words for the operator who decides on a study: what its privacy
// parameters mean, who could learn what by colluding with whom, and what each query's sum holds.
package terms
