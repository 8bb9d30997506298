package coordinator

import (
	"context"
	"crypto/x509"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	"covey/internal/wire"
)

// Software names this coordinator to agents.
var Software = wire.This(program).Software

const program = "covey-coordinator"

// versions says this coordinator's version on every call of an agent, and refuses one that
// it shares no protocol with: before anything of the call is read, whether this node
// leads or not.
type versions struct {
	c *Coordinator

	mu   sync.Mutex
	said map[string]string // the last refusal that was logged, by site: agents try again and again
}

// options put v into a server.
func (v *versions) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(v.call), grpc.ChainStreamInterceptor(v.stream)}
}

// ours are the services of agents; health is anybody's.
func ours(method string) bool { return strings.HasPrefix(method, "/covey.v1.") }

func (v *versions) call(ctx context.Context, request any, about *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if !ours(about.FullMethod) {
		return handle(ctx, request)
	}
	if err := grpc.SetHeader(ctx, metadata.Pairs(wire.This(program).Pairs()...)); err != nil {
		return nil, err
	}
	if err := v.check(ctx); err != nil {
		return nil, err
	}
	return handle(ctx, request)
}

func (v *versions) stream(server any, s grpc.ServerStream, about *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if !ours(about.FullMethod) {
		return handle(server, s)
	}
	if err := s.SendHeader(metadata.Pairs(wire.This(program).Pairs()...)); err != nil {
		return err
	}
	if err := v.check(s.Context()); err != nil {
		return err
	}
	return handle(server, s)
}

// check returns a status that an agent shows to its operator, whatever protocol it speaks.
func (v *versions) check(ctx context.Context) error {
	said, _ := metadata.FromIncomingContext(ctx)
	err := wire.Agree(wire.VersionOf(said, "an agent"), wire.This(program))
	if leaf := leafOf(ctx); leaf != nil {
		v.log(leaf, err)
	} // a caller without a certificate could fill the log; whoever joins reads the answer
	if err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return nil
}

// log says once that a site's agent was refused, and again if the reason has changed.
func (v *versions) log(leaf *x509.Certificate, err error) {
	site, wrong := pki.SiteName(leaf)
	if wrong != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		delete(v.said, site)
		return
	}
	if v.said == nil {
		v.said = map[string]string{}
	}
	if v.said[site] != err.Error() {
		v.said[site] = err.Error()
		v.c.log.Warn("an agent was refused", "site", site, "error", err)
	}
}
