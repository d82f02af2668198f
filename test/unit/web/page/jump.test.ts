import { expect, test } from 'vitest'
import { addressFor } from '../../../../src/web/page/components/jump.tsx'
import { change } from '../../../../src/web/page/model/state.ts'
import { RATIO_RULE } from '../../../kit/metrics/hand-made-target.ts'
import { shownTarget } from '../../../kit/web/serve.ts'
import { stateOf, withoutBrowser } from './render-text.ts'

test('a text leads to the view, the target or the rule of this name, or to the calls whose session begins with it', () => {
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
})
