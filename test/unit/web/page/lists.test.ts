import { expect, test, vi } from 'vitest'
import { Feed } from '../../../../src/web/page/components/feed.tsx'
import { Tiles } from '../../../../src/web/page/components/glance.tsx'
import { showJump } from '../../../../src/web/page/components/jump.tsx'
import { Banner } from '../../../../src/web/page/components/page.tsx'
import { Overview } from '../../../../src/web/page/components/targets.tsx'
import { readAddress } from '../../../../src/web/page/model/address.ts'
import { current, type FeedLine, type State } from '../../../../src/web/page/model/state.ts'
import { viewOf, VIEWS } from '../../../../src/web/page/views.tsx'
import { finish, firing, openCall, POLLED, RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { render, rowsOf, stateOf, textOf, withoutBrowser } from './render-text.ts'

const sorting = (sort: string) => {
  const made = { rules: [RATIO_RULE], sync: POLLED }
  const finished = (calls: number) => Array.from({ length: calls }, () => finish('ended'))
  const targets = [
    shownTarget({ ...made, target: 'b', finished: finished(9), calls: [openCall('1')] }),
    shownTarget({ ...made, target: 'c', finished: finished(2) }),
    shownTarget({ ...made, target: 'a', finished: finished(30), calls: [openCall('2'), openCall('3')] }),
  ]
  return render(Overview, stateOf(targets, { query: new URLSearchParams({ sort }) }))
}

test.each([
  ['Target', ['a', 'b', 'c']],
  ['-Target', ['c', 'b', 'a']],
  ['-Calls in the last hour', ['a', 'b', 'c']],
  ['In progress', ['c', 'b', 'a']],
])('a list is in the order of the column that the address names: %s', (sort, names) => {
  const elements = sorting(sort)
  expect(
    rowsOf(elements)
      .slice(1)
      .map((row) => row[0]),
  ).toEqual(names)
  const [heading, ...others] = elements.filter(({ props }) => props['aria-sort'] !== undefined)
  expect(others).toEqual([])
  expect(heading?.props['aria-sort']).toBe(sort.startsWith('-') ? 'descending' : 'ascending')
})

test('a list whose address names no column of it is in its own order', () => {
  const own = rowsOf(sorting(''))
  expect(rowsOf(sorting('Nothing'))).toEqual(own)
  expect(sorting('').some(({ props }) => props['aria-sort'] !== undefined)).toBe(false)
})

test('the number of alerts is red only where somebody is notified of one', () => {
  const state = stateOf([shownTarget({ rules: [RATIO_RULE], alerts: [firing()], sync: POLLED })])
  const look = () => render(Tiles, state).find(({ props }) => props['id'] === 'alerts-firing')?.props['class']
  expect(look()).toBe('big bad')
  for (const alert of state.snapshot!.alerts) alert.suppressed = [{ by: 'mute' }]
  expect(look()).toBe('big ')
})

test('the feed of a target whose events are older than those of others says so', () => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the feed reads of lines that it does not show
  const feed = [{ kind: 'call', data: { target: 'staging' } }] as unknown as FeedLine[]
  const state = stateOf([shownTarget({ sync: POLLED, finished: [finish('ended')] })], { target: 'production', feed })
  const said = (shown: State) => textOf(render(Feed, shown), { class: 'soft' })
  const texts = render(Feed, state).map(({ text }) => text)
  expect(texts).toContain('None of the newest 1 event is of production: its calls .')
  expect(said({ ...state, feed: [] })).toBeDefined()
  expect(render(Feed, { ...state, feed: [] }).map(({ text }) => text)).toContain('No events yet.')
})

test('a page that lacks the password says that, and not only that it is not connected', () => {
  const state = stateOf([shownTarget()], { connected: false })
  const said = (shown: State) => render(Banner, shown).find(({ type }) => type === 'li')?.text
  expect(said(state)).toMatch(/^Not connected to callwatch\. Data of /)
  expect(said({ ...state, needsPassword: true })).toMatch(/^callwatch asks for a password: reload the page\. Data of /)
})

test.each([
  ['', 'overview'],
  ['#target=b', 'overview'],
  ['#usage', 'usage'],
  ['#nosuch', 'unknown'],
])('the address %s is the view %s', (hash, view) => {
  withoutBrowser()
  vi.stubGlobal('location', { search: '', hash })
  readAddress(VIEWS.map(({ name }) => name))
  expect(viewOf(current()).name).toBe(view)
})

test('the key / shows the field that leads elsewhere, unless something is written', () => {
  withoutBrowser()
  class Element {
    readonly #isInput: boolean
    constructor(isInput: boolean) {
      this.#isInput = isInput
    }
    matches() {
      return this.#isInput
    }
  }
  vi.stubGlobal('Element', Element)
  const press = (key: string, isInput: boolean, more: object = {}) => {
    const event = { key, target: new Element(isInput), preventDefault: vi.fn(), ...more }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of an event
    showJump(event as unknown as KeyboardEvent)
    return current().isJumping
  }
  expect([press('x', false), press('/', true), press('/', false, { ctrlKey: true }), press('/', false)]).toEqual([
    false,
    false,
    false,
    true,
  ])
})
