import { expect, test } from 'vitest'
import { nameOf } from '../../../src/alerts/alert.ts'
import type { Suppression } from '../../../src/alerts/episode.ts'
import { NOW } from '../../kit/metrics/hand-made-target.ts'
import { serve } from '../../kit/web/serve.ts'
import { inChromium, type Opened, shown, UNTIL_UNDISTURBED } from './chromium.ts'
import { contrasts, graphicContrasts, layoutShift } from './in-page.ts'
import { incidentTargets, thirtyTargets } from './thirty-targets.ts'

/** The names of the rows of a list, in their order. */
const namesIn = (page: Opened, list: string) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('${list}')].map(({ textContent }) => textContent.trim())`)

inChromium('the page amid an incident on 295 of 300 targets', (open) => {
  test('says on the first screen of a phone what is wrong, and the first number', async () => {
    const { url } = await serve(incidentTargets())
    const page = await open(`${url}/`, { viewport: { width: 390, height: 844 } })
    const bottomOf = (selector: string) =>
      page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().bottom`)
    await page.locator('#feed').waitFor()
    expect(await page.locator('#head h2').innerText()).toBe(
      '295 of 300 targets: 76.1% of 8,695 calls failed in 15 minutes, mostly unanswered',
    )
    expect(await bottomOf('#head h2')).toBeLessThan(250)
    // The picture of the fleet comes before. The sentence may have two lines more.
    expect(await bottomOf('#head .squares')).toBeLessThan(460)
    expect(await bottomOf('#calls-now')).toBeLessThan(780)
    // Three of the ten worst.
    expect(await page.locator('.rows li:visible').count()).toBe(3)
    await page.getByRole('link', { name: 'All 295 targets' }).click()
    await page.getByRole('heading', { name: '295 targets' }).waitFor()
  })

  test('sorts nothing under the pointer or the focus, which arrows move', async () => {
    const targets = incidentTargets()
    const { url } = await serve(targets)
    const page = await open(`${url}/`, { viewport: { width: 1440, height: 900 } })
    await page.locator('#feed').waitFor()
    const [worst, listed] = ['.rows .name', '#overview tbody th']
    const before = [await namesIn(page, worst), await namesIn(page, listed)]
    /** The target in the middle of the lists becomes the worst one, or a better one again. */
    const turn = (failed: number) => {
      const place = targets.findIndex(({ name }) => name === before[0]![5])
      const { alerts } = targets[place]!
      const counts = { ended: 40 - failed, unanswered: failed, rejected: 0, canceled: 0, other: 0, total: 40 }
      const changed = [...alerts].map(
        ([key, alert]) => [key, { ...alert, value: failed / 40, calls: 40, counts }] as const,
      )
      targets[place] = { ...targets[place]!, alerts: new Map(changed) }
    }
    await page.locator('.rows li').nth(2).hover()
    turn(40)
    await page.locator('.rows').getByText('40 of 40').waitFor()
    expect([await namesIn(page, worst), await namesIn(page, listed)]).toEqual(before)
    await page.mouse.move(5, 5)
    // Half a minute after it was made, the order is another one.
    await shown(async () => (await namesIn(page, worst))[0]).toBe(before[0]![5])

    await page.locator('.rows a').nth(0).focus()
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.textContent')).toContain(before[0]![0])
    turn(33)
    await page.locator('.rows').getByText('33 of 40').waitFor()
    expect((await namesIn(page, worst))[0]).toBe(before[0]![5])
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`target=${before[0]![5]}&alert=VeryHighFailureRate.*#alert`))
  })

  test('has tables of alerts that fit, whatever suppresses them', async () => {
    const until = NOW + 90_000
    const why: Suppression[][] = [
      [{ by: 'silence', at: NOW, until, alert: 'somebody.with.a.long.name@operations.example.com' }],
      [{ by: 'mute', at: NOW, until }],
      [{ by: 'inhibition', at: NOW, alert: 'NoAnswerFromTheServiceForAVeryLongTime', target: 'the-region-behind-it' }],
    ]
    const { url } = await serve(incidentTargets(), {
      suppressed: (alerts) =>
        new Map(alerts.map(({ target, instance: { key } }, i) => [nameOf({ target, key }), why[i % 3]!])),
    })
    const page = await open(url)
    const all = await page.getByRole('link', { name: 'All 295 targets' }).getAttribute('href')
    for (const address of [all, '#alerts', '?alert=VeryHighFailureRate#alerts'])
      for (const width of [1440, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        await page.goto(`${url}/${address}`)
        await page.locator('#alerts tbody tr').first().waitFor()
        const table = page.locator('#alerts .wide')
        expect(await page.evaluate('scrollY'), 'the card is above the table').toBe(0)
        expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
        expect(await table.innerText()).toMatch(/muted[^]*inhibited|inhibited[^]*muted/)
      }
  })

  test('moves little while it loads', async () => {
    const { url } = await serve(incidentTargets())
    for (const width of [1440, 390]) {
      const page = await open(`${url}/`, { viewport: { width, height: 844 } })
      await page.locator('#feed').waitFor()
      expect(await layoutShift(page)).toBeLessThan(0.1)
    }
  })
})

