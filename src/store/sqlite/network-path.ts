import { existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { StoreError } from '../store-error.ts'

/** By `f_type` of statfs(2): file systems that other machines may use as well, or whose locks depend on a program. */
const NETWORKS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'SMB',
  0xfe534d42: 'SMB',
  0x65735546: 'FUSE',
  0x01021997: '9P',
  0x00c36400: 'Ceph',
  0x0bd00bd0: 'Lustre',
  0x5346414f: 'AFS',
  0x6b414653: 'AFS',
  0x73757245: 'Coda',
  0x01161970: 'GFS2',
  0x7461636f: 'OCFS2',
  0x47504653: 'GPFS',
  0x19830326: 'BeeGFS',
  0x786f4256: 'shared folder of VirtualBox',
  0xbacbacbc: 'shared folder of VMware',
  0x7c7c6673: 'shared folder of Parallels',
}

/** The name of a network or FUSE file system by its type, which may be signed; undefined for others. */
export function networkName(type: number): string | undefined {
  return NETWORKS[type >>> 0]
}

/**
 * Refuses a store that other machines could use as well. SQLite's WAL needs memory that all processes share, and locks that keep them
 * apart (https://www.sqlite.org/wal.html, https://www.sqlite.org/useovernet.html). Without these, two daemons count everything twice,
 * or damage the file.
 *
 * @throws {StoreError} refused
 */
export function expectLocal(path: string): void {
  // Elsewhere, types have other numbers.
  if (process.platform !== 'linux') return
  let place = resolve(path)
  while (!existsSync(place)) place = dirname(place)
  const name = networkName(statfsSync(place).type)
  if (name === undefined) return
  throw new StoreError(
    'refused',
    `${path} is on a network or FUSE file system (${name}), where two daemons can use one file at once, count twice and ` +
      'damage it; name a file on a local disk in store.path, or a database in store.url, or set store.path_on_network: true ' +
      'if no other machine ever uses the file',
  )
}
