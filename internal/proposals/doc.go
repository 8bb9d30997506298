// Package proposals keeps a site's files of studies that no ledger holds: those that await the
// operator, and how those ended that are over here. Losing a file loses no budget and decides
// nothing.
package proposals
