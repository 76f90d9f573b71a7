//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// dropPrivileges goes on as the user of that name or, where none is given and sudo was used, as
// the one who did. The calls of syscall change all threads of the process.
func dropPrivileges(name string) error {
	if name == "" && os.Geteuid() != 0 {
		return nil
	}
	u, err := target(name)
	if err != nil || u == nil {
		return err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return fmt.Errorf("user %s: id %q", u.Username, u.Uid)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return fmt.Errorf("user %s: group id %q", u.Username, u.Gid)
	}
	if uid == os.Geteuid() && uid == os.Getuid() {
		return nil
	}
	groups := []int{gid}
	ids, err := u.GroupIds()
	if err != nil {
		return fmt.Errorf("groups of user %s: %w", u.Username, err)
	}
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil && n != gid {
			groups = append(groups, n)
		}
	}
	// The user last: it takes away the right for the others.
	if err := syscall.Setgroups(groups); err != nil {
		return fmt.Errorf("change to user %s: setgroups: %w", u.Username, err)
	}
	if err := syscall.Setgid(gid); err != nil {
		return fmt.Errorf("change to user %s: setgid: %w", u.Username, err)
	}
	if err := syscall.Setuid(uid); err != nil {
		return fmt.Errorf("change to user %s: setuid: %w", u.Username, err)
	}
	return nil
}

// target returns the user to become, nil for none.
func target(name string) (*user.User, error) {
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return nil, usagef("--user %s: %w", name, err)
		}
		return u, nil
	}
	id := os.Getenv("SUDO_UID")
	if id == "" || id == "0" {
		return nil, nil
	}
	u, err := user.LookupId(id)
	if err != nil {
		return nil, fmt.Errorf("the user who called sudo: %w; --user root keeps root", err)
	}
	return u, nil
}
