package delay

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestPump: bytes come in order, each one exactly later, and those that are sent meanwhile do
// not wait for each other: a delay is not a bandwidth.
func TestPump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const later = 100 * time.Millisecond
		near, in := net.Pipe()
		out, far := net.Pipe()
		var count atomic.Int64
		ended := make(chan error, 1)
		go func() {
			ended <- pump(out, in, later, &count)
			out.Close()
		}()
		start := time.Now()
		go func() {
			for i := range 3 {
				near.Write([]byte{byte(i)})
				time.Sleep(10 * time.Millisecond)
			}
			near.Close()
		}()
		for i := range 3 {
			var b [1]byte
			if _, err := io.ReadFull(far, b[:]); err != nil || b[0] != byte(i) {
				t.Fatalf("byte %d: %v, %v", i, b, err)
			}
			if took, want := time.Since(start), later+time.Duration(i)*10*time.Millisecond; took != want {
				t.Errorf("byte %d came after %v, not %v", i, took, want)
			}
		}
		if _, err := far.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the end came as %v", err)
		}
		if err := <-ended; err != nil || count.Load() != 3 {
			t.Errorf("%d bytes, %v", count.Load(), err)
		}
	})
}

// TestPumpStops: a reader that has gone ends the pump, and nothing of it is left.
func TestPumpStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, in := net.Pipe()
		out, far := net.Pipe()
		far.Close()
		ended := make(chan error, 1)
		go func() {
			ended <- pump(out, in, time.Millisecond, new(atomic.Int64))
			in.Close()
		}()
		near.Write([]byte{1})
		if err := <-ended; err == nil {
			t.Error("writing to a closed pipe is no error")
		}
	})
}

// TestProxy: an echo over real sockets, both ways whole, and Close leaves nothing behind.
func TestProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { io.Copy(c, c); c.Close() }()
		}
	}()
	p, err := Listen(l.Addr().String(), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	sent := bytes.Repeat([]byte("covey"), 100_000)
	go func() { c.Write(sent); c.(*net.TCPConn).CloseWrite() }()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d bytes of %d came back: %v", len(got), len(sent), err)
	}
	if up, down := p.Bytes(); up != int64(len(sent)) || down != int64(len(sent)) {
		t.Errorf("counted %d and %d", up, down)
	}
	idle, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives Close")
	}
}
