import { expect, test } from 'vitest'
import { incidentsOf } from '../../../src/alerts/incidents.ts'
import { begunAsTold, withToldBeginnings } from '../../../src/history/told-incidents.ts'
import { firing, NOW } from '../../kit/metrics/hand-made-target.ts'

const TOLD = { at: NOW, begun: NOW, interval: NOW, hasGrown: false, begunAgain: 0, targets: 1, since: NOW - 9000 }
const WARNED = { ...TOLD, severity: 'warning' } as const

const { since } = firing()

function incidentOn(targets: number) {
  const lives = Array.from({ length: targets }, (_, i) => ({ target: `shop-${i}`, instance: firing() }))
  return incidentsOf(lives, () => ({ key: 'group', labels: {} }), 300)[0]!
}

test('what was told of far fewer targets at most is not the beginning of an incident', () => {
  const on = (targets: number, most?: number) =>
    begunAsTold(incidentOn(targets), { ...WARNED, ...(most !== undefined && { most }) }).since
  expect([on(20), on(21), on(21, 2)]).toEqual([NOW - 9000, since, NOW - 9000])
})

test('an incident begins as the receiver says that was told of enough targets', () => {
  const told = new Map([['group', [WARNED, { ...WARNED, targets: 20, since: NOW - 5000 }]]])
  expect(withToldBeginnings([incidentOn(30)], told)[0]!.since).toBe(NOW - 5000)
})

test('the beginning of an incident does not move, although the alerts that began earlier last longer', () => {
  expect(begunAsTold(incidentOn(3), { ...WARNED, since: since + 60 }).since).toBe(since + 60)
})

test('an incident that was told to recover begins anew where most of what fires began later', () => {
  const incident = incidentOn(1)
  const firedAt = firing().firingSince!
  const recovering = { ...WARNED, ends: true }
  const begins = (at: number) => begunAsTold(incident, { ...recovering, at }).since
  expect([begins(firedAt - 1), begins(firedAt)]).toEqual([since, NOW - 9000])
  expect(begunAsTold(incident, { ...WARNED, at: firedAt - 1 }).since).toBe(NOW - 9000)
})
