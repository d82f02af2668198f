import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect } from '../../../src/store/postgres/connection.ts'
import { selfSigned } from '../../kit/commands/self-signed.ts'
import { inOwnPostgres } from '../../kit/postgres/in-postgres.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

const noOpenssl = spawnSync('openssl', ['version']).error !== undefined
const HOW = 'openssl is not on the PATH: apt-get install openssl'

inOwnPostgres('the way to PostgreSQL', ({ server }) => {
  /** Whether the connection that is made with this query of the address is encrypted. */
  const isEncrypted = async (query: string) => {
    const connection = await connect(`${server().url}${query}`)
    const [row] = await connection.run('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
    await connection.close()
    return row!['ssl']
  }

  test('is plain where the server has no TLS, unless the address demands it', async () => {
    expect(await isEncrypted('')).toBe(false)
    expect(await isEncrypted('?sslmode=prefer')).toBe(false)
    for (const mode of ['require', 'verify-full']) {
      await expect(isEncrypted(`?sslmode=${mode}`)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(
          /failed the TLS handshake .*; enable TLS there, or set another sslmode in store\.url$/,
        ),
      })
    }
  })

  test('is encrypted where the server has TLS, and its certificate is checked as the address says', async ({
    skip,
  }) => {
    if (noOpenssl && process.env['CI'] !== 'true') skip(HOW)
    const { key, cert } = selfSigned()
    await server().useTls(key, cert)
    const ca = join(temporaryFolder(), 'ca.pem')
    writeFileSync(ca, cert)
    const other = join(temporaryFolder(), 'other.pem')
    writeFileSync(other, selfSigned().cert)
    expect(await isEncrypted('')).toBe(true)
    expect(await isEncrypted('?sslmode=disable')).toBe(false)
    expect(await isEncrypted('?sslmode=require')).toBe(true)
    // An unhandled error of it would end the process, and ends this run.
    const dropped = await connect(server().url)
    dropped.drop(new Error('cut'))
    expect(await isEncrypted(`?sslmode=verify-full&sslrootcert=${ca}`)).toBe(true)
    expect(await isEncrypted(`?sslmode=verify-ca&sslrootcert=${ca}`)).toBe(true)
    for (const query of [
      '?sslmode=verify-full',
      `?sslmode=verify-full&sslrootcert=${other}`,
      `?sslmode=require&sslrootcert=${other}`,
    ]) {
      // oxfmt-ignore
      await expect(isEncrypted(query)).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(/^the certificate of the database .* is not trusted .*name its root in sslrootcert/),
      })
    }
  })

  test('leads only to the name that the certificate is for', async ({ skip }) => {
    if (noOpenssl && process.env['CI'] !== 'true') skip(HOW)
    const { key, cert } = selfSigned('database.example')
    await server().useTls(key, cert)
    const ca = join(temporaryFolder(), 'ca.pem')
    writeFileSync(ca, cert)
    const url = server().url.replace('127.0.0.1', 'localhost')
    await expect(connect(`${url}?sslmode=verify-full&sslrootcert=${ca}`)).rejects.toMatchObject({ kind: 'refused' })
    const connection = await connect(`${url}?sslmode=verify-ca&sslrootcert=${ca}`)
    await connection.close()
  })
})
