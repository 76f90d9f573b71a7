package browsertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// site writes the site into a new folder.
func site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	kdissect(t, "layout", "--site", dir)
	return dir
}

// Every page loads without a script error and without a request that leaves the machine, and its
// script has run.
func TestEveryPage(t *testing.T) {
	b := open(t)
	dir := site(t)
	pages := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		pages++
		b.run(chromedp.Navigate(address(t, path)))
		assert.Equal(t, []int{1, 0}, eval[[]int](b, `(ids => [
			document.querySelector('.node[tabindex="0"], #q') ? 1 : 0,
			ids.length - new Set(ids).size, // ids used twice
		])([...document.querySelectorAll('[id]')].map(e => e.id))`), path)
		faults, files := b.done()
		assert.Empty(t, faults, path)
		assert.LessOrEqual(t, files, 3, "%s: the page, its style and its script", path)
		return nil
	}))
	assert.Greater(t, pages, 500)
}

// Every link of the site leads to a file of it.
func TestLinks(t *testing.T) {
	dir := site(t)
	links := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range strings.Split(string(text), ` href="`)[1:] {
			href, _, _ := strings.Cut(part, `"`)
			if strings.HasPrefix(href, "data:") {
				continue
			}
			links++
			assert.FileExists(t, filepath.Join(filepath.Dir(path), filepath.FromSlash(href)), "in %s", path)
		}
		return nil
	}))
	assert.Greater(t, links, 1000)
}

const describe = "api/ConsumerGroupDescribe/v1.html"

// litNode and litBytes look at what is lit.
const (
	litNode  = `[...document.querySelectorAll('.node.lit .name')].map(e => e.textContent).join()`
	litBytes = `[...document.querySelectorAll('.grid b.lit')].map(e => e.closest('.side').id + ' ' + e.at).join()`
)

// click clicks the first element that a selector finds.
func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

// byteAt selects a byte of the request.
func byteAt(i int) string {
	return `#request .line:nth-child(` + string(rune('1'+i/16)) + `) b:nth-of-type(` + []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}[i%16] + `)`
}

func TestByteAndNodeLightEachOther(t *testing.T) {
	b := open(t)
	b.goTo(filepath.Join(site(t), describe), "")

	b.run(click(byteAt(17)))
	assert.Equal(t, "IncludeAuthorizedOperations", eval[string](b, litNode))
	assert.Equal(t, "request 17", eval[string](b, litBytes))
	assert.Contains(t, eval[string](b, `document.querySelector('.now').textContent`), "IncludeAuthorizedOperations bool = false")

	node := eval[string](b, `[...document.querySelectorAll('#response .node')].find(n => n.querySelector('.name').textContent === 'TopicId').id`)
	b.run(click("#" + node))
	assert.Equal(t, "TopicId", eval[string](b, litNode))
	assert.Equal(t, "response 42,response 43,response 44,response 45,response 46,response 47,response 48,response 49,"+
		"response 50,response 51,response 52,response 53,response 54,response 55,response 56,response 57", eval[string](b, litBytes))
	assert.Equal(t, "#"+node, eval[string](b, `location.hash`))

	// A link to a node shows it.
	b.goTo(filepath.Join(filepath.Dir(b.path()), "v1.html"), "#"+node)
	assert.Equal(t, "TopicId", eval[string](b, litNode))

	faults, _ := b.done()
	assert.Empty(t, faults)
}

// path returns the file that is open.
func (b *browser) path() string {
	return filepath.FromSlash(eval[string](b, `decodeURIComponent(location.pathname)`))
}

func TestPointing(t *testing.T) {
	b := open(t)
	b.goTo(filepath.Join(site(t), describe), "")
	point := func(selector string) {
		at := eval[[]float64](b, `(r => [r.left + r.width / 2, r.top + r.height / 2])(document.querySelector('`+selector+`').getBoundingClientRect())`)
		b.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	}
	point(byteAt(4))
	assert.Equal(t, "request_api_key", eval[string](b, litNode))
	assert.Equal(t, "request 4,request 5", eval[string](b, litBytes))
	point("#request-1 .name")
	assert.Equal(t, "Frame", eval[string](b, litNode))
	point("h1")
	assert.Empty(t, eval[string](b, litNode))

	// What was clicked is lit again when the pointer leaves.
	b.run(click(byteAt(8)))
	point(byteAt(0))
	assert.Equal(t, "size", eval[string](b, litNode))
	point("h1")
	assert.Equal(t, "correlation_id", eval[string](b, litNode))
}

func TestKeyboard(t *testing.T) {
	b := open(t)
	b.goTo(filepath.Join(site(t), describe), "")
	focus := `(e => (e.closest('.side')?.id ?? '') + ' ' + (e.matches('b') ? 'byte ' + e.at : e.matches('.node') ? e.querySelector('.name').textContent : e.tagName))(document.activeElement)`
	b.run(chromedp.Focus(chromedp.CSS(`#request .grid b[tabindex="0"]`)))
	for _, step := range []struct {
		key, focus, lit string
	}{
		{kb.ArrowRight, "request byte 1", "size"},
		{kb.ArrowDown, "request byte 17", "IncludeAuthorizedOperations"},
		{kb.ArrowUp, "request byte 1", "size"},
		{kb.End, "request byte 15", "length"},
		{kb.Enter, "request length", "length"},
		{kb.ArrowLeft, "request GroupIds", "GroupIds"},
		{kb.ArrowLeft, "request GroupIds", "GroupIds"}, // folds
		{kb.ArrowDown, "request IncludeAuthorizedOperations", "IncludeAuthorizedOperations"},
		{kb.ArrowUp, "request GroupIds", "GroupIds"},
		{kb.ArrowRight, "request GroupIds", "GroupIds"}, // unfolds
		{kb.ArrowRight, "request length", "length"},
		{kb.Enter, "request byte 15", "length"},
		{kb.Tab, "request length", "length"},
		{kb.Home, "request ConsumerGroupDescribeRequest", "ConsumerGroupDescribeRequest"},
		{kb.End, "request tagged_fields", "tagged_fields"},
		{kb.Escape, " BODY", ""},
	} {
		b.run(chromedp.KeyEvent(step.key))
		assert.Equal(t, step.focus, strings.TrimPrefix(eval[string](b, focus), ""), "after %q", step.key)
		assert.Equal(t, step.lit, eval[string](b, litNode), "after %q", step.key)
	}
	assert.Equal(t, 1, eval[int](b, `document.querySelectorAll('#request .tree [tabindex="0"]').length`))
	faults, _ := b.done()
	assert.Empty(t, faults)
}

