import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A browser with the console in it, for one scenario. */
export class Console {
  #faults = []
  #expected = []

  /** given: what the Go test says of the server. */
  constructor(context, given) {
    Object.assign(this, { context, given })
    context.on('request', (r) => {
      const url = new URL(r.url())
      if (/^https?:$|^wss?:$/.test(url.protocol) && url.host !== new URL(given.address).host) this.#faults.push(`another host is asked: ${r.url()}`)
    })
    context.on('weberror', (e) => this.#faults.push(`an error in the page: ${e.error().stack}`))
    context.on('console', (m) => m.type() === 'error' && this.#faults.push(`the console of the browser: ${m.text()} ${m.location().url}`))
  }

  /** Opens a page without a session. */
  async blank(path = '') {
    this.page = await this.context.newPage()
    await this.page.goto(this.given.address + '/console/' + path)
    return this.page
  }

  /** Opens a page as whom the test says, at a path below /console/. */
  async open(path = '', key = this.given.key) {
    const login = JSON.stringify(key ? { key } : { ticket: await this.ticket() })
    this.expect(/favicon\.ico/) // which the browser wants for a page that is a picture
    const page = await this.blank('icon.svg') // a page without a program
    const status = await page.evaluate(async (body) => (await fetch('/console/api/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).status, login)
    assert.equal(status, 200, 'the login')
    await page.goto(this.given.address + '/console/' + path)
    await page.locator('#content').waitFor()
    await this.settled()
    return page
  }

  /** A ticket of the operator, as `alcove console` asks for one. */
  async ticket() {
    const answer = await new Promise((resolve, reject) => {
      const ask = request({ socketPath: this.given.admin, method: 'POST', path: '/console-ticket' }, (r) => text(r).then(resolve, reject))
      ask.on('error', reject)
      ask.end('{}')
    })
    return new URL(JSON.parse(answer).address).hash.replace('#ticket=', '')
  }

  /** The address of a place in the application. */
  address(...names) {
    const part = (s) => encodeURIComponent(s.replace(/[%/]/g, encodeURIComponent))
    return `${this.given.address}/console/${names.map(part).join('/')}`
  }

  /** Waits until nothing is being read. */
  async settled() {
    await this.page.waitForFunction(() => !document.querySelector('.busy, [aria-busy="true"]'))
  }

  /** Says that errors which match are part of the scenario. */
  expect(...patterns) {
    this.#expected.push(...patterns)
  }

  /** Calls a tool as the page does, past its screens. */
  async call(method, params = {}) {
    const answer = await this.page.evaluate(
      async ([method, params]) => {
        const session = await (await fetch('/console/api/session')).json()
        const r = await fetch('/console/api/operation/' + method, { method: 'POST', headers: { 'Content-Type': 'application/json', 'Alcove-Console': session.csrf }, body: JSON.stringify(params) })
        return r.json()
      },
      [method, params],
    )
    assert.ok(!answer.error, `${method}: ${JSON.stringify(answer.error)}`)
    return answer.result
  }

  /** Asserts that people with disabilities can use the page, as far as a program can tell: no serious finding of axe. */
  async accessible(what) {
    // The policy of the page forbids scripts from elsewhere, and the browser's own door ignores it.
    await this.page.evaluate(axe)
    const { violations } = await this.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
    const serious = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
    assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')}`), [], `${what}: findings of axe`)
  }

  /** Asserts that nothing is wider than the window. */
  async fits(what) {
    const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    assert.ok(wide <= 0, `${what}: the page is ${wide} px wider than the window of ${this.page.viewportSize().width}`)
  }

  /** Asserts that nothing went wrong unnoticed. */
  verify() {
    const faults = this.#faults.filter((f) => !this.#expected.some((p) => p.test(f)))
    assert.deepEqual(faults, [])
  }

  /** What the page shows, for the report of a failure. */
  async describe() {
    if (!this.page || this.page.isClosed()) return ''
    const text = await this.page.locator('body').innerText().catch((e) => String(e))
    return `${this.page.url()}\n${text.slice(0, 1500)}\n${this.#faults.join('\n')}`
  }
}
