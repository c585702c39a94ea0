// What people do every day, at 100,000 memories.
import assert from 'node:assert/strict'

export default {
  async 'a search is typed, narrowed by facets, and one memory opened'(c) {
    const page = await c.open('memories')
    await page.getByText('100,000 memories').first().waitFor()
    await page.getByRole('searchbox').pressSequentially('harbour crane', { delay: 60 })
    await page.waitForURL(/q=harbour/)
    await page.locator('a.hit').first().waitFor()
    await c.settled()
    for (const name of ['decision', 'harbour']) {
      await page.getByRole('checkbox', { name: new RegExp(`^${name}`) }).first().check()
      await c.settled()
    }
    await page.waitForURL(/tag=harbour/)
    await page.locator('a.hit').first().click()
    await page.getByRole('heading', { level: 1, name: /^note\/\d+$/ }).waitFor()
    assert.match(await page.locator('#content').innerText(), /decision[^]*harbour/)
    await page.goBack()
    await page.locator('a.hit').first().waitFor()
    assert.match(page.url(), /q=harbour/)
  },

  async 'a memory is edited, and found by its new words at once'(c) {
    const page = await c.open('memories/default/note%252F77777')
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Value', { exact: true }).fill('the quokka sleeps on the quay')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved').waitFor()
    await page.goto(c.given.address + '/console/memories?q=quokka')
    await page.getByRole('link', { name: 'note/77777' }).waitFor()
  },

  async 'the slider goes through time, and the page shows the past'(c) {
    const page = await c.open('time')
    await page.getByText(/100,0\d\d changes/).first().waitFor()
    const slider = page.getByRole('slider', { name: 'The page shows' })
    await slider.press('PageDown')
    await page.getByText(/You see the memory as it was/).waitFor()
    await slider.press('Home')
    await c.settled()
    await page.locator('nav a.place', { hasText: 'Memories' }).click()
    await page.locator('a.hit').first().waitFor()
    const text = await page.locator('#content').innerText()
    assert.doesNotMatch(text, /100,000 memories/, 'the past is the present')
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByText('100,000 memories').first().waitFor()
  },
}
