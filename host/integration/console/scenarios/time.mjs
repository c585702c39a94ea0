import assert from 'node:assert/strict'

export default {
  async 'a moment is chosen by keyboard, and the whole page shows it'(c) {
    const page = await c.open('time')
    const slider = page.getByRole('slider', { name: 'The page shows' })
    await slider.press('Home')
    await page.getByText(/You see the memory as it was/).waitFor()
    await page.getByRole('button', { name: 'Later change' }).click()
    await c.settled()
    await page.locator('nav a.place', { hasText: 'Memories' }).click()
    await page.getByRole('link', { name: 'tide' }).click()
    await page.getByText('low at six').first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0, 'the past can be edited')
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByText('high at noon').first().waitFor()
  },

  async 'what changed since a moment is listed, word by word'(c) {
    const page = await c.open('time?since=' + new Date().toISOString())
    await c.call('memory_forget', { key: 'buoy' })
    await c.call('memory_store', { key: 'tide', value: 'high at one' })
    await page.reload()
    await page.getByRole('heading', { name: 'What changed between these moments' }).waitFor()
    await c.settled()
    const said = await page.locator('#content').innerText()
    assert.match(said, /forgotten\s+buoy/)
    assert.match(said, /changed\s+tide[^]*noon[^]*one/)
    await c.accessible('what changed')
  },
}
