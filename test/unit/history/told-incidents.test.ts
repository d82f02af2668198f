import { expect, test } from 'vitest'
import { incidentsOf } from '../../../src/alerts/incidents.ts'
import { begunAsTold } from '../../../src/history/told-incidents.ts'
import { firing, NOW } from '../../kit/metrics/hand-made-target.ts'

test('what was told of far fewer targets is not the beginning of an incident', () => {
  const told = { at: NOW, begun: NOW, interval: NOW, hasGrown: false, begunAgain: 0, targets: 1, since: NOW - 9000 }
  const on = (targets: number) => {
    const lives = Array.from({ length: targets }, (_, i) => ({ target: `shop-${i}`, instance: firing() }))
    const [incident] = incidentsOf(lives, () => ({ key: '', labels: {} }), 300)
    return begunAsTold(incident!, { ...told, severity: 'warning' }).since
  }
  expect([on(20), on(21)]).toEqual([NOW - 9000, firing().since])
})
