package admission

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// HTTP/2 frames that move no message, and what each costs (RFC 9113, section 6). A connection of an
// agent has one stream for months, another call every ten minutes, and a ping every 30 s.
const (
	frameRate  = 2000.0 // tokens a second
	frameBurst = 4000.0

	costStream = 100.0 // HEADERS, CONTINUATION: a call, or one more piece of its head
	costReset  = 20.0  // RST_STREAM
	costFrame  = 1.0   // SETTINGS, PING, PRIORITY, WINDOW_UPDATE, and DATA of less than smallData
	smallData  = 512

	// What this side has written pays for window updates of the other.
	bytesAFrame = 8 << 10

	// Bytes of DATA that no message came of. What a message was made of that changed something is
	// given back (link.accepted).
	dataRate  = 16 << 20
	dataBurst = 16 << 20

	// strangerBytes bounds what a caller without a certificate can say: a join takes a few
	// kilobytes.
	strangerBytes = 16 << 10
)

const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameContinuation = 0x9
	frameHead         = 9
	prefaceLength     = 24
)

var errStranger = errors.New("admission: a caller without a certificate sent too much")

// Meter is a connection behind its TLS that looks at the heads of the HTTP/2 frames that come and
// holds the reader back when there are more of them than an agent has reason to send: gRPC
// bounds the streams that are open at a time, and none of resets, pings, settings and empty frames.
type Meter struct {
	net.Conn
	done func() // once, at Close
	once sync.Once
	end  chan struct{} // closed by Close

	// Of the one reader.
	frames  Bucket
	skip    uint32 // payload bytes to come, at first the preface
	head    [frameHead]byte
	had     int // bytes of head
	written atomic.Int64

	mu   sync.Mutex
	data Bucket // of bytes
	left int64  // of strangerBytes; negative for a site
}

func newMeter(conn net.Conn, stranger bool, done func()) *Meter {
	m := &Meter{Conn: conn, done: done, end: make(chan struct{}), skip: prefaceLength, left: -1,
		frames: NewBucket(frameRate, frameBurst), data: NewBucket(dataRate, dataBurst)}
	if stranger {
		m.left = strangerBytes
	}
	return m
}

// Read is net.Conn's. It waits after it has read, so that the sender is held back by TCP.
func (m *Meter) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	if n == 0 {
		return n, err
	}
	cost, data := m.count(p[:n])
	now := time.Now()
	wait := m.frames.spend(now, cost-float64(m.written.Swap(0))/bytesAFrame)
	m.mu.Lock()
	wait = max(wait, m.data.spend(now, float64(data)))
	if m.left >= 0 {
		if m.left -= int64(n); m.left < 0 {
			m.mu.Unlock()
			return 0, errStranger
		}
	}
	m.mu.Unlock()
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-m.end:
		}
	}
	return n, err
}

// count goes over bytes that came: their cost in tokens, and how many were DATA.
func (m *Meter) count(p []byte) (cost float64, data int) {
	for len(p) > 0 {
		if m.skip > 0 {
			k := min(int(m.skip), len(p))
			if m.had == frameHead && m.head[3] == frameData {
				data += k
			}
			m.skip -= uint32(k)
			p = p[k:]
			if m.skip == 0 {
				m.had = 0
			}
			continue
		}
		k := copy(m.head[m.had:], p)
		m.had += k
		p = p[k:]
		if m.had < frameHead {
			break
		}
		m.skip = binary.BigEndian.Uint32(m.head[:4]) >> 8
		switch m.head[3] {
		case frameData:
			if m.skip < smallData {
				cost += costFrame
			}
		case frameHeaders, frameContinuation:
			cost += costStream
		case frameReset:
			cost += costReset
		default:
			cost += costFrame
		}
		if m.skip == 0 {
			m.had = 0
		}
	}
	return cost, data
}

// Write is net.Conn's.
func (m *Meter) Write(p []byte) (int, error) {
	n, err := m.Conn.Write(p)
	m.written.Add(int64(n))
	return n, err
}

// Accepted gives back what a message was made of that changed something.
func (m *Meter) Accepted(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data.Tokens = min(m.data.Burst, m.data.Tokens+float64(bytes))
}

// Expect makes room for messages of up to so many bytes.
func (m *Meter) Expect(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if burst := float64(dataBurst + 2*bytes); burst > m.data.Burst {
		m.data.Tokens += burst - m.data.Burst
		m.data.Burst = burst
	}
}

// Close is net.Conn's.
func (m *Meter) Close() error {
	m.once.Do(func() {
		close(m.end)
		m.done()
	})
	return m.Conn.Close()
}
