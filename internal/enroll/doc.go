// Package enroll is how a site or an analyst reaches its coordinator: it spends join files, makes
// the calls that keep a certificate good, and holds what every connection is made of: TLS that
// remembers why it failed, the versions that both ends say, and keep-alive.
//
// The agent's link and agent check connect by it, so that what a check finds is what the agent
// would meet. Nothing here sends anything of a study.
package enroll
