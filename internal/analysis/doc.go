// Package analysis decides for a coordinator what analysts may propose and what they are told:
// which proposals fit the federation as it is now, how many are allowed, which counts of units to
// tell, and what to show of a study (docs/protocol.md, "Analysts"). It reads no clock and keeps
// nothing but Counts.
//
// # Rules
//
// The rules of docs/protocol.md about analysts, at length; internal/coordinator keeps most of
// them.
//
//   - AN-1: A coordinator MUST refuse a call of a method that its table of roles does not have,
//     and one whose caller does not have a role that the method is for, by its verified
//     certificate and its membership at that moment. Join and health are open to everyone.
//   - AN-2: The name of a site, revoked or not, MUST NOT become an analyst's, nor the other way
//     round, at the invitation and where the log applies a join, until RE-17 lets it go.
//   - AN-3: Once the log has a revocation, calls MUST be refused by each coordinator that has it,
//     and open streams of the revoked MUST end.
//   - AN-4: A coordinator MUST refuse an analyst's proposal unless proposer and sender are one by
//     name and key, the signature is the key's over the digest, the coordinator key is its own,
//     each site of the roster is a member with its present key and the count that analysts were
//     told last, readers are analysts with their present keys, the nonce is new, and it expires
//     within 90 days.
//   - AN-5: An analyst has at most 5 open proposals, one of a name on a data set, proposes at most
//     20 a day (UTC), each of at most 3 MiB and 2 on their way. The log's entries MUST be held to
//     this by their own times, so that neither a race nor a change of leader lets more in. A
//     leader MUST count a study as open until it shows as over to the analyst (AN-7).
//   - AN-6: Of a site's data set all analysts MUST be told one count a day (UTC), the first that
//     any asked for. It is in the log before it is told, and the next leader tells the same.
//   - AN-7: An analyst MUST be told of a site's answer only approved, declined or waiting, and of
//     codes only `columns`, `unit` and `format`. A verdict, and all that follows from it, MUST NOT
//     show before the whole minute after it.
//   - AN-8: What is told of a study MUST change at most every 10 s, with times rounded to that,
//     and MUST name a site as awaited in a query only after the query's deadline. A result MUST
//     NOT be given to an analyst before its study shows as completed.
//   - AN-9: A study that is unknown and one that the analyst may not know of MUST be answered
//     alike, in every call. A proposer may withdraw its own (`retracted`) until it is over; what
//     was charged stays charged.
//   - AN-10: A result MUST be given to sites of the roster, to the proposer and to the readers, by
//     name and present identity key, and to nobody else; the log MUST say who read what. The
//     result of an analyst's study MUST hold the proposer's signature, and a verifier MUST refuse
//     one without it, or with another.
package analysis
