// Package analyst is an analyst's side of a federation, without a daemon: a folder with keys and a
// certificate, and the calls that are made with them.
//
// The coordinator is not trusted to propose: the whole proposal is made here, from what the
// coordinator offers, and its digest is signed here. Keys that the coordinator showed before are
// pinned in the folder, so that it cannot put another party in the place of one. What is proposed
// is kept before it is sent, and a result is verified before anything is made of it.
package analyst
