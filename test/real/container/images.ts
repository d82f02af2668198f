import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { parse } from 'yaml'
import { readDockerfile, stagesOf } from '../../kit/container/dockerfile.ts'
import { ENV, podman, ROOT, run, writeSettings } from './podman.ts'

// Makes the images in `ROOT`: stand-ins for the base images, and with them that of the Dockerfile.

type Compose = { services: Record<string, { image?: string; build?: string }> }

const project = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(project, path), 'utf8')
/** Each step of a build would take as long as the whole: only the result is kept. */
const BUILD = ['build', '--quiet', '--format=docker', '--layers=false', '--isolation=chroot', '--network=host']

const { services }: Compose = parse(read('compose.yaml'), { merge: true })
const context = join(ROOT, 'context')

writeSettings()
await step('Debian', importDebian)
cpSync(join(import.meta.dirname, 'stand-ins'), context, { recursive: true })
cpSync(process.execPath, join(context, 'node'))
cpSync(dirname(dirname(process.env['npm_execpath']!)), join(context, 'npm'), { recursive: true })
await Promise.all([
  ...['prometheus', 'alertmanager', 'postgres'].map((name) => standIn(name, services[name]!.image!)),
  standIn('node', stagesOf(readDockerfile(read('Dockerfile')))[0]!.from).then(() => step('callwatch', buildCallwatch)),
  step('Compose', getCompose),
])
console.log(`${services['grafana']!.image}: not tried, since Debian has no package of it`)

async function importDebian(): Promise<void> {
  const [, suite = ''] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
  // In memory, since dpkg waits for the disk after each file.
  const debian = '/dev/shm/debian'
  await run('debootstrap', ['--variant=minbase', '--include=libatomic1', suite, debian])
  writeFileSync(join(debian, 'etc/dpkg/dpkg.cfg.d/quick'), 'force-unsafe-io\n')
  rmSync(join(debian, 'var/cache/apt'), { recursive: true })
  await run('sh', ['-c', `tar -C ${debian} -c . | podman import --quiet - localhost/debian`], { env: ENV })
  rmSync(debian, { recursive: true })
}

function standIn(name: string, image: string): Promise<void> {
  const full = `docker.io/${image.includes('/') ? '' : 'library/'}${image}`
  const args = [...BUILD, `--file=${context}/${name}.containerfile`, `--tag=${full}`, context]
  return step(`${image} (stand-in)`, () => run('podman', args, { env: ENV }))
}

async function buildCallwatch(): Promise<void> {
  await run('podman', [...BUILD, ...npmSettings(), '--tag=localhost/callwatch', project], { env: ENV })
  // As Compose names what it builds.
  for (const [name, { build }] of Object.entries(services)) {
    if (build !== undefined) podman('tag', 'localhost/callwatch', `docker.io/library/callwatch-${name}`)
  }
}

/** This machine's settings of npm, certificates and cache, mounted while the image is built: none of them is in it. */
function npmSettings(): string[] {
  const npm = (key: string) => execFileSync('npm', ['config', 'get', key], { encoding: 'utf8' }).trim()
  const own = npm('userconfig')
  const settings = [
    existsSync(own) ? readFileSync(own, 'utf8') : '',
    `registry=${npm('registry')}`,
    'cafile=/root/ca.pem',
  ]
  writeFileSync(join(ROOT, 'npmrc'), settings.join('\n'), { mode: 0o600 })
  writeFileSync(join(ROOT, 'ca.pem'), getCACertificates().join('\n'))
  const cache = npm('cache')
  mkdirSync(cache, { recursive: true })
  const mounts = [`${ROOT}/npmrc:/root/.npmrc:ro`, `${ROOT}/ca.pem:/root/ca.pem:ro`, `${cache}:/root/.npm`]
  return mounts.map((mount) => `--volume=${mount}`)
}

/** Compose v2 is one file of Debian 13; Debian 12 has the first version only. */
async function getCompose(): Promise<void> {
  const apt = join(ROOT, 'apt')
  mkdirSync(join(apt, 'lists/partial'), { recursive: true })
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(join(apt, 'trixie.list'), `deb [signed-by=${key}] http://deb.debian.org/debian trixie main\n`)
  const sources = [
    `Dir::Etc::SourceList=${apt}/trixie.list`,
    'Dir::Etc::SourceParts=-',
    `Dir::State::Lists=${apt}/lists`,
  ]
  const options = [...sources, `Dir::Cache=${apt}`, 'APT::Sandbox::User=root'].map((option) => `--option=${option}`)
  await run('apt-get', ['-qq', ...options, 'update'])
  await run('apt-get', ['-qq', ...options, 'download', 'docker-compose'], { cwd: apt })
  await run('sh', ['-c', 'dpkg-deb -x docker-compose_*.deb .'], { cwd: apt })
}

async function step(name: string, make: () => Promise<unknown>): Promise<void> {
  const begun = performance.now()
  await make()
  console.log(`${name}: ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}
