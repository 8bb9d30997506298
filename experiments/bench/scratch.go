package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// scratches are the temporary folders of this process: a run that is interrupted may leave gigabytes of rows.
var scratches struct {
	mu   sync.Mutex
	dirs map[string]bool
	once sync.Once
}

// scratch makes a temporary folder within dir, the system's if that is empty. It goes with drop, or with an
// interrupt of the process.
func scratch(dir string) (path string, drop func() error, err error) {
	s := &scratches
	s.once.Do(func() {
		s.dirs = map[string]bool{}
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-stop
			s.mu.Lock() // and not unlocked: nothing more is made
			for dir := range s.dirs {
				os.RemoveAll(dir)
			}
			os.Exit(1)
		}()
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if path, err = os.MkdirTemp(dir, "covey-bench"); err != nil {
		return "", nil, err
	}
	s.dirs[path] = true
	return path, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.dirs, path)
		return os.RemoveAll(path)
	}, nil
}
