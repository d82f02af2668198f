import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger } from '../../../src/log/logger.ts'
import { maskSecrets } from '../../../src/log/mask-secrets.ts'

/** What a log of this level writes to a stream, a terminal or not. */
function written(
  isTTY: boolean,
  secrets: string[],
  say: (log: ReturnType<typeof createLogger>) => void,
  hasColors = false,
): string {
  let text = ''
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk)
      done()
    },
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the logger asks of stdout
  const stdout = Object.assign(stream, { isTTY, hasColors: () => hasColors }) as unknown as NodeJS.WriteStream
  say(createLogger({ level: 'trace', mask: maskSecrets(secrets), stream: stdout }))
  return text
}

test('a log line is JSON, with the level by name and the time in UTC', () => {
  const line = written(false, [], (log) => log.warn({ target: 'a' }, 'poll failed'))
  expect(JSON.parse(line)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    target: 'a',
    msg: 'poll failed',
  })
})

test('a log line on a terminal is readable, and one line', () => {
  const line = written(true, [], (log) => log.info({ target: 'a', requests: 2 }, 'poll complete'))
  expect(line).toMatch(/^\[.*\] INFO: poll complete \{"target":"a","requests":2\}\n$/)
})

test.each([true, false])('the log has colours on a terminal if that supports them: %s', (hasColors) => {
  const line = written(true, [], (log) => log.error('poll failed'), hasColors)
  // oxlint-disable-next-line no-control-regex -- that is how colours begin
  expect(/\u001B\[/.test(line)).toBe(hasColors)
})

test('a log line on a terminal cannot move the cursor or turn the direction of text', () => {
  const line = written(true, [], (log) =>
    log.warn({ code: 'x\u009B\u202Ey' }, 'poll failed: \u001B[2J\u202Eevil\r\u200B'),
  )
  expect(line).toMatch(/^\[.*\] WARN: poll failed: \[2Jevil \{"code":"xy"\}\n$/)
})

test('a log line in JSON keeps control characters, escaped', () => {
  const msg = 'poll failed: \u001B[2J\u202Eevil\r\u200B'
  const line = written(false, [], (log) => log.warn(msg))
  expect(JSON.parse(line).msg).toBe(msg)
  expect(line).not.toMatch(/\p{Cf}|(?!\n$)\p{Cc}/u)
})

test.each([false, true])('the log masks secrets anywhere in a line (terminal: %s)', (isTTY) => {
  const secret = 'hunter2 "quoted"/slash'
  const text = written(isTTY, [secret], (log) => {
    log.info(`in a message: ${secret}`)
    log.info({ [secret]: secret, url: `http://x/?k=${encodeURIComponent(secret)}` })
    log.error(new Error(`in an error: ${secret}`))
    log.child({ apikey: secret }).trace('in a child')
  })
  expect(text).not.toContain('hunter2')
  expect(text.match(/\*{8}/g)!.length).toBeGreaterThanOrEqual(5)
})

test('the log masks two secrets, one of which contains the other, completely', () => {
  expect(maskSecrets(['hunter2-long', 'hunter2'])('hunter2-long and hunter2')).toBe('******** and ********')
})

test('the log does not mask a key of a letter or two', () => {
  expect(maskSecrets(['k', ''])('the key works')).toBe('the key works')
})

test.each([
  ['a list of 300 problems', { problems: Array.from({ length: 300 }, (_, i) => `targets[${i}]: ${'x'.repeat(500)}`) }],
  ['a long text', { problem: 'ü'.repeat(100_000) }],
  ['control characters, which are written longer', { problem: '\u009B'.repeat(5000) }],
  ['many fields', Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`field_${i}`, 'x'.repeat(5000)]))],
])('a log line with %s has at most 8 KB, is JSON, and says that it is not whole', (_what, fields) => {
  const line = written(false, [], (log) => log.error(fields, `the configuration was refused: ${'why '.repeat(30_000)}`))
  expect(Buffer.byteLength(line)).toBeLessThanOrEqual(8192)
  const { level, time, msg, truncated } = JSON.parse(line)
  expect({ level, truncated }).toEqual({ level: 'error', truncated: true })
  expect(time).toMatch(/^\d{4}-/)
  expect(msg).toMatch(/^the .*…$/)
  expect(written(true, [], (log) => log.error(fields, 'refused')).length).toBeLessThanOrEqual(8192)
})

test('a secret that the end of a short line would cut is masked', () => {
  const line = written(false, ['hunter2-hunter2'], (log) => log.error('hunter2-hunter2 '.repeat(2000)))
  expect(line).not.toContain('hunter')
})
