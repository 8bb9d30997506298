// Package proposals keeps a site's files about studies that no ledger holds: the proposals that
// await its operator, how those that are over here ended, and how many of each analyst's came in a
// day. Losing a file loses no budget and decides nothing. What a proposal is, and its bytes, are
// package proposal's.
package proposals
