import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

// `npm run test:container`: makes the images (images.ts) and runs them (running). Both have namespaces of their own: when
// these end, so do all processes, networks and mounts in them. One folder and empty cgroups are left.

const PROGRAMS = ['podman', 'runc', 'netavark', 'aardvark-dns', 'iptables', 'debootstrap', 'ip']

const root = mkdtempSync(join(tmpdir(), 'callwatch-containers-'))
// They end what runs; the folder is removed nevertheless.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
try {
  process.exitCode = runTests()
} finally {
  rmSync(root, { recursive: true, force: true })
  // The kernel refuses to remove those that are in use.
  const cgroups = globSync(['/sys/fs/cgroup/libpod_parent', '/sys/fs/cgroup/*/libpod_parent'])
  if (cgroups.length > 0) spawnSync('find', [...cgroups, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'])
}

function runTests(): number {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/lib/podman']
  const missing = PROGRAMS.filter((program) => !folders.some((folder) => existsSync(join(folder, program))))
  if (missing.length > 0) {
    const isCi = process.env['CI'] === 'true'
    console.log(`${isCi ? 'failed' : 'skipped'}: without ${missing.join(', ')} (CONTRIBUTING.md has the packages)`)
    return isCi ? 1 : 0
  }
  if (!isolated(true, 'true')) {
    console.log('skipped: this machine lets this user make no namespaces and mounts')
    return 0
  }
  const made = isolated(false, process.execPath, join(import.meta.dirname, 'images.ts'))
  return made && isolated(true, 'npx', 'vitest', 'run', '--project', 'container', ...process.argv.slice(2)) ? 0 : 1
}

/** Runs a command in namespaces of its own; without the network, only the loopback device is there. */
function isolated(withoutNetwork: boolean, ...command: string[]): boolean {
  const hidden = withoutNetwork ? ['/dev/shm', '/run'] : ['/dev/shm']
  const steps = [
    ...hidden.map((folder) => `mount -t tmpfs none ${folder}`),
    ...(withoutNetwork ? ['ip link set lo up'] : []),
  ]
  const options = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', ...(withoutNetwork ? ['--net'] : [])]
  const shell = ['sh', '-c', `${steps.join(' && ')} && exec "$@"`, 'sh']
  const env = { ...process.env, CALLWATCH_CONTAINERS: root }
  return spawnSync('unshare', [...options, ...shell, ...command], { env, stdio: 'inherit' }).status === 0
}
