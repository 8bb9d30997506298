// Package terms puts a plan into words for the operator who decides on a study: what its privacy
// parameters mean, and who could learn what by colluding with whom.
package terms
