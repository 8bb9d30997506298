// Package linalg is the linear algebra of a study's steps: eigenvectors of symmetric matrices,
// leading singular vectors and orthonormal bases. Coordinator and sites take the next step each by
// itself, so that all of it is the same to the last bit on every processor: products are rounded
// before they are added, in a fixed order.
package linalg
