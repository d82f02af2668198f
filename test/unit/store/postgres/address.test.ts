import os from 'node:os'
import { rootCertificates } from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readAddress } from '../../../../src/store/postgres/address.ts'

const readTls = (query: string) => readAddress(`postgres://me:hunter2@host/x${query}`).tls

test('sslrootcert=system trusts the authorities of the machine, and checks the name of the server', () => {
  for (const query of ['?sslrootcert=system', '?sslrootcert=system&sslmode=verify-full']) {
    const { mode, ca } = readTls(query)
    expect(mode).toBe('verify-full')
    // Once a test has set the authorities of this process, they have lines of another length.
    expect(ca!.replaceAll('\n', '')).toContain(rootCertificates[0]!.replaceAll('\n', ''))
  }
})

test.each(['prefer', 'require', 'verify-ca'])('sslrootcert=system with sslmode=%s is refused, as by libpq', (mode) => {
  expect(() => readTls(`?sslrootcert=system&sslmode=${mode}`)).toThrow(
    expect.objectContaining({ kind: 'refused', message: `store.url has sslmode=${mode}; it must be verify-full` }),
  )
})

test.each(['channel_binding=require', 'connect_timeout=10'])(
  'a parameter that callwatch has not is refused: %s',
  (one) => {
    const message = `store.url has a parameter ${one.split('=')[0]}; remove it, known are sslmode, sslrootcert, target_session_attrs`
    expect(() => readTls(`?${one}`)).toThrow(expect.objectContaining({ kind: 'refused', message }))
  },
)

test('an address without a user is refused if the user of the process has no name, as in some containers', () => {
  expect(readAddress('postgres://host/x').user).toBe(os.userInfo().username)
  const spy = vi.spyOn(os, 'userInfo').mockImplementation(() => {
    throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT')
  })
  onTestFinished(() => spy.mockRestore())
  expect(() => readAddress('postgres://host/x')).toThrow(
    expect.objectContaining({
      kind: 'refused',
      message: expect.stringMatching(/has no user, .*; write postgres:\/\/USER@…$/),
    }),
  )
  expect(readAddress('postgres://me@host/x').user).toBe('me')
})
