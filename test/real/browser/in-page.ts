import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules of axe about colours. */
const ABOUT_COLOURS = ['color-contrast', 'link-in-text-block']

/** What axe finds wrong, by rule and element. @param runOnly some of its rules */
export async function violations(page: Page, runOnly?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE)
  return page.evaluate(`axe.run(${JSON.stringify({ runOnly })}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(' '))))`)
}

/** What is wrong with a page in light and dark, wide and on a phone: for accessibility, what needs more room than there is, and what a finger misses. */
export async function problemsInAllLooks(page: Page): Promise<unknown[]> {
  const problems: unknown[] = []
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await painted(page)
      problems.push(...(await violations(page, colorScheme === 'light' ? undefined : ABOUT_COLOURS)))
      problems.push(...(await graphicContrasts(page)).filter(({ contrast }) => contrast < 3))
    }
    const needed: number = await page.evaluate('document.documentElement.scrollWidth')
    if (needed !== width) problems.push(`the page is ${needed} pixels wide, of ${width}`)
    problems.push(...(await overflowing(page)))
  }
  problems.push(...(await hardToTouch(page)))
  return [...problems, ...(await nameless(page))]
}

/** Waits until two frames are painted: the first one has a new size or look, and the second one what is drawn for it. */
export const painted = (page: Page) =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

/** An element that gets the focus by the Tab key. */
export type Stop = { name: string; outline: string }

/** Presses Tab from the beginning of the page until the focus leaves it, at most a hundred times. */
export async function walk(page: Page): Promise<Stop[]> {
  const stops: Stop[] = []
  // Otherwise Tab goes on from what was last clicked or scrolled to.
  await page.evaluate(`document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')`)
  for (let i = 0; i < 100; i++) {
    await page.keyboard.press('Tab')
    const stop: Stop | null = await page.evaluate(`(() => {
      const at = document.activeElement
      if (at === document.body || at === null) return null
      const label = at.labels?.[0]?.firstChild?.textContent
      const name = at.getAttribute('aria-label') ?? label ?? at.textContent
      return { name: name.trim(), outline: getComputedStyle(at).outlineStyle }
    })()`)
    if (stop === null) break
    stops.push(stop)
  }
  return stops
}

