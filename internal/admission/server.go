package admission

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"covey/internal/wire"
)

// frameOverhead is what gRPC and protobuf put around a frame's bytes.
const frameOverhead = 1 << 10

// Server makes the gRPC server of the sites' port, which callers enter through a gate and a door.
func Server(gate *Gate, door *Door) *grpc.Server {
	return grpc.NewServer(append(door.options(),
		grpc.Creds(gate),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: wire.KeepaliveTime / 2, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: wire.KeepaliveTime, Timeout: wire.KeepaliveTimeout}),
		grpc.MaxRecvMsgSize(wire.Max+frameOverhead),
		grpc.ConnectionTimeout(handshakeTime),
		// Without it a connection has as many handlers as it likes (CVE-2023-44487, grpc-go 6703).
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaders),
		// gRPC would let a window grow to 16 MiB, read or not.
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
	)...)
}
