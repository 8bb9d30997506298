package agent

import (
	"context"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	covey "covey/proto/covey/v1"
)

// TestDeafCoordinator: AG-28. A coordinator that asks and never takes an answer does not fill a
// site's memory: the site reads no more of it.
func TestDeafCoordinator(t *testing.T) {
	for name, ask := range map[string]func(int) *covey.CoordinatorMessage{
		// refused: of three studies, which are worked on side by side
		"questions": func(i int) *covey.CoordinatorMessage {
			id := make([]byte, 32)
			id[0] = byte(i % 3)
			return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: id}}}
		},
		"proposals": func(i int) *covey.CoordinatorMessage { // rejected
			return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: []byte{byte(i), byte(i >> 8)}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newStandIn(t, 3, autoPolicy, nil).sites[0].agent
				ctx, end := context.WithCancel(t.Context())
				l := newLink(ctx, a)
				a.begin(l, "somewhere")
				const most = 4 * maxWaiting
				asked := 0
				a.work.Go(func() {
					l.read(func() ([]byte, bool, error) {
						if asked == most {
							<-ctx.Done()
							return nil, false, ctx.Err()
						}
						raw, err := proto.Marshal(ask(asked))
						asked++
						return raw, true, err
					})
				})
				synctest.Wait()
				if asked >= most {
					t.Errorf("%d messages were read while no answer was taken", asked)
				}
				// Somebody takes them: it goes on.
				a.work.Go(func() { l.write(func([]byte, bool) error { return nil }) })
				synctest.Wait()
				if asked != most {
					t.Errorf("%d messages of %d were read in the end", asked, most)
				}
				end()
				a.work.Wait()
			})
		})
	}
}
