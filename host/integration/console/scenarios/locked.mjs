// What a locked server shows, and does not offer.
import assert from 'node:assert/strict'

const changes = /^(Grant|Withdraw|Turn on|Turn off|Disable|Enable|Set|Save|Reset|Run now|Create|Revoke|Delete|Compact|Apply now|Choose .*|Lock .*|Regenerate the vectors)$/

export default {
  async 'everything is shown, and no act of an operator is offered'(c) {
    const page = await c.open('families')
    await page.getByText('locked', { exact: true }).waitFor()
    for (const path of ['families/facts?tab=powers', 'families/facts?tab=settings', 'families/lifecycle?tab=jobs', 'families?show=posture', 'operator/keys', 'operator/storage', 'operator/quotas', 'operator/embedders']) {
      await page.goto(`${c.given.address}/console/${path}`)
      await page.locator('#content :is(.card, .list, table, .note, .empty)').first().waitFor()
      await c.settled()
      assert.equal(await page.getByRole('button', { name: changes }).count(), 0, `${path} offers ${await page.getByRole('button', { name: changes }).allInnerTexts()}`)
    }
    await page.goto(c.given.address + '/console/families?show=install')
    await page.getByText('Nothing can be installed here').waitFor()
    await page.goto(c.given.address + '/console/families?show=posture')
    await page.getByText('alcove unlock').waitFor()
  },
}
