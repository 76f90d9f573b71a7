//go:build !unix

package cli

// dropPrivileges has nothing to drop here.
func dropPrivileges(name string) error {
	if name != "" {
		return usagef("--user is not known on this system")
	}
	return nil
}
