import { expect, test } from 'vitest'
import { firing, RATIO_RULE } from '../../kit/metrics/hand-made-target.ts'
import { AUTH, serve, shownTarget } from '../../kit/web/serve.ts'
import { inChromium, shown, type Open } from './chromium.ts'
import { problemsInAllLooks } from './in-page.ts'

async function openAlert(open: Open, { auth }: { auth?: typeof AUTH } = {}) {
  const target = shownTarget({ rules: [RATIO_RULE], alerts: [firing(RATIO_RULE)] })
  const { url, noted } = await serve([target], auth && { auth })
  const page = await open(url, auth && { httpCredentials: { ...auth, send: 'always' } })
  await page.getByRole('link', { name: 'Silence HighFailureRate, production' }).click()
  return { page, noted }
}

inChromium('the silences of the page', (open) => {
  test('are added from an alert, edited and expired by keyboard, and listed afterwards', async () => {
    const { page, noted } = await openAlert(open, { auth: AUTH })
    const note = () => page.locator('#silencing-note').innerText()
    await page.waitForURL(/\?target=production&alert=HighFailureRate#silences$/)
    await shown(note).toBe('1 alert that fires now matches.')
    const alert = page.getByLabel('Alert', { exact: true })
    await alert.fill('=~Low.*')
    await shown(note).toBe('Nothing matches: no rule matches =~Low.*; there is: HighFailureRate.')
    // The refusal is on the console of the browser.
    await shown(async () => page.takeComplaints()).toEqual([expect.stringContaining('400')])
    await alert.fill('=~High.*')
    await page.getByLabel('How long').selectOption('4h')
    await page.getByLabel('Reason').fill('a carrier outage')
    await page.getByLabel('Reason').press('Enter')
    await shown(note).toBe('Silence 1 was added.')
    const row = page.locator('#active-silences tbody tr')
    await shown(() => row.innerText()).toMatch(
      /^alert=~High\.\*, target=production silence 1\s.*18:13:20\s+ops\s+a carrier/,
    )
    await shown(() => alert.inputValue()).toBe('')

    await page.getByRole('link', { name: 'Edit silence 1' }).focus()
    await page.keyboard.press('ArrowRight')
    await shown(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Expire silence 1')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await shown(() => page.getByRole('heading', { name: 'Edit silence 1' }).count()).toBe(1)
    await page.getByLabel('How long').selectOption('until')
    await page.getByLabel('Until (UTC)').fill('2026-09-22T08:00')
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await shown(note).toBe('Silence 1 was edited.')
    // The clock of the server stands still, and the page's does not.
    await shown(() => row.innerText()).toMatch(/2026-09-22 (?:07:5\d|08:00):\d/)

    await page.getByRole('button', { name: 'Expire silence 1' }).press('Enter')
    await shown(note).toBe('Silence 1 expired.')
    await page.getByText('No silence is active.').waitFor()
    await page.getByText('1 in the last 7 days').click()
    await shown(() => page.locator('#expired-silences tbody tr').innerText()).toContain('a carrier outage')
    expect(noted.map(({ kind }) => kind)).toEqual(['silence added', 'silence edited', 'silence expired'])
  })

  test('need http.auth; without it there is the command', async () => {
    const { page } = await openAlert(open)
    await page.getByText('callwatch silence add --match alert=HighFailureRate --match target=production').waitFor()
    expect(await page.getByRole('button', { name: /^Silence/ }).count()).toBe(0)
    await page.setViewportSize({ width: 390, height: 844 })
    await shown(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy' }).click()
    await shown(() => page.locator('#silencing-note').innerText()).toBe('It was copied.')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'callwatch silence add --match alert=HighFailureRate --match target=production --for 1h --reason REASON',
    )
  })

  test('are accessible, in light and dark, on a narrow screen as well', async () => {
    const { page } = await openAlert(open, { auth: AUTH })
    await page.getByLabel('Reason').fill(`maintenance of ${'x'.repeat(100)}`)
    for (const id of [1, 2]) {
      await page.getByLabel('Alert', { exact: true }).fill('HighFailureRate')
      await page.getByRole('button', { name: 'Silence 1 alert for 1 hour' }).click()
      await page.getByRole('button', { name: `Expire silence ${id}` }).waitFor()
    }
    await page.getByRole('button', { name: 'Expire silence 1' }).click()
    await page.getByText('1 in the last 7 days').click()
    await page.getByRole('link', { name: 'Edit silence 2' }).click()
    await page.getByLabel('How long').selectOption('until')
    expect(await problemsInAllLooks(page)).toEqual([])
  })
})
