package round

import "covey/internal/study"

// prompts gives, for every connected site, what it should have been asked by
// now and was not on this link. Messages to one site leave in this order.
func (s *State) prompts() []Effect {
	var out []Effect
	for i, connected := range s.live.connected {
		if !connected || s.live.left[i] != "" {
			continue
		}
		ask := func(key string, m Message) {
			if !s.live.asked[i][key] {
				s.live.asked[i][key] = true
				out = append(out, Send{Site: i, Message: m})
			}
		}
		switch s.Status {
		case StatusProposed:
			if s.Verdicts[i] == VerdictPending {
				ask("decide", AskDecision{s.Body})
			}
		case StatusSetup:
			s.promptSetup(i, ask)
		case StatusRunning:
			s.promptQuery(i, ask)
		case StatusCompleted, StatusEnded:
			s.promptFinal(ask)
			ask("ended", TellEnded{s.Code})
		}
	}
	return out
}

func (s *State) promptSetup(i int, ask func(string, Message)) {
	l := &s.live
	if l.announced[i] == nil {
		ask("announce", AskAnnouncement{s.Attempt})
	}
	if l.verified && l.boxes[i] == nil {
		ask("deal", AskBoxes{s.Attempt, l.announced})
	}
	if l.verified && all(l.boxes) && l.confirmed[i] == nil {
		mine := make([][]byte, len(l.boxes))
		for from, boxes := range l.boxes {
			if from != i {
				mine[from] = boxes[i]
			}
		}
		// A dealer's boxes are looked at by their recipient alone; a site that
		// lost its link between dealing and here holds the announcements.
		ask("confirm", AskConfirmation{s.Attempt, mine})
	}
}

// promptFinal tells the last released value. A site that missed earlier ones
// needs none of them: a later query erases what they would have.
func (s *State) promptFinal(ask func(string, Message)) {
	if len(s.Releases) == 0 {
		return
	}
	last := s.Releases[len(s.Releases)-1]
	r, err := study.ParseRelease(last.Encoded)
	if err != nil {
		return // we encoded it; a log that holds anything else has failed its checksum
	}
	ask("final "+r.Study.String()+s.key(""), TellFinal{Query: r.Query, Slot: r.Slot, Released: last})
}

func (s *State) promptQuery(i int, ask func(string, Message)) {
	l := &s.live
	ask("confirmed", TellConfirmed{s.Attempt, s.Confirmations})
	s.promptFinal(ask)
	open, err := s.Ask()
	if err != nil {
		return
	}
	// Always before a signature or share is asked for, so that the site knows
	// what it signs; a late upload of a site outside U is never opened, its b
	// shares are not asked for.
	ask(s.key("query"), AskUpload{open})
	if s.Survivors == nil {
		return
	}
	if s.Certificate == nil {
		if l.signed[i] == nil {
			ask(s.key("sign"), AskSignature{s.Query, s.Slot, s.Survivors})
		}
		return
	}
	if !l.shared[i] {
		ask(s.key("share"), AskShares{s.Query, s.Slot, s.Survivors, s.Certificate})
	}
}
