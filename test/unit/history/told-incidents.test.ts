import { expect, test } from 'vitest'
import { incidentsOf } from '../../../src/alerts/incidents.ts'
import { incidentLines } from '../../../src/notifications/text/group-text.ts'
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
  const to = (receiver: string, told: object) => ({ ...WARNED, receiver, ...told })
  const told = new Map([['group', [to('mail', {}), to('slack', { targets: 20, since: NOW - 5000, at: NOW + 60 })]]])
  const [incident] = withToldBeginnings([incidentOn(30)], told)
  expect(incident!.since).toBe(NOW - 5000)
  expect(incidentLines(incident!)).toContainEqual({
    about: 'messages',
    text: expect.stringMatching(/^Last message: mail \d\d:\d\d:20 UTC, slack \d\d:\d\d:20 UTC$/),
  })
  expect(incidentLines(withToldBeginnings([incidentOn(30)], new Map())[0]!).map(({ about }) => about)).not.toContain(
    'messages',
  )
})

test('an incident of which nothing fired when its receiver was told last begins anew', () => {
  const firedAt = firing().firingSince!
  const begins = (at: number) => begunAsTold(incidentOn(1), { ...WARNED, at }).since
  expect([begins(firedAt - 61), begins(firedAt - 59)]).toEqual([since, NOW - 9000])
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
