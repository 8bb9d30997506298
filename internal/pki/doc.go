// Package pki holds who is who: the coordinator's certificate authority, the join
// files that let a site in, the certificates of both sides and the long-term
// identity keys that a roster pins (docs/protocol.md).
//
// There are two kinds of trust and they are kept apart. Certificates, all under
// the coordinator's own CA, say who may talk to whom; whoever holds the CA's key
// can make a site's certificate. Identity keys say whose contribution is whose;
// they never leave their sites, sites sign studies and secure-aggregation setup
// with them, and people compare their fingerprints in the roster. A hostile
// coordinator can therefore cut a site off but not sign as one.
//
// All keys are Ed25519, all connections TLS 1.3. Time is a parameter: a method
// that needs it takes now, and a returned tls.Config follows its Time field.
//
// A coordinator's folder holds ca.key, ca.crt, server.key, server.crt and
// signing.key; a site's holds identity.key, tls.key and, once it has joined, ca.crt
// and tls.crt. Every file is written beside itself, synced, and moved into place, so
// that a crash leaves a file whole or absent, and at most a file named
// .NAME.RANDOM.tmp that nothing reads. Keys and join files are created with mode 0600,
// and a key that others can read is refused.
//
// # Why a revocation may be forgotten
//
// Forgetting a revocation (RE-17) lets nobody in: a caller is let in because the log's state has
// its name, not revoked, with the TLS key of its certificate (PKI-13, RE-15). A certificate issued
// by a coordinator that lagged behind the revocation, or one of an earlier membership of the name,
// therefore finds no member, or one with another key, even where a clock is wrong. A backup from
// before a revocation lacks it in any case. Only the name becomes free.
//
// # Rules
//
// The rules of docs/protocol.md about identities, certificates and authorities, at length. Some
// are kept by internal/enroll and internal/coordinator.
//
//   - PKI-1: A parser MUST refuse unknown, missing, doubled or differently spelled keys and
//     values, and MUST NOT repeat the token.
//   - PKI-2: The join file MUST be made with mode 0600 and MUST NOT replace another. Who joins with
//     one that others can read MUST be warned.
//   - PKI-3, PKI-4: The token MUST appear only in the join file and the Join call. The coordinator
//     MUST store only H(token), compared in constant time or looked up by hash.
//   - PKI-5: A site SHOULD refuse an expired file before it calls; the coordinator's record
//     decides.
//   - PKI-6: The server MUST present its leaf, then the CA certificate. The site MUST send nothing
//     unless the latter is a CA's, has the file's fingerprint and directly signed the leaf, which
//     is good now, for server authentication and the dialed host.
//   - PKI-7, PKI-8: The coordinator MUST first check the proof, and that the request is signed by
//     its own Ed25519 key and names the site. It MUST take only the key from it.
//   - PKI-9: The site MUST check the fingerprint of the answer's CA, and that its certificate is
//     under that CA, for tls.key, for client authentication only, good now.
//   - PKI-10: ca.crt is stored before tls.crt, so that a crash in between leaves a site that can
//     still join.
//   - PKI-11, PKI-12: Both sides MUST use TLS 1.3. A site MUST accept only a server's certificate
//     under its pinned CA, for the dialed host, good now.
//   - PKI-13: A coordinator MUST require a certificate but for Join, and MUST verify one that is
//     shown: own CA, client authentication, good now, names a site or an analyst. Its time is
//     compared at each call, and ends a stream.
//   - PKI-14: No TLS session is resumed.
//   - PKI-15: A renewal keeps CA and name and is used from the next handshake on. The server
//     renews from 30 days before its end, or when a host is new.
//   - PKI-16: Keys and certificates MUST be written whole or not at all, and keys made with mode
//     0600; keys that others can reach MUST be refused. `init` MUST NOT replace a file; of two at
//     once one succeeds.
//   - PKI-17: With `quantum_safe_links` an end MUST refuse a key exchange other than
//     X25519MLKEM768, SecP256r1MLKEM768 and SecP384r1MLKEM1024: a site before anything but its
//     ClientHello and an alert has left, a coordinator as it answers the ClientHello, of everybody
//     at its port and of other coordinators. A policy that changes MUST end a link that it
//     refuses.
//   - RE-1: A file of `site invite --again` MUST admit that site's identity key alone, and MUST be
//     void once the site is revoked.
//   - RE-2, RE-3: A site that joins again MUST keep its keys, ledger and name; a crash leaves the
//     old certificate or the new. A renewal MUST keep the identity key, and MUST be tried from 30
//     days before the end until it succeeds.
//   - RE-4: The log MUST take `next`, `promote` and `retire` in this order only.
//   - RE-5, RE-6: From `next` to `retire` a coordinator MUST accept both CAs at both its ports,
//     then the new one alone, ending other links. Until `promote` it MUST show sites a certificate
//     of the old CA, then of the new one.
//   - RE-7: `promote` MUST NOT be logged before every coordinator holds the next key and every
//     site not revoked has reported a certificate of the next CA (an operator can waive the
//     sites), nor `retire` before every coordinator has promoted.
//   - RE-8: What a coordinator does to its folder MUST follow from fingerprints in the log. A
//     replay changes nothing, and a crash MUST leave a folder that loads as before or after the
//     promotion.
//   - RE-9, RE-10: An agent MUST take a new CA only over a connection under a trusted one, with a
//     trusted one's current endorsement of exactly that certificate. It MUST drop a CA that the
//     coordinator no longer names, its own certificate's after renewal.
//   - RE-11: It asks `Federation.Standing` of any coordinator, with its CA's SHA-256, when its
//     link opens and every ten minutes. If the first CA named is another, it MUST renew.
//   - RE-12: Before an organization's own CA is written, it MUST have signed a server's and a
//     site's certificate that verify as agents and coordinators verify.
//   - RE-15: A leader MUST refuse a certificate of any TLS key but the one that the site's last
//     join recorded.
//   - RE-16: Of a name's unused join files only the newest MUST be good. A revocation and `site
//     invite --withdraw` MUST void them all.
//   - RE-17: A revocation MUST stay in the log's state until every certificate of that membership
//     has ended, by the time of the log's entries; it leaves 120 days after (`pki.ClientValidity`
//     and 30 days more). A used join file leaves at once, an unused one 30 days after its end.
//   - RE-18: A leader MUST refuse a join with a key that another name in the log's state has, or
//     that was revoked under it.
package pki
