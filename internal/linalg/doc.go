// Package linalg is the linear algebra of a study's steps: eigenvectors of symmetric matrices,
// leading singular vectors and orthonormal bases. The coordinator and each site compute the next
// step on their own, so every result must be the same to the last bit on every processor: products
// are rounded before they are added, in a fixed order.
package linalg
