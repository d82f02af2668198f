import { expect, test } from 'vitest'
import { nameOf } from '../../../src/alerts/alert.ts'
import { incidentsOf } from '../../../src/alerts/incidents.ts'
import { incidentLines } from '../../../src/alerts/text/incident-text.ts'
import { withMessages, type NotifiedAlerts } from '../../../src/notifications/notified-incidents.ts'
import { firing, NOW } from '../../kit/metrics/hand-made-target.ts'

function messagesLine(targets: readonly string[], notified: NotifiedAlerts) {
  const lives = targets.map((target) => ({ target, instance: firing() }))
  const incidents = incidentsOf(lives, () => ({ key: 'group', labels: {} }), 300)
  const [incident] = withMessages(incidents, notified)
  return incidentLines(incident!).find(({ about }) => about === 'messages')?.text
}

const name = (target: string) => nameOf({ target, key: firing().key })
const at = (receiver: string, seconds: number) => ({ receiver, at: NOW + seconds })

test('an incident has the latest message that each receiver got about one of its alerts', () => {
  const notified = new Map([
    [name('a'), [at('mail', 0), at('slack', 0)]],
    [name('b'), [at('slack', 60)]],
    [name('other'), [at('pager', 60)]],
  ])
  expect(messagesLine(['a', 'b'], notified)).toMatch(/^Last message: mail \d\d:\d\d:20 UTC, slack \d\d:\d\d:20 UTC$/)
  const times = [...messagesLine(['a', 'b'], notified)!.matchAll(/(\d\d):(\d\d):20/g)]
  const [mail, slack] = times.map(([, hours, minutes]) => 60 * Number(hours) + Number(minutes))
  expect(slack! - mail!).toBe(1)
})

test('an incident of which nobody was told has no latest message', () => {
  expect(messagesLine(['a'], new Map([[name('other'), [at('slack', 0)]]]))).toBeUndefined()
})
