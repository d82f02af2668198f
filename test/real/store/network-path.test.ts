import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { openSqliteDaemonStore } from '../../../src/store/open-sqlite.ts'
import { probeStore } from '../../../src/store/open-store.ts'
import { networkName } from '../../../src/store/sqlite/network-path.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'

/** A mount of FUSE: by another mount of the same folder, a second daemon would open the same file. */
function mounted(context: TestContext): string {
  const [shared, mount] = [join(temporaryFolder(), 'shared'), join(temporaryFolder(), 'one')]
  for (const folder of [shared, mount]) mkdirSync(folder)
  const { status, error } = spawnSync('bindfs', ['--no-allow-other', shared, mount])
  context.skip(status !== 0, `no mount of FUSE (${String(error ?? 'it is not allowed here')}): apt-get install bindfs`)
  onTestFinished(() => void spawnSync('fusermount', ['-u', mount]))
  return mount
}

describe('a store on a network or FUSE file system', () => {
  test('is refused, with what to do', async (context) => {
    const path = join(mounted(context), 'data', 'callwatch.db')
    const refused = {
      kind: 'refused',
      message: expect.stringMatching(
        /one\/data\/callwatch\.db is on a network or FUSE file system \(FUSE\).*; name a file on a local disk in store\.path, .*store\.path_on_network: true/,
      ),
    }
    await expect(openSqliteDaemonStore({ path })).rejects.toMatchObject(refused)
    await (await openSqliteDaemonStore({ path, pathOnNetwork: true })).close()
    expect(await probeStore({ path })).toMatchObject({ works: false, message: refused.message })
    expect(await probeStore({ path, pathOnNetwork: true })).toMatchObject({ works: true })
  })

  test.each([
    [0x6969, 'NFS'],
    [0xfe534d42, 'SMB'],
    [-0x1acb2be, 'SMB'],
    [0x01021997, '9P'],
    [0xef53, undefined],
    [0x01021994, undefined],
    [0x794c7630, undefined],
  ])('is known by the type that the system tells: %i', (type, expected) => {
    expect(networkName(type)).toBe(expected)
  })
})
