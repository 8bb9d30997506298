// Package deploy runs what deploy/ holds for real (build tag deploy): the image and the
// compose file with a Docker daemon, the systemd units with systemd-analyze, and binaries
// of different versions in one federation. Without the tag it reads the sample
// configurations with the parsers of the commands.
package deploy
