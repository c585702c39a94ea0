// A client of OAuth, a program on the machine of the browser, asks to be let in.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

/** A client with an address of its own, at which it also has pages. */
async function client(c, pages = {}) {
  const calls = []
  let arrived
  const arrival = new Promise((resolve) => (arrived = resolve))
  const listener = createServer((request, response) => {
    const url = new URL(request.url, 'http://127.0.0.1')
    response.setHeader('Content-Type', 'text/html')
    if (url.pathname === '/callback') arrived(url.searchParams)
    calls.push(url.pathname)
    response.end(pages[url.pathname] ?? '<p>You can close this page.</p>')
  })
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address()
  const redirect = `http://127.0.0.1:${port}/callback`
  const registered = await (await fetch(c.given.address + '/register', { method: 'POST', body: JSON.stringify({ client_name: 'A program', redirect_uris: [redirect] }) })).json()
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const query = new URLSearchParams({ response_type: 'code', client_id: registered.client_id, redirect_uri: redirect, code_challenge: challenge, code_challenge_method: 'S256', state: 'mine', scope: 'read write branch' })
  c.expect(new RegExp(`another host is asked: http://(127\\.0\\.0\\.1|localhost):${port}/`), /favicon\.ico/)
  return {
    port,
    calls,
    arrival,
    address: `${c.given.address}/authorize?${query}`,
    exchange: async (code) => (await fetch(c.given.address + '/token', { method: 'POST', body: new URLSearchParams({ grant_type: 'authorization_code', code, client_id: registered.client_id, code_verifier: verifier }) })).json(),
    close: () => listener.close(),
  }
}

async function opened(c, address) {
  c.page = await c.context.newPage()
  await c.page.goto(address)
  return c.page
}

export default {
  async 'the holder of a key lets a program in, with a part of what it asks for'(c) {
    const program = await client(c)
    const page = await opened(c, program.address)
    await c.accessible('the login')
    await page.getByLabel('Your API key, or').fill(c.given.keys.ann)
    await page.getByRole('button', { name: 'Go on', exact: true }).click()
    await page.getByText('Store, change and forget memories').waitFor()
    await c.accessible('the consent')
    await page.setViewportSize({ width: 360, height: 640 })
    await c.fits('the consent')
    assert.equal(await page.getByLabel('In the namespaces').inputValue(), 'work')
    await page.getByLabel('Store, change and forget memories').uncheck()
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    const answer = await program.arrival
    assert.equal(answer.get('state'), 'mine')
    assert.equal(answer.get('iss'), c.given.address)
    const tokens = await program.exchange(answer.get('code'))
    assert.equal(tokens.scope, 'branch read')
    program.close()
  },

  async 'the operator goes on as in the console'(c) {
    await c.open()
    const program = await client(c)
    const page = await opened(c, program.address)
    await page.getByRole('button', { name: 'Go on as in the console' }).click()
    await page.getByText('As operator').waitFor()
    assert.equal(await page.getByLabel('In the namespaces').inputValue(), '*')
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    const tokens = await program.exchange((await program.arrival).get('code'))
    assert.equal(tokens.scope, 'branch read write')
    program.close()
  },

  async 'who has no session of the console is told so'(c) {
    c.expect(/401/)
    const program = await client(c)
    const page = await opened(c, program.address)
    await page.getByRole('button', { name: 'Go on as in the console' }).click()
    await page.getByRole('alert').getByText('log in first').waitFor()
    await page.getByLabel('Your API key, or').fill('alcove_key_000000000000_wrong')
    await page.getByRole('button', { name: 'Go on', exact: true }).click()
    await page.getByRole('alert').getByText('not known here').waitFor()
    program.close()
  },

  async 'what is not allowed is told to the program'(c) {
    const program = await client(c)
    const page = await opened(c, program.address)
    await page.getByLabel('Your API key, or').fill(c.given.keys.ann)
    await page.getByRole('button', { name: 'Go on', exact: true }).click()
    await page.getByRole('button', { name: 'Do not allow' }).click()
    const answer = await program.arrival
    assert.equal(answer.get('error'), 'access_denied')
    assert.equal(answer.get('code'), null)
    program.close()
  },

  async 'a frame shows nothing of the page'(c) {
    c.expect(/frame/i, /X-Frame-Options/, /refused to connect|ERR_BLOCKED_BY_RESPONSE/)
    const framing = {}
    const program = await client(c, framing)
    framing['/framing'] = `<iframe src="${program.address.replaceAll('&', '&amp;')}" width="600" height="600"></iframe>`
    const page = await opened(c, `http://127.0.0.1:${program.port}/framing`)
    await page.waitForLoadState('networkidle')
    const frame = page.frames()[1]
    assert.ok(!frame || !(await frame.content()).includes('asks for access'), 'the frame has the page')
    program.close()
  },

  async 'a form of another site decides nothing'(c) {
    c.expect(/403/)
    const posting = { '/posting': `<form method="post" action="${c.given.address}/console/authorize"><input name="decision" value="allow"><button>Win</button></form>` }
    const program = await client(c, posting)
    await opened(c, program.address) // so that there is a cookie
    const page = await opened(c, `http://127.0.0.1:${program.port}/posting`)
    await page.getByRole('button', { name: 'Win' }).click()
    await page.getByText(/may not use this server|own page may send this/).waitFor()
    assert.ok(!program.calls.includes('/callback'))
    program.close()
  },
}
