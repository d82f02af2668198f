import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { logOutput } from '../../../src/log/log-output.ts'

const MEGABYTE = 1024 * 1024

test('a pipe that nobody reads holds up to a megabyte of lines; those after it are dropped and counted', () => {
  let read = () => {}
  const waiting = new Writable({ decodeStrings: false, write: (_line, _encoding, done) => void (read = done) })
  const pipe = Object.assign(waiting, { fd: 1, isTTY: true, hasColors: () => false })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a process's stream has beside this is not used
  const { write, dropped } = logOutput(pipe as unknown as NodeJS.WriteStream & { fd: number })
  const line = `${'x'.repeat(MEGABYTE / 4 - 1)}\n`
  for (let i = 0; i < 6; i++) write(line)
  expect([pipe.writableLength, dropped()]).toEqual([MEGABYTE, 2])
  read()
  write(line)
  expect([pipe.writableLength, dropped()]).toEqual([MEGABYTE, 2])
})
