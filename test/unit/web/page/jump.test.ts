import { expect, onTestFinished, test, vi } from 'vitest'
import { addressFor, Jump, showJump } from '../../../../src/web/page/components/jump.tsx'
import { change, onChange } from '../../../../src/web/page/model/state.ts'
import { RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { render, stateOf, withoutBrowser } from './render-text.ts'

test('a text leads to the view, the target or the rule of this name or with it, or to the calls whose session begins with it', () => {
  withoutBrowser()
  change({ snapshot: stateOf([shownTarget({ target: 'shop-eu', rules: [RATIO_RULE] })]).snapshot })
  const texts = ['calls', 'Shop-EU', RATIO_RULE.name, 'v1.eu.31', '']
  expect(texts.map(addressFor)).toEqual([
    './#calls',
    './?target=shop-eu',
    `./?alert=${RATIO_RULE.name}#alerts`,
    './?session_id=v1.eu.31#calls',
    undefined,
  ])
  expect(['eu', RATIO_RULE.name.slice(1, 6)].map(addressFor)).toEqual([
    './?target=shop-eu',
    `./?alert=${RATIO_RULE.name}#alerts`,
  ])
})

test('the key / shows the field at once, which keeps what is typed when the page changes', () => {
  withoutBrowser()
  vi.stubGlobal('Element', Object)
  const shown: boolean[] = []
  onChange(({ isJumping }) => shown.push(isJumping))
  onTestFinished(() => onChange(() => undefined))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is read of an event
  showJump({ key: '/', preventDefault: () => undefined } as KeyboardEvent)
  expect(shown.at(-1)).toBe(true)
  const input = render(Jump, { ...stateOf([]), isJumping: true }).find(({ type }) => type === 'input')
  expect(input?.props['value']).toBeUndefined()
})
