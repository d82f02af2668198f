import { expect, test } from 'vitest'
import { seen } from '../../kit/ledger/seen.ts'
import { finish, finishedCall, NOW } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown } from './chromium.ts'
import { problemsInAllLooks } from './in-page.ts'

const CALLS = Array.from({ length: 30 }, (_, i) =>
  seen(`s${i}`, 'unanswered', {
    initiatedAt: NOW - 60 * i - 100,
    endedAt: NOW - 60 * i - 56,
    parties: { initiator: 'alice', receiver: i === 0 ? 'b'.repeat(300) : 'bob' },
  }),
)

inChromium('the search of the page', (open) => {
  test('says what became of the calls, leaves no id in the address, and violates no rule of accessibility', async () => {
    const find = () => async () => ({ calls: CALLS, filter: 'ignored', unclear: 2, isWhole: false }) as const
    const { url, noted } = await serve([shownTarget(), shownTarget({ target: 'staging' })], { auth: AUTH, find })
    const page = await open(`${url}/?zone=UTC#calls`, { httpCredentials: AUTH })
    await page.locator('#wanted-target').selectOption('staging')
    await page.getByRole('textbox', { name: 'Id', exact: true }).fill('alice')
    await page.getByRole('button', { name: 'Search' }).click()
    const lines = page.locator('#found-calls tbody tr')
    await shown(() => lines.count()).toBe(30)
    expect(await lines.nth(1).innerText()).toBe('14:10:40 UTC\taudio, to bob: rang 44s, nobody answered')
    expect(await page.locator('#found-note').innerText()).toContain('The service ignored the filter')
    expect(noted).toMatchObject([{ kind: 'calls searched', user: 'ops', target: 'staging' }])
    expect(new URL(page.url()).search + new URL(page.url()).hash).toBe('?zone=UTC#calls')
    expect(await problemsInAllLooks(page)).toEqual([])
  })

  test('says of one call what became of it, and violates no rule of accessibility', async () => {
    const find = () => async () => ({ calls: CALLS.slice(1, 2), filter: 'none', unclear: 0, isWhole: true }) as const
    const finished = { ...finish('unanswered', 3), began: NOW - 47 }
    const call = finishedCall('v1.us.a', { finish: finished, status: 'unanswered', initiatedAt: NOW - 47 })
    const history = [call, finishedCall('cw:2', { session: 'v1.us.a' })].map((call) => ({ target: 'production', call }))
    const { url } = await serve([shownTarget()], { auth: AUTH, find, history })
    const page = await open(`${url}/?zone=UTC&target=production&call_id=v1.us.a#call`, { httpCredentials: AUTH })
    await page
      .getByRole('heading', { name: 'Audio call to a user, 14:12:33 UTC: rang 44s, nobody answered.' })
      .waitFor()
    await page.getByRole('button', { name: 'Ask the service' }).click()
    await shown(() => page.locator('#found-calls tbody tr').innerText()).toBe(
      '14:10:40 UTC\taudio, from alice to bob: rang 44s, nobody answered',
    )
    if (process.env['SCREENSHOTS'] !== undefined)
      await page.screenshot({ path: `${process.env['SCREENSHOTS']}/call.png` })
    expect(await problemsInAllLooks(page)).toEqual([])
    await page.getByRole('link', { name: 'Calls at that time' }).click()
    await shown(() => page.locator('#explorer tbody tr').count()).toBe(2)
  })
})
