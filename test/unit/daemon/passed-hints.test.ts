import { expect, test } from 'vitest'
import { passedHints } from '../../../src/daemon/passed-hints.ts'
import type { PassedHint } from '../../../src/store/hint-channel.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'
import { memoryCluster } from '../cluster/memory-cluster.ts'

const hintOf = (target: string, id = '1'): PassedHint => ({ target, hint: { id, trigger: 'call_ended' } })

/** Two daemons, of which each owns a target with its own name. @param answered after which a hint that is passed is answered */
function pair(isReachable = () => true, answered: Promise<unknown> = Promise.resolve()) {
  const clock = virtualClock()
  const cluster = memoryCluster(clock)
  return ['a', 'b'].map((name) => {
    const taken: PassedHint[] = []
    const owns = (target: string) => target === name
    const { hints } = cluster.clusterStore(10, isReachable)
    const passHint = async (hint: PassedHint) => void (await Promise.all([hints.pass(hint), answered]))
    const { pass, received$ } = passedHints(
      { hints: { ...hints, pass: passHint } },
      {
        clock,
        ownership: { owns },
        targets: { hint: (target, hint) => void (owns(target) && taken.push({ target, hint })) },
      },
    )
    received$.subscribe()
    return { taken, pass, clock }
  })
}

test('a hint reaches the daemon that owns the target once, whichever daemon received its webhook', async () => {
  const [a, b] = pair()
  await a!.pass(hintOf('a'))
  expect(a!.taken).toEqual([hintOf('a')])
  await Promise.all([a!.pass(hintOf('b', '2')), a!.pass(hintOf('b', '3'))])
  expect([a!.taken, b!.taken]).toEqual([[hintOf('a')], [hintOf('b', '2'), hintOf('b', '3')]])
})

test('a thousand hints wait to be passed on at most, and further ones are refused', async () => {
  const [a, b] = pair()
  const results = Promise.allSettled(Array.from({ length: 2000 }, (_, i) => a!.pass(hintOf('b', String(i)))))
  expect((await results).filter(({ status }) => status === 'rejected')).toHaveLength(1000)
  expect(b!.taken).toHaveLength(1000)
})

test('a hint that cannot be passed on is refused, and so is one that waits for longer than 1.5 s', async () => {
  const [away, b] = pair(() => false)
  await expect(away!.pass(hintOf('b'))).rejects.toThrow('')
  expect(b!.taken).toEqual([])
  const [slow] = pair(undefined, new Promise(() => undefined))
  const late = expect(slow!.pass(hintOf('b'))).rejects.toThrow('Timeout')
  await slow!.clock.advance(1.6)
  await late
})

test('a daemon without others takes every hint', async () => {
  const taken: string[] = []
  const targets = { hint: (target: string) => void taken.push(target) }
  const { pass } = passedHints(undefined, { clock: virtualClock(), ownership: { owns: () => false }, targets })
  await pass(hintOf('a'))
  expect(taken).toEqual(['a'])
})
