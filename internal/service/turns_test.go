package service

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Those who share places have the same time of them, however long their turns are and however
// many they ask for; one that comes later is owed nothing.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(2)
		had := make([]time.Duration, 6)
		var mu sync.Mutex
		var wg sync.WaitGroup
		end := time.Now().Add(time.Hour)
		for i := range had {
			u := &user{}
			for range 2 + i%3 { // of some there is more than one at once
				wg.Go(func() {
					if i == 5 {
						time.Sleep(30 * time.Minute)
					}
					for time.Now().Before(end) {
						if !turns.take(u) {
							t.Error("closed")
						}
						took := time.Duration(1+i) * time.Second
						time.Sleep(took)
						mu.Lock()
						had[i] += took
						mu.Unlock()
						turns.give(u, took)
					}
				})
			}
		}
		wg.Wait()
		// The first half hour is shared by five, the second by six.
		want := 30*time.Minute*2/5 + 30*time.Minute*2/6
		for i, got := range had[:5] {
			if ratio := float64(got) / float64(want); ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%d had %v, want %v", i, got, want)
			}
		}
		if want := 30 * time.Minute * 2 / 6; had[5] < want*9/10 || had[5] > want*11/10+credit {
			t.Errorf("the late one had %v, want %v", had[5], want)
		}
	})
}

// No user waits for turns that are closed.
func TestTurnsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		a, b := &user{}, &user{}
		turns.take(a)
		done := make(chan bool)
		go func() { done <- turns.take(b) }()
		synctest.Wait()
		turns.close()
		if <-done || turns.take(b) {
			t.Error("a turn of closed turns")
		}
		turns.give(a, time.Second)
	})
}
