// Package browsertest opens the layout pages in a browser: headless Chromium, where it is installed.
package browsertest
