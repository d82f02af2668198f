import { expect, test } from 'vitest'
import { passedHints } from '../../src/daemon/passed-hints.ts'
import type { PassedHint } from '../../src/store/hint-channel.ts'
import { virtualClock } from '../clock/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'

const hintOf = (target: string, id = '1'): PassedHint => ({ target, hint: { id, shows: 'end' } })

/** Two daemons, of which each owns a target with its own name. */
function pair(isReachable = () => true) {
  const cluster = memoryCluster(virtualClock())
  return ['a', 'b'].map((name) => {
    const taken: PassedHint[] = []
    const owns = (target: string) => target === name
    const hints = passedHints({
      cluster: cluster.clusterStore(10, isReachable),
      ownership: { owns },
      targets: { hint: (target, hint) => void (owns(target) && taken.push({ target, hint })) },
    })
    hints.received$.subscribe()
    const pass = async () => {
      for (const { run } of hints.jobs) await run(new AbortController().signal)
    }
    return { taken, take: hints.take, pass }
  })
}

test('a hint reaches the daemon that owns the target once, whichever daemon received its webhook', async () => {
  const [a, b] = pair()
  a!.take(hintOf('a'))
  expect(a!.taken).toEqual([hintOf('a')])
  a!.take(hintOf('b', '2'))
  a!.take(hintOf('b', '3'))
  await a!.pass()
  await a!.pass()
  expect([a!.taken, b!.taken]).toEqual([[hintOf('a')], [hintOf('b', '2'), hintOf('b', '3')]])
})

test('while hints cannot be passed on, a thousand wait at most', async () => {
  let isReachable = false
  const [a, b] = pair(() => isReachable)
  for (let i = 0; i < 2000; i++) a!.take(hintOf('b', String(i)))
  isReachable = true
  await a!.pass()
  expect(b!.taken).toHaveLength(1000)
})

test('a daemon without others takes every hint', () => {
  const taken: string[] = []
  const targets = { hint: (target: string) => void taken.push(target) }
  const { take, jobs } = passedHints({ cluster: undefined, ownership: { owns: () => false }, targets })
  take(hintOf('a'))
  expect([taken, jobs]).toEqual([['a'], []])
})