/** Elements that a screen reader cannot name or reach: violations of WCAG 2.2 in the markup. */
export function nameless(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const all = (selector) => [...document.querySelectorAll(selector)]
    const show = (what) => (element) => what + ': ' + element.outerHTML.slice(0, 120)
    const hasName = (element) =>
      (element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent).trim() !== ''
    const ids = all('[id]').map(({ id }) => id)
    const levels = all('h1, h2, h3').map(({ tagName }) => Number(tagName[1]))
    return [
      ...all('a, button, select, input, meter, [role=group], [role=img]').filter((one) => !hasName(one)).map(show('no name')),
      ...all('[aria-labelledby]').filter((one) => !ids.includes(one.getAttribute('aria-labelledby'))).map(show('label is missing')),
      ...all('table').filter((one) => one.caption === null).map(show('no caption')),
      ...all('th').filter((one) => !one.scope).map(show('no scope')),
      ...all('svg').filter((one) => one.ariaHidden !== 'true').map(show('an image without a name')),
      ...all('.wide').filter((one) => one.tabIndex !== 0).map(show('scrolls with a mouse only')),
      ...all('a:not([href]), [onclick], div[role=button]').map(show('not a native control')),
      ...ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => 'duplicate id ' + id),
      ...levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1).map((level) => 'a heading skips to ' + level),
    ]
  })()`)
}

/** Reads colours as they are seen: blended by their opacity, and pale where a filter takes their colour. */
const COLOURS = `
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const chain = (element) => (element === null ? [] : [element, ...chain(element.parentElement)])
  const pale = (element, colour) => {
    const grey = Math.max(0, ...chain(element).map((one) => Number(/grayscale\\(([\\d.]+)\\)/.exec(getComputedStyle(one).filter)?.[1] ?? 0)))
    const luma = 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]
    return colour.map((c) => grey * luma + (1 - grey) * c)
  }
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = (element) => {
    const { backgroundColor } = getComputedStyle(element)
    const isClear = (numbers(backgroundColor)[3] ?? 1) === 0
    return isClear && element.parentElement !== null ? ground(element.parentElement) : numbers(backgroundColor).slice(0, 3)
  }
  const contrastOf = (element, colour, behind) => {
    const opacity = chain(element).reduce((product, one) => product * Number(getComputedStyle(one).opacity), 1)
    const seen = numbers(colour).slice(0, 3).map((c, i) => opacity * c + (1 - opacity) * behind[i])
    const [a, b] = [light(pale(element, seen)), light(pale(element, behind))]
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  }`

/** The contrast of each text to its background (WCAG 2.2, 1.4.3): 1 to 21. */
export function contrasts(page: Page): Promise<{ text: string; contrast: number }[]> {
  return page.evaluate(`(() => {
    ${COLOURS}
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found = []
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode
      if (data.trim() === '' || parentElement.closest('noscript') !== null) continue
      found.push({ text: data, contrast: contrastOf(parentElement, getComputedStyle(parentElement).color, ground(parentElement)) })
    }
    return found
  })()`)
}

/** The contrast of each drawn shape to what is behind it (WCAG 2.2, 1.4.11): 1 to 21. Tracks of bars are decoration. */
export function graphicContrasts(page: Page): Promise<{ shape: string; contrast: number }[]> {
  return page.evaluate(`(() => {
    ${COLOURS}
    return [...document.querySelectorAll('svg :is(rect, line, path):not(.ground)')].map((shape) => {
      const { fill, stroke } = getComputedStyle(shape)
      const track = shape.parentElement.querySelector('.ground')
      const behind = track === null ? ground(shape.parentElement.parentElement) : numbers(getComputedStyle(track).fill)
      return { shape: shape.outerHTML.slice(0, 80), contrast: contrastOf(shape, stroke === 'none' ? fill : stroke, behind) }
    })
  })()`)
}

/** Opens all that is folded. A chart renders its table then. */
export async function openFolded(page: Page): Promise<void> {
  await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
  await page.waitForFunction("[...document.querySelectorAll('details')].every(({ children }) => children.length > 1)")
}

/**
 * On a phone: tables that scroll sideways, controls that are smaller than a finger needs (WCAG 2.2, 2.5.8: 24 px), and navigation,
 * buttons, fields and links of rows that a finger misses 21 px beside their middles (2.5.5: 44 px).
 */
export function hardToTouch(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    // What takes no touch has its link elsewhere.
    const takesTouch = (element) => getComputedStyle(element).pointerEvents !== 'none'
    const shown = (element) => element.checkVisibility() && !element.matches('.skip') && takesTouch(element)
    const sizeOf = (element) => element.getBoundingClientRect()
    const controls = [...document.querySelectorAll('a, button, input, select, summary')].filter(shown)
    document.querySelectorAll('details').forEach((one) => (one.open = true))
    const sideways = [...document.querySelectorAll('.wide')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    const isMissed = (control) => {
      const place = control.closest('label.check, tbody th, .feed li') ?? control
      place.scrollIntoView({ block: 'center', inline: 'center' })
      const { left, top, width, height } = sizeOf(control.matches('tbody th a') ? control.closest('tr') : place)
      return [[0, -21], [0, 21], [-21, 0], [21, 0]].some(([x, y]) => {
        const met = document.elementFromPoint(left + width / 2 + x, top + height / 2 + y)
        return !place.contains(met) && !control.contains(met)
      })
    }
    const large = 'nav a, button, .button, input, select, summary, tbody th a, .rows a, .feed a'
    return [
      ...controls.filter((one) => sizeOf(one).width < 24 || sizeOf(one).height < 24).map(({ outerHTML }) => 'small: ' + outerHTML),
      ...controls.filter((one) => one.matches(large) && isMissed(one)).map(({ outerHTML }) => 'low: ' + outerHTML.slice(0, 150)),
      ...sideways.map((one) => 'sideways: ' + one.getAttribute('aria-label')),
    ]
  })()`)
}

/** Cells of tables whose content is wider than they are. */
export function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('td, th')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map(({ textContent }) => textContent.trim())`)
}

/** How far things moved since the page was opened, all moves together (cumulative layout shift). */
export function layoutShift(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let sum = 0
    new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => (sum += value)))
      .observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(sum), 500)
  })`)
}
