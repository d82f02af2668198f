import type { Page } from 'playwright-core'

/** An element that gets the focus by the Tab key. */
export type Stop = { name: string; outline: string }

/** Presses Tab until the focus leaves the page, at most a hundred times. */
export async function walk(page: Page): Promise<Stop[]> {
  const stops: Stop[] = []
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
      ...all('a, button, select, input, meter, [role=region], [role=img]').filter((one) => !hasName(one)).map(show('no name')),
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

/** The contrast of each text to its background (WCAG 2.2, 1.4.3): 1 to 21. */
export function contrasts(page: Page): Promise<{ text: string; contrast: number }[]> {
  return page.evaluate(`(() => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number)
    const light = (colour) => {
      const [r, g, b] = numbers(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const ground = (element) => {
      const { backgroundColor } = getComputedStyle(element)
      const isClear = (numbers(backgroundColor)[3] ?? 1) === 0
      return isClear && element.parentElement !== null ? ground(element.parentElement) : backgroundColor
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found = []
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode
      if (data.trim() === '' || parentElement.closest('noscript') !== null) continue
      const [a, b] = [light(getComputedStyle(parentElement).color), light(ground(parentElement))]
      found.push({ text: data, contrast: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) })
    }
    return found
  })()`)
}

/** Cells of tables whose content is wider than they are. */
export function overflowing(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('td, th')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map(({ textContent }) => textContent.trim())`)
}
