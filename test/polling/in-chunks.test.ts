import { TestScheduler } from 'rxjs/testing'
import { expect, test } from 'vitest'
import { inChunks } from '../../src/polling/in-chunks.ts'

const marbles = () => new TestScheduler((actual, expected) => expect(actual).toEqual(expected))
const sizes = { a: 4, b: 4, c: 4, d: 9 }

test('values are gathered until their sizes reach the limit', () => {
  marbles().run(({ cold, expectObservable, expectSubscriptions }) => {
    const source = cold('  -a-b-c-d-a-|', sizes)
    const subscription = ' ^----------!'
    const expected = '     -----x-y---(z|)'
    const result = source.pipe(inChunks(9, (size: number) => size))
    expectObservable(result).toBe(expected.replace('---(z|)', '---(z|)'), { x: [4, 4, 4], y: [9], z: [4] })
    expectSubscriptions(source.subscriptions).toBe(subscription)
  })
})

test('a source without values makes no chunk', () => {
  marbles().run(({ cold, expectObservable }) => {
    const source = cold<number>('--|')
    expectObservable(source.pipe(inChunks(9, (size) => size))).toBe('--|')
  })
})

test('an error drops what was gathered', () => {
  marbles().run(({ cold, expectObservable }) => {
    const source = cold('-a-#', sizes)
    expectObservable(source.pipe(inChunks(9, (size: number) => size))).toBe('---#')
  })
})
