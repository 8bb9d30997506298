package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	covey "covey/proto/covey/v1"
)

// cut is a shelf whose calls end without a last frame.
type cut struct{ *federation }

func (c cut) Result(_ *covey.ResultRequest, to grpc.ServerStreamingServer[covey.ResultResponse]) error {
	return to.Send(&covey.ResultResponse{Frame: &covey.Frame{Data: []byte("half of")}})
}

// full takes nothing.
type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f.error }

// TestCallResult: a file is written as it comes, whole or with an error, and a writer's error ends
// the call.
func TestCallResult(t *testing.T) {
	s := shelf{file: bytes.Repeat([]byte("result"), Size/4), ended: make(chan time.Duration, 9)}
	call := func(register func(*grpc.Server), to io.Writer) error {
		port, server := bufconn.Listen(1<<10), grpc.NewServer(grpc.MaxRecvMsgSize(Size+1<<10))
		register(server)
		go server.Serve(port)
		defer server.Stop()
		conn, err := grpc.NewClient("passthrough:memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return port.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return CallResult(t.Context(), conn, nil, to)
	}
	whole := func(server *grpc.Server) { Register(server, s) }
	var got bytes.Buffer
	if err := call(whole, &got); err != nil || !bytes.Equal(got.Bytes(), s.file) {
		t.Errorf("%d bytes of %d came, %v", got.Len(), len(s.file), err)
	}
	noRoom := errors.New("no room")
	if err := call(whole, full{noRoom}); err != noRoom {
		t.Errorf("a writer's error is %v", err)
	}
	half := func(server *grpc.Server) { covey.RegisterFederationServer(server, cut{&federation{to: s}}) }
	if err := call(half, io.Discard); err != io.ErrUnexpectedEOF {
		t.Errorf("half of a file: %v", err)
	}
}