inChromium('the page of thirty targets', (open) => {
  test('is a few screens high, and its chart no higher for more targets', async () => {
    const heights: Record<number, { page: number; chart: number }> = {}
    for (const count of [10, 30]) {
      const { url } = await serve(thirtyTargets().slice(0, count))
      const page = await open(`${url}/`, { viewport: { width: 1440, height: 900 } })
      await page.locator('.chart canvas').waitFor()
      heights[count] = await page.evaluate(`({
        page: document.documentElement.scrollHeight,
        chart: document.querySelector('.chart').clientHeight,
      })`)
    }
    expect(heights[30]!.page).toBeLessThan(3 * 900)
    expect(heights[30]!.chart).toBe(heights[10]!.chart)
    expect(heights[30]!.chart).toBeGreaterThan(200)
  })

  test('has no more nodes for three hundred targets, which can be searched', async () => {
    const nodes: number[] = []
    for (const count of [30, 300]) {
      const { url } = await serve(thirtyTargets(count))
      const page = await open(`${url}/`)
      await page.locator('#feed').waitFor()
      // The choice of the header has the thirty by name, and the list searches three hundred.
      nodes.push(await page.evaluate<number>(`document.querySelectorAll('*').length`))
      if (count === 30) continue
      await page.getByRole('button', { name: 'Next page' }).click()
      await page.getByText('31–60 of 300').waitFor()
      await page.getByLabel('Target or alert').fill('region-299')
      await shown(() => page.locator('#overview tbody tr').count()).toBe(1)
      await page.getByLabel('Target or alert').fill('')
      await page.locator('#state').selectOption('with alerts')
      await shown(() => page.locator('#overview tbody tr').count()).toBe(3)
    }
    expect(nodes[1]).toBeLessThanOrEqual(nodes[0]!)
  })

  test('is shown at once, with few requests', async () => {
    const { url } = await serve(thirtyTargets())
    const page = await open(`${url}/`)
    await page.locator('#overview tbody tr').first().waitFor()
    await page.locator('#feed').waitFor()
    const requests = await page.evaluate<string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`)
    expect([page.url(), ...requests].length, requests.join(' ')).toBeLessThan(15)
    const painted = async () => {
      await page.reload()
      await page.locator('#overview tbody tr').first().waitFor()
      return page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)
    }
    // Other programs may delay many of the paints.
    await expect.poll(painted, UNTIL_UNDISTURBED).toBeLessThan(process.env['CI'] === 'true' ? 600 : 300)
  })

  test('has no colour only where data of a target that fails are shown', async () => {
    const { url } = await serve(thirtyTargets())
    const page = await open(`${url}/`)
    const stale = `[...document.querySelectorAll('.stale')].map((one) => one.querySelector('th').textContent.split(',')[0])`
    await shown(() => page.evaluate(stale)).toEqual(['region-05'])
    await shown(() => page.locator('.now').textContent()).toMatch(/^live \d\d:\d\d:\d\d UTC/)
    expect(await page.title()).toBe('2 firing – callwatch')
    await page.goto(`${url}/#target=region-05`)
    await shown(() => page.locator('.page').getAttribute('class')).toBe('page stale')
  })

  test('has enough contrast, also where data are stale', async () => {
    const { url } = await serve(thirtyTargets())
    const page = await open(`${url}/`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const [target, look] of [
        ['', 'page'],
        ['region-05', 'page stale'],
      ] as const) {
        await page.getByRole('combobox', { name: 'Target' }).selectOption(target)
        await shown(() => page.locator('.page').getAttribute('class')).toBe(look)
        const [texts, shapes] = [await contrasts(page), await graphicContrasts(page)]
        expect([texts.length > 40, shapes.length > 10]).toEqual([true, true])
        expect(texts.filter(({ contrast }) => contrast < 4.5)).toEqual([])
        expect(shapes.filter(({ contrast }) => contrast < 3)).toEqual([])
      }
    }
  })

  test('shows all of an alert on a phone', async () => {
    const { url } = await serve(thirtyTargets())
    const page = await open(`${url}/#alerts`, { viewport: { width: 390, height: 844 } })
    await page.locator('#alerts tbody tr').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    const cut = `[...document.querySelectorAll('#alerts td, #alerts th')].filter((cell) => {
      const { left, right, width } = cell.getBoundingClientRect()
      return !cell.closest('thead') && !cell.matches('.rest') && (width === 0 || left < 0 || right > 390)
    }).length`
    expect(await page.evaluate(cut)).toBe(0)
    expect(
      await page.locator('#alerts .wide').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    ).toBe(0)
    const first = page.locator('#alerts tbody tr').first()
    expect(await first.innerText()).toMatch(/above 50%[^]*14:10:20 3m/)
    expect(await page.locator('[data-label=Threshold]').first().isVisible()).toBe(true)
    // Three lines, without what decides nothing.
    expect(await page.locator('[data-label=Peak]').first().isVisible()).toBe(false)
    expect((await first.boundingBox())!.height).toBeLessThan(90)
  })

  test('begins with the worst ones, and shows the one that is clicked', async () => {
    const { url } = await serve(thirtyTargets())
    const page = await open(`${url}/`)
    const worst = async () => (await namesIn(page, '#overview tbody th')).slice(0, 4)
    await shown(worst).toEqual(['region-05', 'region-11', 'region-17', 'region-23'])
    // Anywhere in the line, which the link covers.
    await page.locator('#overview tr', { hasText: 'region-11' }).locator('td').last().click({ force: true })
    await page.waitForURL(/\?target=region-11$/)
    await shown(() => page.locator('#target-facts meter').count()).toBe(1)
    expect(await page.locator('#overview').count()).toBe(0)
    expect(await page.locator('#calls-now').textContent()).toBe('12')
    await page.goBack()
    await page.locator('#overview').waitFor()
  })
})
