package coordinator

import (
	"crypto/x509"
	"errors"
	"log/slog"

	"covey/internal/admission"
	"covey/internal/chain"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/stream"
	"covey/internal/study"
)

// link is one site's open stream, and what is known of it.
type link struct {
	*stream.Stream
	site  string
	units map[string]int // data sets that the site offers, by name

	leaf     *x509.Certificate // that it showed; nil where no TLS is
	software string            // as it calls itself
	exchange pki.KeyExchange   // zero where no TLS is
	// Guarded by the machine's lock. untold are studies that were over before this link, and whose
	// end it was not told, by place in the machine's order; kept is the head of the chain that the
	// site said it kept, and shown the number of the one that was sent last; said are its refusals,
	// each of which is logged once, and broken is that it said so of the chain.
	untold []bool
	kept   chain.Head
	shown  uint64
	said   map[denial]bool
	broken bool

	// Of the stream's reader.
	known   known            // studies, as the hello says; empty once they are looked through
	meter   *admission.Meter // nil where no TLS is
	limit   int              // bytes of a message
	studies int              // that limit is of
	changed bool             // by the last message
}

// denial is a site's no in a study.
type denial struct {
	study proposal.Digest
	code  study.Code
}

func newLink(site string) *link {
	return &link{Stream: stream.New(), site: site, said: map[denial]bool{}}
}

// refuses notes a no, and logs it once.
func (l *link) refuses(digest proposal.Digest, code study.Code, log *slog.Logger) {
	no := denial{digest, code}
	switch {
	case l.said[no] || code == study.CodeHeld || code == study.CodeOutOfOrder || code == study.CodeFinal: // an answer
	case code == study.CodeBrokenChain:
		l.broken = true
		log.Error("a site answers no query: this coordinator's chain does not extend the one that it kept")
	default:
		log.Warn("a site refuses to take part in a study")
	}
	l.said[no] = true
}

var (
	errReplaced = errors.New("link: the site opened another link; if this goes on, another agent runs with its keys")
	// errNotCurrent is of a message on a stream that is not the site's link.
	errNotCurrent = errors.New("link: a message before hello, or after another link was opened")
	errRevoked    = errors.New("link: the site is revoked")
	errNotLeader  = errors.New("link: this coordinator does not lead")
)
