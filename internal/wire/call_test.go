package wire

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	covey "covey/proto/covey/v1"
)

// shelf has one result; nothing else is asked of it.
type shelf struct {
	Server
	file  []byte
	ended chan time.Duration // how long each call was
}

func (s shelf) Result(ctx context.Context, _ []byte) (func(io.Writer) error, error) {
	began := time.Now()
	context.AfterFunc(ctx, func() { s.ended <- time.Since(began) })
	return func(to io.Writer) error {
		_, err := to.Write(s.file)
		return err
	}, nil
}

// TestUntakenResult: a caller that takes nothing of a result loses the call, and the coordinator
// lets go of the file; one that is slow gets all of it.
func TestUntakenResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shelf{file: make([]byte, 40*Size), ended: make(chan time.Duration, 2)}
		port, server := bufconn.Listen(1<<10), grpc.NewServer(grpc.MaxRecvMsgSize(Size+1<<10))
		Register(server, s)
		go server.Serve(port)
		defer server.Stop()
		conn, err := grpc.NewClient("passthrough:memory", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStaticStreamWindowSize(1<<16),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return port.DialContext(ctx) }))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		take := func(pause time.Duration) (frames int, err error) {
			of, err := covey.NewFederationClient(conn).Result(t.Context(), &covey.ResultRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for {
				time.Sleep(pause)
				if _, err = of.Recv(); err != nil {
					return frames, err
				}
				frames++
			}
		}
		if frames, err := take(resultStalled / 6); frames != 40 {
			t.Errorf("a slow caller got %d frames of 40, then %v", frames, err)
		}
		<-s.ended
		if _, err := take(10 * resultStalled); status.Code(err) != codes.Aborted {
			t.Errorf("a caller that takes nothing: %v", err)
		}
		if took := <-s.ended; took > 2*resultStalled {
			t.Errorf("its call ended after %v", took)
		}
	})
}
