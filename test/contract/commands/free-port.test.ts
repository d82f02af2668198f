import { expect, test } from 'vitest'
import { freePort } from '../../../src/commands/demo/free-port.ts'
import { localServer } from '../../kit/commands/local-server.ts'

test('a port that is taken is passed for the next one that is free', async () => {
  const { port: taken } = await localServer((_request, response) => void response.end())
  const port = await freePort(taken)
  expect(port).toBeGreaterThan(taken)
  expect(port).toBeLessThan(taken + 100)
  expect(await freePort(port)).toBe(port)
})
