import assert from 'node:assert/strict'

export default {
  async 'many differences are shown page by page, and so is what a merge would change'(c) {
    const page = await c.open(`branches/${encodeURIComponent('try%2Fmany')}`)
    const more = page.getByRole('button', { name: 'Show more differences' })
    const all = async () => {
      for (const shown of [50, 100]) {
        await page.waitForFunction((n) => document.querySelectorAll('.difference').length === n, shown)
        await more.click()
      }
      await more.waitFor({ state: 'detached' })
      assert.equal(await page.locator('.difference', { hasText: 'plank/' }).count(), 120)
    }
    await page.getByText(/has 120 memories that/).waitFor()
    await all()
    await page.getByRole('link', { name: 'Merge', exact: true }).click()
    await page.getByText('The merge would change 120 keys').waitFor()
    await all()
  },

  async 'a branch is forked, changed, compared and merged'(c) {
    const page = await c.open('branches/default')
    await page.getByText('Fork default').click()
    await page.getByLabel('Name of the new branch').fill('try/cranes')
    await page.getByRole('button', { name: 'Fork', exact: true }).click()
    await page.getByText('try/cranes starts from default.').waitFor()
    await c.call('memory_store', { key: 'plan', value: 'three cranes', branch: 'try/cranes' })
    await page.goto(c.address('branches', 'try/cranes'))
    await page.getByRole('heading', { name: 'try/cranes' }).waitFor()
    assert.match(await page.locator('.difference').first().innerText(), /plan[^]*three/)
    await page.getByRole('link', { name: 'Merge', exact: true }).click()
    await page.getByRole('button', { name: 'Merge try/cranes into default' }).click()
    const question = page.getByRole('dialog', { name: 'Merge try/cranes into default?' })
    assert.match(await question.innerText(), /1 key of default will change/)
    await question.getByRole('button', { name: 'Merge' }).click()
    await page.getByText('There is nothing to merge.').waitFor()
    assert.equal((await c.call('memory_recall', { key: 'plan' })).value, 'three cranes')
  },

  async 'a conflict stops a merge until it is decided'(c) {
    const page = await c.open(`branches/${encodeURIComponent('try%2Fpier')}/merge`)
    await page.getByText(/1 conflict stops the merge/).waitFor()
    const merge = page.getByRole('button', { name: 'Merge try/pier into default' })
    assert.ok(await merge.isDisabled())
    await page.getByLabel('another value').check()
    await page.getByLabel('The value to take').fill('a pier of steel')
    await page.getByText(/would change 1 key/).waitFor()
    await c.accessible('a conflict')
    await merge.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
    await page.getByText('There is nothing to merge.').waitFor()
    assert.equal((await c.call('memory_recall', { key: 'pier' })).value, 'a pier of steel')
  },

  async 'a branch is deleted after it was said what is lost, and restored'(c) {
    const page = await c.open(`branches/${encodeURIComponent('try%2Fgone')}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete try/gone?' })
    assert.match(await question.innerText(), /1 change[^]*only here/)
    await question.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('try/gone is deleted.').waitFor()
    await page.getByRole('status').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('try/gone is restored.').waitFor()
    assert.equal((await c.call('memory_recall', { key: 'only here', branch: 'try/gone' })).value, 'of this branch')
  },

  async 'what a family proposes is accepted as it was seen'(c) {
    const page = await c.open('branches')
    assert.equal((await c.call('memory_search', { query: 'kumquat', state: 'archived' })).total, 0)
    await page.getByRole('heading', { name: 'Waiting for a decision' }).waitFor()
    await page.getByRole('link', { name: /^proposal/ }).first().click()
    await page.getByRole('button', { name: /^Merge proposal/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
    await page.getByText('There is nothing to merge.').waitFor()
    assert.equal((await c.call('memory_search', { query: 'kumquat', state: 'archived' })).total, 1)
  },
}
