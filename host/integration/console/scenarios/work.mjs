// Checkpoints, which agents go on from, and the rooms in which they talk.
import assert from 'node:assert/strict'

export default {
  async 'a checkpoint shows what changed since, and its facts are restored and that is undone'(c) {
    const page = await c.open('sessions/checkpoints')
    await page.getByRole('link', { name: 'before the storm' }).click()
    await page.getByRole('heading', { name: 'before the storm' }).waitFor()
    await page.getByText('2 of 3 facts changed since.').waitFor()
    assert.match(await page.locator('.list > li', { hasText: 'plan' }).innerText(), /three[^]*four/)
    await page.locator('.list > li', { hasText: 'buoy' }).getByText('forgotten since').waitFor()
    await c.accessible('a checkpoint')
    await page.getByRole('button', { name: 'Restore 2 facts' }).click()
    const question = page.getByRole('dialog', { name: 'Restore the facts of before the storm?' })
    assert.match(await question.innerText(), /2 facts of the branch default[^]*plan/)
    await question.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('2 facts are as at the checkpoint.').waitFor()
    const found = async (key) => c.call('memory_recall', { key, namespace: 'work', verbose: true })
    assert.deepEqual([(await found('plan')).value, (await found('plan')).tags, (await found('buoy')).value], ['three cranes', ['harbour'], 'the buoy is red'])
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 of 3 facts changed since.').waitFor()
    assert.deepEqual([(await found('plan')).value, (await found('buoy')).found], ['four cranes', false])
  },

  async 'the memory is looked at as it was at a checkpoint'(c) {
    const page = await c.open('sessions/checkpoints')
    await page.getByRole('link', { name: 'before the storm' }).click()
    await page.getByRole('button', { name: 'Look at the memory as it was' }).click()
    await page.getByText(/You see the memory as it was/).waitFor()
    await page.getByRole('link', { name: 'buoy' }).waitFor()
  },

  async 'a room shows who is there and what was said, and takes what one says'(c) {
    const page = await c.open('sessions/rooms', c.given.keys.bob)
    await page.getByText('I see to the ropes.').waitFor() // the last message
    await page.getByRole('link', { name: 'work' }).click()
    await page.locator('.said', { hasText: 'The storm is near.' }).getByText('ann').waitFor()
    await page.locator('.said', { hasText: 'I see to the ropes.' }).getByText('bob').waitFor()
    await page.getByLabel('Here:').getByText('ann').waitFor()
    await page.getByLabel('Say something').fill('The buoy is lit.')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.said', { hasText: 'The buoy is lit.' }).getByText('bob').waitFor()
    await c.accessible('a room')
    await page.setViewportSize({ width: 360, height: 740 })
    await c.fits('a room')
  },

  async 'who may only read is offered neither a restoring nor a word'(c) {
    const page = await c.open('sessions/rooms/work', c.given.keys.reader)
    await page.getByText('The storm is near.').waitFor()
    assert.equal(await page.getByLabel('Say something').count(), 0)
    await page.goto(c.given.address + '/console/sessions/checkpoints')
    await page.getByRole('link', { name: 'before the storm' }).click()
    await page.getByText('2 of 3 facts changed since.').waitFor()
    assert.equal(await page.getByRole('button', { name: /^Restore/ }).count(), 0)
  },
}