func TestVersions(t *testing.T) {
	b := open(t)
	b.goTo(filepath.Join(site(t), describe), "")
	assert.Equal(t, "v1", eval[string](b, `document.querySelector('.versions [aria-current]').textContent`))
	b.run(click("#changes summary"), chromedp.WaitVisible(chromedp.CSS("#changes table")))
	assert.Contains(t, eval[string](b, `document.querySelector('#changes').innerText`), "Groups[].Members[].MemberType")
	b.run(click(".versions a:first-child"), chromedp.WaitVisible(chromedp.CSS(`.versions a:first-child[aria-current]`)))
	assert.Equal(t, "ConsumerGroupDescribe v0", eval[string](b, `document.querySelector('h1').textContent`))
	b.run(click(".crumbs a"), chromedp.WaitVisible(chromedp.CSS("#q")))
	faults, _ := b.done()
	assert.Empty(t, faults)
}

func TestSearch(t *testing.T) {
	b := open(t)
	b.goTo(filepath.Join(site(t), "index.html"), "")
	shown := `[...document.querySelectorAll('tr[data-words]:not([hidden]) td:nth-child(2) a')].map(e => e.textContent).join()`
	clear := chromedp.Evaluate[chromedp.Void](`document.querySelector('#q').value = ''`)
	for _, c := range []struct{ text, want string }{
		{"69", "ConsumerGroupDescribe"},
		{"streamsgroupheart", "StreamsGroupHeartbeat"},
		{"controller quorum describe", "DescribeQuorum"},
		{"memberepoch heartbeat share", "ShareGroupHeartbeat"}, // a field
		{"nothing like it", ""},
	} {
		b.run(clear, chromedp.SendKeys(chromedp.CSS("#q"), c.text))
		assert.Equal(t, c.want, eval[string](b, shown), c.text)
	}
	b.run(clear, chromedp.SendKeys(chromedp.CSS("#q"), "69"+kb.Enter), chromedp.WaitVisible(chromedp.CSS(".tree")))
	assert.Equal(t, "ConsumerGroupDescribe v1", eval[string](b, `document.querySelector('h1').textContent`))
	faults, _ := b.done()
	assert.Empty(t, faults)
}

// A page by itself needs no other file, and secrets of a capture are not in it.
func TestLonePages(t *testing.T) {
	b := open(t)
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"sample":  {"layout", "--format", "html", "--sample", "full", "Fetch"},
		"capture": {"layout", "--format", "html", "--frame", "3", filepath.Join(root, "testdata", "pcaps", "sasl-plain.pcap")},
		"records": {"layout", "--format", "html", "--frame", "6", filepath.Join(root, "testdata", "pcaps", "produce-fetch.pcapng")},
	} {
		file := filepath.Join(dir, name+".html")
		require.NoError(t, os.WriteFile(file, kdissect(t, args...), 0o666))
		b.goTo(file, "")
		assert.True(t, eval[bool](b, `document.querySelector('.node[tabindex="0"]') !== null`), name)
		faults, files := b.done()
		assert.Empty(t, faults, name)
		assert.Equal(t, 1, files, name)
	}
}

func TestDarkAndPrint(t *testing.T) {
	b := open(t)
	b.goTo(filepath.Join(site(t), describe), "")
	paper := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](b, paper)
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	assert.NotEqual(t, light, eval[string](b, paper))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	assert.Equal(t, "rgb(255, 255, 255)", eval[string](b, paper), "print is white, whatever the screen is")
	assert.Equal(t, "none", eval[string](b, `getComputedStyle(document.querySelector('.now')).display`))
}

// The pictures of the README.
func TestPictures(t *testing.T) {
	b := open(t)
	dir := site(t)
	img := filepath.Join(root, "docs", "img")
	take := func(name string) {
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NotEmpty(t, png)
		if *update {
			require.NoError(t, os.MkdirAll(img, 0o777))
			require.NoError(t, os.WriteFile(filepath.Join(img, name), png, 0o666))
		}
		assert.FileExists(t, filepath.Join(img, name))
	}
	b.run(chromedp.EmulateViewport(1360, 640))
	b.goTo(filepath.Join(dir, describe), "")
	b.run(click("#response .grid .line:nth-child(2) b:nth-of-type(5)"),
		chromedp.Evaluate[chromedp.Void](`document.querySelector('#response').scrollIntoView()`),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 700, 20))
	assert.Equal(t, "GroupEpoch", eval[string](b, litNode))
	take("layout.png")
	b.goTo(filepath.Join(dir, "index.html"), "")
	b.run(chromedp.EmulateViewport(1360, 400), chromedp.SendKeys(chromedp.CSS("#q"), "group describe"))
	take("layout-index.png")
}
