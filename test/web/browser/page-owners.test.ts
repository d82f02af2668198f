import { expect, test } from 'vitest'
import { LOOKED } from '../../metrics/hand-made-target.ts'
import { serve, watchedTarget } from '../serve.ts'
import { inChromium, type Opened } from './chromium.ts'
import { contrasts, nameless } from './in-page.ts'

/** Targets that daemons watch by these names, or nobody. */
async function owned(owners: Readonly<Record<string, string | undefined>>) {
  const targets = Object.entries(owners).map(([target, owner]) => {
    const watched = watchedTarget({ target, facts: LOOKED, ...(owner === undefined && { problem: 'nobody looked' }) })
    return { ...watched, owner: () => owner, isOwn: () => false }
  })
  const { url } = await serve(targets)
  return `${url}/`
}

async function ownersOn(page: Opened): Promise<string[]> {
  await page.locator('#targets [data-target]').first().waitFor()
  return page.locator('#targets [data-target] th').allInnerTexts()
}

inChromium('who watches a target', (open) => {
  test('stands below its name where several daemons share the targets, and so does that nobody does', async () => {
    const page = await open(await owned({ production: 'a7, process 1', staging: 'b2, process 1', test: undefined }))
    expect((await ownersOn(page)).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      'production watched by a7, process 1',
      'staging watched by b2, process 1',
      'test watched by nobody',
    ])
    // Also where only that one is shown.
    await page.getByRole('combobox', { name: 'Target' }).selectOption('test')
    await page.waitForFunction(`document.querySelectorAll('#targets [data-target]').length === 1`)
    expect(await page.locator('[data-target="test"] [data-cell="owner"]').innerText()).toBe('watched by nobody')
    expect(await nameless(page)).toEqual([])
    const faint = (await contrasts(page)).filter(({ contrast }) => contrast < 4.5)
    expect(faint).toEqual([])
  })

  test('is not known while the store is away, which stands above what was known last', async () => {
    const away = 'the database db1 cannot be reached'
    const { url } = await serve([watchedTarget({ facts: LOOKED, problem: away, lookAge: 900 })], [], undefined, away)
    const page = await open(`${url}/`)
    await page.locator('#targets [data-target]').first().waitFor()
    const banner = await page.locator('.banner li').allInnerTexts()
    expect(banner.map((text) => text.trim())).toEqual([
      'The database db1 cannot be reached.',
      expect.stringMatching(/^production: no good poll since [^.]+ UTC\. \(last good poll 15 min\D* ago\)$/),
    ])
    expect(page.takeComplaints().filter((complaint) => !complaint.includes('503'))).toEqual([])
  })

  test('is not said of a daemon alone', async () => {
    const page = await open(await owned({ production: undefined }))
    expect(await ownersOn(page)).toEqual(['production'])
  })
})
