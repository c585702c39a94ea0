import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { build } from 'esbuild'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const sandbox = await readFile(new URL('mcphost/sandbox.html', import.meta.url), 'utf8')

// What the specification has hosts set for a view that asks for no domains. A frame with a page in srcdoc inherits it.
const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'none'; img-src 'self' data:; font-src 'self'; media-src 'self' data:; frame-src 'none'; object-src 'none'; base-uri 'self'"

/** The client's page as a script. */
const script = async () =>
  (await build({ entryPoints: [new URL('mcphost/page.js', import.meta.url).pathname], bundle: true, minify: true, format: 'iife', platform: 'browser', write: false, logLevel: 'error' })).outputFiles[0].text
let built

/** An MCP client with views, in a page of a browser. c is the Console of a scenario, which watches the browser. */
export class Host {
  static async open(c, options = {}) {
    built ??= script()
    const page = await c.context.newPage()
    c.page = page
    c.expect(/sandbox\.test/)
    const at = c.given.address + '/console/mcp-host.html' // the server admits no pages of other origins
    const html = `<!doctype html><html lang="en"><title>host</title><body><script src="mcp-host.js"></script></body></html>`
    await page.route(at, (r) => r.fulfill({ contentType: 'text/html', body: html }))
    await page.route('**/mcp-host.js', async (r) => r.fulfill({ contentType: 'text/javascript', body: await built }))
    await page.route('http://sandbox.test/', (r) => r.fulfill({ contentType: 'text/html', body: sandbox, headers: { 'Content-Security-Policy': policy } }))
    await page.route('**/favicon.ico', (r) => r.fulfill({ status: 204 }))
    await page.goto(at)
    const h = new Host()
    Object.assign(h, { c, page, ...(await page.evaluate((o) => window.host.connect(o), { key: c.given.key, ...options })) })
    return h
  }

  /** Has the model call a tool, and shows the view of the answer. */
  async show(name, args = {}, more = {}) {
    this.shown = await this.page.evaluate((o) => window.host.show(o), { name, args, ...more })
    this.view = this.page.frameLocator('iframe').frameLocator('iframe')
    await this.view.locator('main').waitFor()
    await this.settled()
    return this.view
  }

  /** The frame in which the view is. */
  frame() {
    return this.page.frames().find((f) => f.parentFrame()?.parentFrame())
  }

  async settled() {
    await this.frame().waitForFunction(() => !document.querySelector('.busy, [aria-busy="true"]'))
  }

  /** Calls a tool past the view. */
  async call(name, args = {}) {
    const r = await this.page.evaluate(([n, a]) => window.host.call(n, a), [name, args])
    assert.ok(!r.isError, `${name}: ${r.content[0].text}`)
    return r.structuredContent
  }

  /** Asserts that axe has no serious finding in the view. */
  async accessible(what) {
    const frame = this.frame()
    await frame.evaluate(axe)
    const { violations } = await frame.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
    const serious = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
    assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')}`), [], `${what}: findings of axe`)
  }

  /** Waits until the frame is as high as the view needs. */
  async fitted() {
    for (;;) {
      const { height } = await this.page.locator('iframe').boundingBox()
      if (Math.abs(height - (await this.frame().evaluate(() => document.documentElement.scrollHeight))) <= 1) return
      await this.page.waitForTimeout(50)
    }
  }

  /** Asserts that nothing of the view is wider than its frame, at a width. */
  async fits(width, what) {
    await this.page.evaluate((px) => window.host.width(px), width)
    const wide = await this.frame().evaluate(async (px) => {
      while (innerWidth !== px) await new Promise(requestAnimationFrame)
      return document.documentElement.scrollWidth - document.documentElement.clientWidth
    }, width)
    assert.ok(wide <= 0, `${what}: the view is ${wide} px wider than its frame of ${width}`)
  }
}
