// What the operator sees of families and does to them.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

const power = (page, name) => page.locator('li.power', { hasText: name })

/** Answers the question that is asked. */
async function answer(page, go) {
  await page.locator('dialog').getByRole('button', { name: go, exact: true }).click()
}

/** A module with a manifest in it, as alcove family pack makes it. */
async function packed(manifest) {
  const module = await readFile(new URL('../../../sandbox/testdata/guests/c.wasm', import.meta.url))
  const length = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...length(n >> 7)])
  const name = Buffer.from('alcove.manifest')
  const section = Buffer.concat([Buffer.from(length(name.length)), name, Buffer.from(JSON.stringify(manifest))])
  return Buffer.concat([module, Buffer.from([0, ...length(section.length)]), section])
}

export default {
  async 'all families are listed, and found by a word'(c) {
    const page = await c.open('families')
    await page.getByRole('link', { name: 'governance' }).waitFor()
    await page.getByRole('searchbox').fill('duplicate wrong nothing')
    await page.getByRole('heading', { name: 'No family' }).waitFor()
    await page.getByRole('searchbox').fill('say the same')
    await page.getByRole('link', { name: 'consolidation' }).waitFor()
    assert.equal(await page.locator('.families > li').count(), 1)
  },

  async 'a power is withdrawn and granted, after the change of the lock file was shown'(c) {
    const page = await c.open('families/consolidation?tab=powers')
    const write = power(page, 'memory.write')
    await write.getByText('granted', { exact: false }).first().waitFor()
    await write.getByRole('button', { name: 'Withdraw' }).click()
    assert.match(await page.locator('dialog').innerText(), /may no longer store, change and delete memories/)
    assert.match(await page.locator('dialog .difference').textContent(), /denied/)
    await answer(page, 'Withdraw')
    await write.getByText('withdrawn').waitFor()
    await write.getByRole('button', { name: 'Grant' }).click()
    await answer(page, 'Grant')
    await write.getByRole('button', { name: 'Withdraw' }).waitFor()
  },

  async 'a question that is not answered changes nothing'(c) {
    const page = await c.open('families/consolidation')
    await page.getByRole('button', { name: 'Disable' }).click()
    await page.locator('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Disable' }).waitFor()
  },

  async 'a setting is changed, undone, and rolled back by its history'(c) {
    const page = await c.open('families/consolidation?tab=settings')
    const enabled = page.locator('.list > li', { hasText: 'Whether the scheduled job does something' })
    await enabled.getByLabel('enabled').selectOption('true')
    await enabled.getByRole('button', { name: 'Save' }).click()
    await answer(page, 'Save')
    await enabled.getByText('family:consolidation').waitFor()
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await enabled.getByText('family:consolidation').waitFor({ state: 'detached' })
    await enabled.getByRole('button', { name: 'History' }).click()
    await enabled.getByRole('button', { name: 'Roll back to this' }).first().click()
    await answer(page, 'Roll back to this')
    await enabled.getByText('family:consolidation').waitFor()
    assert.equal(await enabled.getByLabel('enabled').inputValue(), 'true')
  },

  async 'a value that the schema forbids is refused in the words of the server'(c) {
    c.expect(/422|400/)
    const page = await c.open('families/consolidation?tab=settings')
    const namespaces = page.locator('.list > li', { hasText: 'Namespaces of the scheduled job' })
    await namespaces.getByLabel('namespaces').fill('[1]')
    await namespaces.getByRole('button', { name: 'Save' }).click()
    await answer(page, 'Save')
    await page.getByRole('status').getByText(/nothing was changed: namespaces/).waitFor()
  },

  async 'what a family wrote is taken back, and that is undone'(c) {
    const page = await c.open('families')
    await c.call('memory_store_fact', { text: 'The quay has eleven bollards' })
    const stored = (await c.call('memory_search', { query: 'bollards' })).results.length
    await page.goto(c.given.address + '/console/families/facts?tab=undo')
    await page.getByRole('button', { name: /^Revert \d/ }).click()
    await answer(page, 'Revert')
    await page.getByRole('status').getByText('as before').waitFor()
    assert.equal((await c.call('memory_search', { query: 'bollards' })).results.length, stored - 1)
    await page.getByRole('button', { name: 'Undo this' }).click()
    await page.getByRole('status').getByText('is restored').waitFor()
    assert.equal((await c.call('memory_search', { query: 'bollards' })).results.length, stored)
  },

  async 'the log shows requests as they end, and tools what they cost'(c) {
    const page = await c.open('families/facts?tab=log')
    await page.getByRole('heading', { name: 'Nothing yet' }).waitFor()
    await page.getByLabel('Show operations of the host').check()
    for (let tries = 0; tries < 20 && (await page.locator('ol.log li').count()) === 0; tries++) {
      await c.call('memory_recent', {})
      await page.waitForTimeout(250)
    }
    await page.locator('ol.log').getByText('memory_recent ended well').first().waitFor()
    await page.getByRole('link', { name: 'Tools', exact: true }).click()
    await page.locator('tr', { hasText: 'memory_recent' }).locator('td').nth(1).getByText(/^[1-9]/).waitFor()
  },

  async 'a job of a schedule runs when it is told to'(c) {
    const page = await c.open('families/lifecycle?tab=jobs')
    await page.locator('li', { hasText: 'Archives memories that have expired' }).getByRole('button', { name: 'Run now' }).click()
    await answer(page, 'Run now')
    await page.locator('h2:has-text("Queue") + ul, h2:has-text("Queue") ~ ul').getByText('gc').first().waitFor()
  },

  async 'a change that waits is shown and approved'(c) {
    const page = await c.open('families')
    await c.call('memory_store', { namespace: 'board', key: 'rules', value: 'A person approves each change' })
    await c.call('memory_namespace_set_standard', { namespace: 'board', id: 'rules', governance: { write: 'approve', approver: 'human' } })
    await c.call('memory_store', { namespace: 'board', key: 'fee', value: 'The fee is <b>twelve</b> guilders' })
    await page.goto(c.given.address + '/console/families?show=waiting')
    const change = page.locator('.list > li', { hasText: 'The fee is <b>twelve</b> guilders' })
    await change.getByRole('button', { name: 'Approve' }).click()
    await answer(page, 'Approve')
    await page.getByRole('status').getByText('The change is in the memory').waitFor()
    assert.equal((await c.call('memory_recall', { namespace: 'board', key: 'fee' })).value, 'The fee is <b>twelve</b> guilders')
  },

  async 'a family from a file is installed, is text whatever it says, and is removed'(c) {
    const page = await c.open('families?show=install')
    const hostile = '<img src=x onerror="document.title=1"> \u202eevil\u202c \u0007'
    const manifest = {
      abi: 1,
      name: 'harbour',
      version: '1.0.0',
      description: hostile,
      docs: hostile,
      tools: [{ name: 'harbour_tide', description: hostile, input_schema: { type: 'object' } }],
      capabilities: [{ name: 'memory.read', scope: ['*'], reason: hostile }],
      config: [{ key: 'unit', description: hostile, default: hostile }],
    }
    await page.getByLabel('Module').setInputFiles({ name: 'harbour.wasm', mimeType: 'application/wasm', buffer: await packed(manifest) })
    await page.getByRole('button', { name: 'Show what changes' }).click()
    assert.match(await page.locator('dialog .difference').textContent(), /"harbour": \{/)
    await answer(page, 'Install')
    await page.waitForURL(/families$/)
    for (const part of ['', '?tab=powers', '?tab=settings', '?tab=tools']) {
      await page.goto(c.given.address + '/console/families/harbour' + part)
      await c.settled()
      const text = await page.locator('#content').innerText()
      assert.ok(text.includes('<img src=x'), `${part}: the markup is not shown as text: ${text}`)
      assert.ok(text.includes('\u2039U+202E\u203aevil') && !text.includes('\u202e'), `${part}: characters that turn the direction are not shown`)
      assert.equal(await page.locator('#content img').count(), 0)
    }
    await page.getByRole('button', { name: 'Remove' }).click()
    await answer(page, 'Remove')
    await page.getByRole('link', { name: 'governance' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'harbour' }).count(), 0)
  },

  async 'the posture is changed, and the families say so'(c) {
    const page = await c.open('families?show=posture')
    await page.getByRole('button', { name: 'Choose careful' }).click()
    assert.match(await page.locator('dialog').innerText(), /consolidation: -memory\.write|ranking: -hook rank/)
    await answer(page, 'Choose careful')
    await page.locator('.card', { hasText: 'For a memory that others use' }).getByText('in force').waitFor()
    await page.getByRole('button', { name: 'Choose personal' }).click()
    await answer(page, 'Choose personal')
    await page.locator('.card', { hasText: 'For a memory of your own' }).getByText('in force').waitFor()
  },

  async 'in the past nothing is offered'(c) {
    const page = await c.open('families/consolidation?tab=powers&at=v1')
    await power(page, 'memory.read').waitFor()
    assert.equal(await page.getByRole('button', { name: /Withdraw|Grant|Disable|Set$/ }).count(), 0)
  },

  async 'each part can be used with a screen reader, and fits a phone'(c) {
    const page = await c.open('families')
    await page.setViewportSize({ width: 360, height: 740 })
    for (const part of ['?show=waiting', '?show=posture', '?show=install', ...['', '?tab=powers', '?tab=settings', '?tab=tools', '?tab=log', '?tab=undo'].map((tab) => '/facts' + tab), '/lifecycle?tab=jobs']) {
      await page.goto(c.given.address + '/console/families' + part)
      await page.locator('h1').waitFor()
      await c.settled()
      await c.fits(part)
      await c.accessible(part)
    }
  },
}
