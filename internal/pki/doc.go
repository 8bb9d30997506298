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
// .NAME.tmp-… that nothing reads. Keys and join files are created with mode 0600,
// and a key that others can read is refused.
package pki
