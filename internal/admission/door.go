package admission

import (
	"context"
	"crypto/x509"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	"covey/internal/wire"
)

// Client is who calls: the holder of a certificate that TLS has verified, whose membership stands
// as the call begins.
type Client struct {
	Role     pki.Role
	Name     string
	Identity []byte // Ed25519 public key, as registered
}

// Door looks at every call before anything of it is read. It says this end's version and refuses a
// caller that shares no protocol with it, whether this node leads or not; then it refuses a
// caller without a role that the method is for (wire.RolesOf), and all calls of a method that is
// for nobody. Health is open to everyone.
type Door struct {
	Program string // as versions name it
	Log     *slog.Logger
	// Admit returns whose a verified certificate is by the registry of now, or a status.
	Admit func(leaf *x509.Certificate) (Client, error)

	revoked refusedHosts // who showed a key that lets nobody in any more

	mu   sync.Mutex
	said map[string]string // the last refusal that was logged, by name: agents try again and again
}

// options put the door into a server.
func (d *Door) options() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(d.call), grpc.ChainStreamInterceptor(d.stream)}
}

// healthService begins the methods of gRPC's health service.
const healthService = "/grpc.health.v1.Health/"

func (d *Door) call(ctx context.Context, request any, about *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if strings.HasPrefix(about.FullMethod, healthService) {
		return handle(ctx, request)
	}
	if err := grpc.SetHeader(ctx, metadata.Pairs(wire.This(d.Program).Pairs()...)); err != nil {
		return nil, err
	}
	ctx, err := d.enter(ctx, about.FullMethod)
	if err != nil {
		return nil, err
	}
	return handle(ctx, request)
}

func (d *Door) stream(server any, s grpc.ServerStream, about *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if strings.HasPrefix(about.FullMethod, healthService) {
		return handle(server, s)
	}
	if err := s.SendHeader(metadata.Pairs(wire.This(d.Program).Pairs()...)); err != nil {
		return err
	}
	ctx, err := d.enter(s.Context(), about.FullMethod)
	if err != nil {
		return err
	}
	return handle(server, entered{s, ctx})
}

// entered is a stream whose context knows its caller.
type entered struct {
	grpc.ServerStream
	ctx context.Context
}

// Context is grpc.ServerStream's.
func (e entered) Context() context.Context { return e.ctx }

func (d *Door) enter(ctx context.Context, method string) (context.Context, error) {
	if err := d.agree(ctx); err != nil {
		return nil, err
	}
	roles, open := wire.RolesOf(method)
	if open {
		return ctx, nil
	}
	leaf := LeafOf(ctx)
	if leaf == nil {
		return nil, status.Error(codes.Unauthenticated, "a certificate of a site or an analyst is needed")
	}
	who, err := d.Admit(leaf)
	if err != nil {
		d.barred(ctx, leaf, err)
		return nil, err
	}
	if !slices.Contains(roles, who.Role) {
		return nil, status.Errorf(codes.PermissionDenied, "this call is not for %ss", who.Role)
	}
	return WithClient(ctx, who), nil
}

// barred logs, once a day for a name and host, that a key was used that was revoked or replaced.
// Its certificate may be good for up to pki.ClientValidity more, and TLS has seen that the caller
// has the key: where it was revoked because it may have leaked, this may be the thief.
func (d *Door) barred(ctx context.Context, leaf *x509.Certificate, why error) {
	role, name, err := pki.RoleOf(leaf)
	from, ok := peer.FromContext(ctx)
	if err != nil || !ok || status.Code(why) != codes.PermissionDenied {
		return // of a coordinator that does not lead, or a certificate that ended, which the gate tells
	}
	if host, first := d.revoked.first(from.Addr, name); first {
		d.Log.Warn("a caller was refused: it has a key that was revoked, or replaced when its owner joined again. If nobody there runs an old folder, somebody else has that key",
			string(role), name, "host", host)
	}
}

// agree returns a status that a caller shows to its operator, whatever protocol it speaks.
func (d *Door) agree(ctx context.Context) error {
	said, _ := metadata.FromIncomingContext(ctx)
	err := wire.Agree(wire.VersionOf(said, "an agent"), wire.This(d.Program))
	if leaf := LeafOf(ctx); leaf != nil {
		d.refused(leaf, err)
	} // a caller without a certificate could fill the log; a joining program reads the answer
	if err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return nil
}

// refused logs once that a caller's program was refused, and again if the reason has changed.
func (d *Door) refused(leaf *x509.Certificate, err error) {
	role, name, wrong := pki.RoleOf(leaf)
	if wrong != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		delete(d.said, name)
		return
	}
	if d.said == nil {
		d.said = map[string]string{}
	}
	if d.said[name] != err.Error() {
		d.said[name] = err.Error()
		d.Log.Warn("a program was refused", string(role), name, "error", err)
	}
}

// Said returns why the program of a site or an analyst was refused when it last called; empty if
// it was let in, or has not called.
func (d *Door) Said(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said[name]
}

type clientKey struct{}

// WithClient returns a context that knows who calls, for ClientOf.
func WithClient(ctx context.Context, who Client) context.Context {
	return context.WithValue(ctx, clientKey{}, who)
}

// ClientOf returns who calls, as the door found it; not of an open method.
func ClientOf(ctx context.Context) (Client, bool) {
	who, ok := ctx.Value(clientKey{}).(Client)
	return who, ok
}

// LeafOf returns the certificate that a caller has shown and TLS has verified, or nil.
func LeafOf(ctx context.Context) *x509.Certificate {
	if who, ok := CallerOf(ctx); ok && len(who.State.VerifiedChains) > 0 {
		return who.State.VerifiedChains[0][0]
	}
	return nil
}

// CallerOf returns what the handshake of a call's connection found out.
func CallerOf(ctx context.Context) (Caller, bool) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return Caller{}, false
	}
	who, ok := p.AuthInfo.(Caller)
	return who, ok
}
