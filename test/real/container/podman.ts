import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The folder of this run: images, containers, volumes and all settings of Podman. test/real/container/main.ts makes it. */
export const ROOT = process.env['CALLWATCH_CONTAINERS'] ?? ''

/** Settings that need neither systemd nor rights beyond those of root in a container, and touch nothing outside of `ROOT`. */
const filesWith = (driver: string) => ({
  'storage.conf': `[storage]
driver = "${driver}"
graphroot = "${ROOT}/storage"
runroot = "${ROOT}/run"
`,
  'containers.conf': `[containers]
seccomp_profile = "unconfined"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${ROOT}/tmp"
volume_path = "${ROOT}/volumes"
[network]
network_backend = "netavark"
network_config_dir = "${ROOT}/networks"
`,
  // Nothing is requested from a registry: `docker.io` completes the short names of what is there.
  'registries.conf': 'unqualified-search-registries = ["docker.io"]\n',
})

export const ENV = {
  ...process.env,
  CONTAINERS_STORAGE_CONF: join(ROOT, 'storage.conf'),
  CONTAINERS_CONF: join(ROOT, 'containers.conf'),
  CONTAINERS_REGISTRIES_CONF: join(ROOT, 'registries.conf'),
  // The timers of health checks would be systemd's.
  DISABLE_HC_SYSTEMD: 'true',
  DOCKER_HOST: `unix://${ROOT}/podman.sock`,
}

export function writeSettings(): void {
  for (const folder of ['tmp', 'networks', 'volumes']) mkdirSync(join(ROOT, folder))
  const driver = canOverlay() ? 'overlay' : 'vfs'
  for (const [name, text] of Object.entries(filesWith(driver))) writeFileSync(join(ROOT, name), text)
  console.log(`storage: ${driver}`)
}

/** Whether layers can be mounted above each other; otherwise each container is a copy of its image. */
function canOverlay(): boolean {
  const folders = ['lower', 'upper', 'work', 'merged'].map((name) => join(ROOT, 'overlay', name))
  for (const folder of folders) mkdirSync(folder, { recursive: true })
  const [lower, upper, work, merged = ''] = folders
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`
  const { status } = spawnSync('mount', ['-t', 'overlay', 'overlay', '-o', options, merged])
  if (status === 0) execFileSync('umount', [merged])
  return status === 0
}

/** What it prints. A failure has what it said. */
export function podman(...args: string[]): string {
  return execFileSync('podman', args, { env: ENV, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

export const run = promisify(execFile)

/** Runs an image read-only, without capabilities, as compose.yaml does. */
export function start(name: string, ...args: string[]): void {
  const limits = ['--read-only', '--cap-drop=all', '--security-opt=no-new-privileges']
  podman('run', '--detach', `--name=${name}`, ...limits, ...args)
}

/** Its health check, which Podman itself runs only with systemd. */
export function healthOf(name: string): string {
  try {
    podman('healthcheck', 'run', name)
  } catch {
    // Its status says so.
  }
  return podman('inspect', '--format={{.State.Health.Status}}', name)
}

/** Removes all containers, those that use another one's network first, and their volumes. */
export function removeContainers(): void {
  const ids = podman('ps', '--all', '--quiet', '--sort=created').split('\n').filter(Boolean)
  for (const id of ids.toReversed()) podman('rm', '--force', '--time=0', id)
  podman('volume', 'prune', '--force')
}
